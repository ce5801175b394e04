/// Command line arguments.
#include "tools/sinter/Arguments.h"

#include "tools/sinter/Command.h"

#include <gtest/gtest.h>

using namespace sinter::cli;

namespace {

constexpr Flag flags[] = {{"--repeat", "N", "how often"},
                          {"--input", "NAME=FILE", "an input"},
                          {"--json", nullptr, "print JSON"}};
constexpr Interface interface = {"test MODEL", "Tests.", "", flags, 1, 1};

Arguments parse(std::vector<std::string> words) {
  words.insert(words.begin(), "test");
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  return Arguments(int(pointers.size()), pointers.data(), interface);
}

TEST(Arguments, ReadsBothFormsOfAValue) {
  Arguments arguments =
      parse({"m", "--repeat=3", "--input", "x=a", "--input", "y=b"});
  EXPECT_FALSE(arguments.exit);
  EXPECT_EQ(arguments.number("--repeat", 1), 3);
  EXPECT_EQ(arguments.all("--input"), (std::vector<std::string>{"x=a", "y=b"}));
  EXPECT_FALSE(arguments.has("--json"));
  EXPECT_EQ(arguments.positional(), std::vector<std::string>{"m"});
}

TEST(Arguments, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(parse({"m", "--what"}).exit, exitUsage);
  EXPECT_EQ(parse({}).exit, exitUsage);
  EXPECT_EQ(parse({"m", "n"}).exit, exitUsage);
  EXPECT_EQ(parse({"m", "--repeat"}).exit, exitUsage);
  EXPECT_EQ(parse({"m", "--json=1"}).exit, exitUsage);
  EXPECT_EQ(parse({"--help"}).exit, exitOk);
}

TEST(Arguments, ChecksNumbers) {
  Arguments arguments = parse({"m", "--repeat", "3x"});
  arguments.number("--repeat", 1);
  EXPECT_EQ(arguments.exit, exitUsage);
}

} // namespace
