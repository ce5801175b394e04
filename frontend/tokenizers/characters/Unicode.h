/// Characters: UTF-8, their classes, and Unicode's normal forms.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::text {

/// What a character is, as bits.
enum CharClass : uint16_t {
  charLetter = 1,       ///< \p{L}
  charNumber = 2,       ///< \p{N}
  charSpace = 4,        ///< White_Space
  charWord = 8,         ///< \w
  charNumeric = 16,     ///< Nd, Nl or No, by the newest tables
  charPunctuation = 32, ///< P, and ASCII's symbols
  charControl = 64,     ///< what BERT drops: Cc, Cf, Co
  charAccent = 128,     ///< Mn, as BERT's tables have it
  charMark = 256,       ///< M, as the tables of Unicode's forms have it
  charUpper = 512,      ///< has another lower case
  charComposed = 1024,  ///< NFKD takes it apart
  charOrdered = 2048,   ///< its canonical class is not 0
  charHan = 4096,       ///< what BERT calls a Chinese character
};

inline constexpr uint32_t numChars = 0x110000;

/// Classes of 256 characters, made when one of them is first met.
inline constinit std::atomic<const uint16_t *> classPages[numChars >> 8] = {};
const uint16_t *makeClassPage(uint32_t page);

/// The classes of `c`, which is below numChars.
inline uint16_t classesOf(char32_t c) {
  const uint16_t *page = classPages[c >> 8].load(std::memory_order_acquire);
  if (!page) [[unlikely]]
    page = makeClassPage(c >> 8);
  return page[c & 255];
}

/// The length of the character that begins with this byte of valid UTF-8.
inline size_t charLength(char first) {
  auto byte = static_cast<uint8_t>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The character at `at` of valid UTF-8; moves `at` behind it.
inline char32_t nextChar(std::string_view text, size_t &at) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  char32_t c = byte(0);
  if (c < 0x80) {
    ++at;
    return c;
  }
  if (c < 0xE0) {
    c = (c & 0x1F) << 6 | (byte(1) & 0x3F);
    at += 2;
    return c;
  }
  if (c < 0xF0) {
    c = (c & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    at += 3;
    return c;
  }
  c = (c & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
      (byte(3) & 0x3F);
  at += 4;
  return c;
}

/// The character that ends before `at` > 0.
char32_t charBefore(std::string_view text, size_t at);

/// Appends the character; gives the number of its bytes.
size_t appendChar(std::string &text, char32_t c);

/// Where the first byte that is no UTF-8 stands, or npos. Surrogates and forms
/// that are too long are none.
size_t findInvalid(std::string_view text);

/// The text with each part that is no UTF-8 replaced by U+FFFD, as the WHATWG's
/// encoding standard says.
std::string replaceInvalid(std::string_view text);

size_t countChars(std::string_view text);

/// Calls `f` with each character of the lower case.
template <typename Function> void lowerCase(char32_t c, Function f);
char32_t simpleLower(char32_t c);

template <typename Function> void lowerCase(char32_t c, Function f) {
  // The one character whose lower case is two.
  if (c == 0x130) {
    f(U'i');
    f(char32_t(0x307));
    return;
  }
  f(classesOf(c) & charUpper ? simpleLower(c) : c);
}

/// At most this many characters stand for one.
inline constexpr int maxDecomposed = 32;

/// Takes `c` apart, fully; gives the number of characters.
int decompose(char32_t c, bool compatible, int32_t *to);

/// The canonical combining class.
uint8_t combiningClass(char32_t c);

/// The character that `a` and `b` make, or 0.
char32_t compose(char32_t a, char32_t b);

/// Whether there is no border of a grapheme between the two; `state` is 0 at
/// the beginning of a text.
bool isGraphemeBreak(char32_t a, char32_t b, int32_t &state);

} // namespace sinter::text
