#include "runtime/support/Printable.h"

#include <gtest/gtest.h>

using namespace sinter;

TEST(Printable, keepsTextAndItsLayout) {
  std::string text = "f32[2,3]\tof 'größe' \xE2\x86\x92 \xF0\x9F\x98\x80\n";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, escapesWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1b[31m\r\x7f\b"), "a\\x1b[31m\\x0d\\x7f\\x08");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  // U+009B, which begins a sequence by itself.
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\xC2\xA0"), "\xC2\xA0");
}

TEST(Printable, escapesWhatTurnsText) {
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x80\xAA"),
            "a\\xe2\\x80\\xaeb\\xe2\\x80\\xaa");
  EXPECT_EQ(printable("\xE2\x81\xA6\xE2\x81\xA9"),
            "\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
  std::string beside = "\xE2\x80\xA9\xE2\x80\xAF\xE2\x81\xA5\xE2\x81\xAA";
  EXPECT_EQ(printable(beside), beside);
}

TEST(Printable, escapesWhatIsNoText) {
  EXPECT_EQ(printable("\x9B\xFF"), "\\x9b\\xff");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");          // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80"); // a surrogate
  EXPECT_EQ(printable("\xE2\x86"), "\\xe2\\x86");          // cut off
}

TEST(Printable, namesStandInOneLine) {
  EXPECT_EQ(printableName("a\nb\tc"), "a\\x0ab\\x09c");
  std::string cut(256, 'x');
  cut += "...";
  EXPECT_EQ(printableName(std::string(1000, 'x')), cut);
}
