/// Escapes what a terminal would obey.
#include "runtime/support/Printable.h"

#include <cstddef>
#include <cstdint>

namespace sinter {

namespace {

uint8_t byteAt(std::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]);
}

/// Bytes of the UTF-8 sequence at the front, or 0 where there is none. Overlong
/// forms and surrogates are none.
size_t sequenceLength(std::string_view text) {
  struct Form {
    uint8_t mask, lead;
    size_t bytes;
    uint32_t least;
  };
  static constexpr Form forms[] = {{0x80, 0x00, 1, 0},
                                   {0xE0, 0xC0, 2, 0x80},
                                   {0xF0, 0xE0, 3, 0x800},
                                   {0xF8, 0xF0, 4, 0x10000}};
  uint8_t lead = byteAt(text, 0);
  for (const Form &form : forms) {
    if ((lead & form.mask) != form.lead)
      continue;
    if (text.size() < form.bytes)
      return 0;
    uint32_t code = lead & static_cast<uint8_t>(~form.mask);
    for (size_t i = 1; i < form.bytes; ++i) {
      if ((byteAt(text, i) & 0xC0) != 0x80)
        return 0;
      code = code << 6 | (byteAt(text, i) & 0x3F);
    }
    bool isSurrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < form.least || code > 0x10FFFF || isSurrogate ? 0 : form.bytes;
  }
  return 0;
}

/// Whether a sequence is one of the characters U+0000 to U+001F and U+007F to
/// U+009F, or turns the direction of text: U+202A to U+202E and U+2066 to
/// U+2069 have what follows read as something else.
bool isControl(std::string_view sequence) {
  uint8_t lead = byteAt(sequence, 0);
  if (sequence.size() == 1)
    return lead < 0x20 || lead == 0x7F;
  if (lead == 0xC2)
    return byteAt(sequence, 1) < 0xA0;
  if (sequence.size() != 3 || lead != 0xE2)
    return false;
  uint8_t last = byteAt(sequence, 2);
  return byteAt(sequence, 1) == 0x80   ? last >= 0xAA && last <= 0xAE
         : byteAt(sequence, 1) == 0x81 ? last >= 0xA6 && last <= 0xA9
                                       : false;
}

void escape(std::string &to, std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  for (char byte : bytes) {
    auto value = static_cast<uint8_t>(byte);
    to += {'\\', 'x', digits[value >> 4], digits[value & 15]};
  }
}

std::string escaped(std::string_view text, bool keepsLines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    std::string_view part = text.substr(0, length ? length : 1);
    bool isLayout = keepsLines && (part == "\n" || part == "\t");
    if (length == 0 || (isControl(part) && !isLayout))
      escape(result, part);
    else
      result += part;
    text.remove_prefix(part.size());
  }
  return result;
}

} // namespace

std::string printable(std::string_view text) { return escaped(text, true); }

std::string printableName(std::string_view name) {
  constexpr size_t most = 256;
  std::string text = escaped(name.substr(0, most), false);
  return name.size() > most ? text + "..." : text;
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    size_t length = sequenceLength(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

} // namespace sinter
