#include "runtime/device/vulkan/SpirvModule.h"

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
