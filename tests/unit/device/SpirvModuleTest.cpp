#include "runtime/device/vulkan/SpirvModule.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;

namespace {

using Words = std::vector<uint32_t>;

uint32_t instruction(uint32_t code, uint32_t words) {
  return words << 16 | code;
}

/// A module with a kernel `f` of 64 threads, as far as anybody looks.
Words moduleWords() {
  constexpr uint32_t version16 = 0x10600, bound = 10, id = 4;
  return {spirvMagic, version16,
          0,          bound,
          0,          instruction(15, 4),
          5,          id,
          'f',        instruction(16, 6),
          id,         17,
          64,         1,
          1};
}

/// An image of modules.
std::vector<std::byte> imageOf(const std::vector<Words> &modules) {
  Words all;
  for (const Words &words : modules) {
    all.push_back(uint32_t(words.size()));
    all.insert(all.end(), words.begin(), words.end());
  }
  auto bytes = std::as_bytes(std::span(all));
  return {bytes.begin(), bytes.end()};
}

std::string refusal(const Words &words) {
  auto read = readSpirv(imageOf({words}));
  return read ? std::string() : read.error().message;
}

} // namespace

TEST(SpirvModule, FindsKernels) {
  auto read = readSpirv(imageOf({moduleWords(), moduleWords()}));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  for (const SpirvModule &module : *read) {
    ASSERT_EQ(module.entries.size(), 1u);
    EXPECT_EQ(module.entries[0].name, "f");
    EXPECT_EQ(module.entries[0].threads, 64u);
    EXPECT_EQ(module.words, moduleWords());
  }
}

TEST(SpirvModule, RefusesWhatIsCutOff) {
  std::vector<std::byte> whole = imageOf({moduleWords()});
  for (size_t bytes = 1; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(readSpirv(std::span(whole).first(bytes))) << bytes;
}

TEST(SpirvModule, RefusesWhatIsNone) {
  EXPECT_EQ(refusal({}), "it is no SPIR-V: a module is empty");
  Words words = moduleWords();
  words[0] = 7;
  EXPECT_EQ(refusal(words), "it is no SPIR-V: it begins otherwise");
  words = moduleWords();
  words[5] = instruction(15, 0);
  EXPECT_EQ(refusal(words), "it is no SPIR-V: an instruction has no end");
  words[5] = instruction(15, 1000);
  EXPECT_EQ(refusal(words), "it is no SPIR-V: an instruction has no end");
  words = moduleWords();
  words[8] = 0x66666666;
  EXPECT_EQ(refusal(words), "it is no SPIR-V: a name has no end");
  words = moduleWords();
  words[6] = 4; // a fragment shader
  EXPECT_EQ(refusal(words), "it is no SPIR-V: an entry point is no kernel");
  words = moduleWords();
  words.resize(9);
  EXPECT_EQ(refusal(words), "it is no SPIR-V: a kernel does not say how many "
                            "threads it has");
  words.resize(5);
  EXPECT_EQ(refusal(words), "it is no SPIR-V: it has no kernels");
}

TEST(SpirvModule, SaysHowAGivenKernelIsLaunched) {
  // Words of moduleWords(), then a text as a compiler writes it.
  auto withText = [](std::string text) {
    Words words = moduleWords();
    words[13] = 2; // threads in y
    text.resize((text.size() / 4 + 1) * 4);
    words.push_back(instruction(330, uint32_t(1 + text.size() / 4)));
    size_t at = words.size();
    words.resize(at + text.size() / 4);
    std::memcpy(words.data() + at, text.data(), text.size());
    return words;
  };
  GivenLaunch launch;
  launch.grid = {5, 6, 7};
  launch.block = {64, 2, 1};
  launch.buffers = {2, 0};
  auto read = readSpirv(imageOf({withText("\n" + givenLaunchLine("f", launch)),
                                 withText("another tool")}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)[0].entries[0].threads, 128u);
  const std::optional<GivenLaunch> &given = (*read)[0].entries[0].given;
  ASSERT_TRUE(given);
  EXPECT_EQ(given->grid, launch.grid);
  EXPECT_EQ(given->buffers, launch.buffers);
  EXPECT_FALSE((*read)[1].entries[0].given);
  EXPECT_EQ(refusal(withText("\n// launch f 1 2")),
            "the launch of f is damaged");
  Words words = moduleWords();
  words[12] = 2000;
  EXPECT_EQ(refusal(words), "it is no SPIR-V: a kernel has too many threads");
}

TEST(SpirvModule, KnowsWhatItAsksFor) {
  auto read = readSpirv(imageOf({moduleWords()}));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->front().usesSubgroups);
  EXPECT_FALSE(read->front().sizes);
  Words words = moduleWords();
  constexpr uint32_t capability = 17, subgroups = 61;
  words.insert(words.begin() + 5, {instruction(capability, 2), subgroups});
  constexpr uint32_t processed = 330;
  words.insert(words.end(), {instruction(processed, 4), 0, 0, 0});
  std::memcpy(&words[words.size() - 3], "sizes 3 ;", 9);
  read = readSpirv(imageOf({words}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->front().usesSubgroups);
  EXPECT_EQ(read->front().sizes, "3 ;");
  EXPECT_EQ(read->front().groups, 0u);
}

TEST(SpirvModule, SaysOfHowManyThreadsItsGroupsAre) {
  auto withGroups = [](const std::string &number) {
    std::string text = "groups " + number;
    text.resize(12);
    Words words = moduleWords();
    words.insert(words.end(), {instruction(330, 4), 0, 0, 0});
    std::memcpy(&words[words.size() - 3], text.data(), text.size());
    return words;
  };
  auto read = readSpirv(imageOf({withGroups("32")}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().groups, 32u);
  for (const char *number : {"0", "-4", "32x", "2000", ""})
    EXPECT_EQ(refusal(withGroups(number)),
              "it is no SPIR-V: its groups are damaged");
}
