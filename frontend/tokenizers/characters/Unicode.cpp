/// Characters, by the tables of utf8proc and of Oniguruma.
#include "frontend/tokenizers/characters/Unicode.h"
#include "frontend/tokenizers/characters/Regex.h"
#include "frontend/tokenizers/characters/UnicodeTables.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace sinter::text {

namespace {

bool isLetter(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool isMark(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool isNumeric(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool isPunctuation(uint32_t c, utf8proc_category_t category) {
  if (c < 0x80)
    return c > ' ' && c < 0x7F && !isLetter(category) && !isNumeric(category);
  // They were punctuation once.
  if (c == 0x166D || c == 0x111C9)
    return true;
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO &&
         !isWithin(unknownPunctuation, c);
}

bool isControl(uint32_t c, utf8proc_category_t category) {
  if (c == '\t' || c == '\n' || c == '\r')
    return false;
  return category >= UTF8PROC_CATEGORY_CC && category <= UTF8PROC_CATEGORY_CO &&
         !isWithin(unknownControls, c);
}

bool isHan(uint32_t c) {
  static constexpr CharRange ranges[] = {
      {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
      {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
      {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return isWithin(ranges, c);
}

uint16_t classify(uint32_t c) {
  const utf8proc_property_t *property = utf8proc_get_property(int32_t(c));
  auto category = static_cast<utf8proc_category_t>(property->category);
  uint16_t classes = 0;
  auto put = [&](bool holds, CharClass bit) { classes |= holds ? bit : 0; };
  bool letter = hasProperty(c, CharProperty::letter);
  put(letter, charLetter);
  put(hasProperty(c, CharProperty::number), charNumber);
  put(hasProperty(c, CharProperty::space), charSpace);
  put(hasProperty(c, CharProperty::alphabetic) || isLetter(category) ||
          isMark(category) || category == UTF8PROC_CATEGORY_ND ||
          category == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D,
      charWord);
  put(isNumeric(category), charNumeric);
  put(isPunctuation(c, category), charPunctuation);
  put(isControl(c, category), charControl);
  put((category == UTF8PROC_CATEGORY_MN && !isWithin(unknownAccents, c)) ||
          c == 0x1734,
      charAccent);
  bool known = !isWithin(unknownMarks, c);
  put((isMark(category) && known) || c == 0x1CF2 || c == 0x1CF3, charMark);
  put(c == 0x130 || simpleLower(c) != c, charUpper);
  int32_t parts[maxDecomposed];
  put(c >= 0xA0 && (decompose(c, true, parts) != 1 || uint32_t(parts[0]) != c),
      charComposed);
  put(property->combining_class != 0 && known, charOrdered);
  put(isHan(c), charHan);
  return classes;
}

} // namespace

const uint16_t *makeClassPage(uint32_t page) {
  auto made = std::make_unique<uint16_t[]>(256);
  for (uint32_t i = 0; i < 256; ++i)
    made[i] = classify(page << 8 | i);
  const uint16_t *there = nullptr;
  // Pages stay until the process ends.
  if (classPages[page].compare_exchange_strong(there, made.get(),
                                               std::memory_order_acq_rel))
    return made.release();
  return there;
}

char32_t charBefore(std::string_view text, size_t at) {
  do
    --at;
  while ((text[at] & 0xC0) == 0x80);
  return nextChar(text, at);
}

size_t appendChar(std::string &text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return 1;
  }
  uint8_t bytes[4];
  auto size = static_cast<size_t>(utf8proc_encode_char(int32_t(c), bytes));
  text.append(reinterpret_cast<const char *>(bytes), size);
  return size;
}

size_t findInvalid(std::string_view text) {
  const auto *bytes = reinterpret_cast<const utf8proc_uint8_t *>(text.data());
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight;
    if (at + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    if (bytes[at] < 0x80) {
      ++at;
      continue;
    }
    int32_t c;
    auto size = utf8proc_iterate(
        bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    if (size <= 0)
      return at;
    at += size_t(size);
  }
  return text.npos;
}

/// How many bytes of a character that is broken off belong together.
static size_t brokenLength(std::string_view text) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t(0);
  };
  auto isIn = [&](size_t i, uint8_t low, uint8_t high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  uint8_t first = byte(0);
  size_t length = 1;
  if (first >= 0xE0 && first <= 0xEF) {
    uint8_t low = first == 0xE0 ? 0xA0 : 0x80;
    uint8_t high = first == 0xED ? 0x9F : 0xBF;
    length += isIn(1, low, high);
  } else if (first >= 0xF0 && first <= 0xF4) {
    uint8_t low = first == 0xF0 ? 0x90 : 0x80;
    uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
    if (isIn(1, low, high))
      length += isIn(2, 0x80, 0xBF) ? 2 : 1;
  }
  return length;
}

std::string replaceInvalid(std::string_view text) {
  std::string result;
  while (true) {
    size_t bad = findInvalid(text);
    result += text.substr(0, bad);
    if (bad == text.npos)
      return result;
    text.remove_prefix(bad);
    result += "\xEF\xBF\xBD";
    text.remove_prefix(brokenLength(text));
  }
}

size_t countChars(std::string_view text) {
  return size_t(std::ranges::count_if(
      text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

char32_t simpleLower(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(int32_t(c)));
}

int decompose(char32_t c, bool compatible, int32_t *to) {
  if (c < 0xC0 && !compatible) {
    to[0] = int32_t(c);
    return 1;
  }
  if (isWithin(unknownDecompositions, c)) {
    to[0] = int32_t(c);
    return 1;
  }
  int boundary = 0;
  auto options = static_cast<utf8proc_option_t>(
      compatible ? UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT : UTF8PROC_DECOMPOSE);
  return int(utf8proc_decompose_char(int32_t(c), to, maxDecomposed, options,
                                     &boundary));
}

uint8_t combiningClass(char32_t c) {
  if (!(classesOf(c) & charOrdered))
    return 0;
  return uint8_t(utf8proc_get_property(int32_t(c))->combining_class);
}

char32_t compose(char32_t a, char32_t b) {
  auto isHangul = [](char32_t c, char32_t first, char32_t count) {
    return c >= first && c < first + count;
  };
  bool hangul = (isHangul(a, 0x1100, 19) && isHangul(b, 0x1161, 21)) ||
                (isHangul(a, 0xAC00, 11172) && isHangul(b, 0x11A8, 27));
  auto joins = [](char32_t c) {
    return utf8proc_get_property(int32_t(c))->comb_index != UINT16_MAX;
  };
  if (!hangul && (!joins(a) || !joins(b)))
    return 0;
  int32_t pair[3] = {int32_t(a), int32_t(b), 0};
  auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  auto size = utf8proc_normalize_utf32(pair, 2, options);
  return size == 1 ? char32_t(pair[0]) : 0;
}

bool isGraphemeBreak(char32_t a, char32_t b, int32_t &state) {
  return utf8proc_grapheme_break_stateful(int32_t(a), int32_t(b), &state);
}

} // namespace sinter::text
