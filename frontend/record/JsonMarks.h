/// JsonMarks: what stands around a record in JSON: an object of the layout
/// version, the record and the checksum of all bytes before its digits.
///
/// What JSON has no values for are objects whose first name begins with $:
///     {"$tensor": "f32", "shape": [2], "values": [1, 0.5]} or, in place of
///         "values", "data": base64 of its bytes; perhaps "id" before "shape"
///     {"$tensor": "f32", "name": ...} where its elements stand elsewhere
///     {"$bytes": base64}
///     {"$real": the sixteen hex digits of an f64 that is not finite}
/// Names of entries that begin with $ have one more.
#pragma once

#include <cstddef>
#include <string_view>

namespace sinter::record {

inline constexpr size_t hexDigits = 16;
inline constexpr std::string_view compactHead = R"({"sinter_record":)";
inline constexpr std::string_view prettyHead = "{\n  \"sinter_record\": ";
/// Before and behind the digits of the checksum.
inline constexpr std::string_view compactSum = R"(,"checksum":")",
                                  compactEnd = "\"}\n";
inline constexpr std::string_view prettySum = ",\n  \"checksum\": \"",
                                  prettyEnd = "\"\n}\n";

} // namespace sinter::record
