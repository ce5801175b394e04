/// The steps that a tokenizer is made of, one interface each.
#pragma once

#include "frontend/tokenizers/JsonField.h"
#include "frontend/tokenizers/Pieces.h"

#include <sinter/text/Encoding.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sinter::text {

/// Brings a text to its normal form.
class Normalizer {
public:
  virtual ~Normalizer() = default;
  virtual void run(Line &line) const = 0;
};

/// Cuts a text into words.
class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;
  /// With `rawBytes`, the last step may leave bytes as they are that it would
  /// write as characters of the byte alphabet, and mark the pieces.
  virtual void run(Pieces &pieces, bool rawBytes) const = 0;
};

/// Adds special tokens. It is given one encoding, or two.
class PostProcessor {
public:
  virtual ~PostProcessor() = default;
  /// How many tokens are added to one text, or to a pair.
  virtual size_t added(bool pair) const = 0;
  virtual void run(std::vector<Encoding> &encodings, bool special) const = 0;
};

/// Makes text of tokens.
class Decoder {
public:
  virtual ~Decoder() = default;
  virtual void run(std::vector<std::string> &tokens) const = 0;
};

/// Makers of steps from their JSON; null where that is null. A Failure names
/// the field.
std::unique_ptr<const Normalizer> readNormalizer(const Field &field);
std::unique_ptr<const PreTokenizer> readPreTokenizer(const Field &field);
/// `isKnown` says whether a token has an id.
using IsKnown = std::function<bool(int32_t id)>;
std::unique_ptr<const PostProcessor> readPostProcessor(const Field &field,
                                                       const IsKnown &isKnown);
std::unique_ptr<const Decoder> readDecoder(const Field &field);

} // namespace sinter::text
