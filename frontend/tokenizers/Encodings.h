/// What is done with encodings as a whole.
#pragma once

#include <sinter/text/Encoding.h>

#include <string>

namespace sinter::text {

/// Appends a token; `special` ones were added.
void addSpecial(Encoding &encoding, int32_t id, const std::string &token,
                int32_t typeId);

/// Puts `other` behind. Each part that overflowed meets each of the other's,
/// and keeps those that it met as its own, as the tokenizers package has it.
void append(Encoding &encoding, const Encoding &other);

/// Cuts all but `length` tokens off, which become parts in `overflowing`.
void truncate(Encoding &encoding, size_t length, size_t stride, Side side);

/// Cuts an encoding, or two, by what `truncation` says, so that there are at
/// most `length` tokens together; a Failure where that cannot be.
void truncate(std::vector<Encoding> &encodings, const Truncation &truncation,
              size_t length);

/// Pads all to one length; `texts`: they have tokens' texts and offsets.
void pad(std::vector<Encoding> &encodings, const Padding &padding, bool texts);

} // namespace sinter::text
