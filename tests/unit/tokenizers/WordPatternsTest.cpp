/// Words that are found by hand, beside what Oniguruma finds.
#include "frontend/tokenizers/characters/WordPatterns.h"
#include "frontend/tokenizers/characters/Regex.h"

#include <gtest/gtest.h>
#include <random>

using namespace sinter::text;

static void compare(WordPattern pattern, const Regex &regex,
                    const std::string &text) {
  Matches expected;
  regex.split(text, expected);
  std::vector<size_t> ends, found;
  for (const Match &part : expected)
    ends.push_back(part.end);
  splitWords(pattern, text, [&](size_t, size_t end) { found.push_back(end); });
  ASSERT_EQ(found, ends) << text;
}

TEST(WordPatterns, areTheExpressionsTheyStandFor) {
  static const char *const parts[] = {
      "'",      "s",  "S",      "t",    "RE",     "ve",     "ll",     "LL", "m",
      "d",      "ſ",  "K",      "a",    "é",      "日",     "1",      "٣",  "²",
      " ",      "  ", "\n",     "\r\n", "\t",     "\u00a0", "\u3000", "!",  "-",
      "\u0301", "😀", "\u200d", "x",    "\u0085", "\u2028", "_"};
  for (WordPattern pattern :
       {WordPattern::gpt2, WordPattern::llama3, WordPattern::qwen2}) {
    EXPECT_EQ(knownPattern(textOf(pattern)), pattern);
    Regex regex(textOf(pattern));
    std::mt19937 random(1);
    for (int i = 0; i < 4000; ++i) {
      std::string text;
      for (size_t size = 1 + random() % 12; size > 0; --size)
        text += parts[random() % std::size(parts)];
      compare(pattern, regex, text);
    }
  }
}

TEST(WordPatterns, everyCharacter) {
  for (WordPattern pattern : {WordPattern::gpt2, WordPattern::llama3}) {
    Regex regex(textOf(pattern));
    std::string text;
    for (char32_t c = 0; c < 0x32000; ++c) {
      if (c >= 0xD800 && c < 0xE000)
        continue;
      text += '\'';
      appendChar(text, c);
      text += " a";
      appendChar(text, c);
      if (c % 64 == 63) {
        compare(pattern, regex, text);
        text.clear();
      }
    }
  }
}
