#include "runtime/device/GivenLaunch.h"

#include "tests/unit/cuda/CudaPrograms.h"

#include <string>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

/// Of y [4] and x [3].
ProgramBuilder differencesProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), m = b.symbol(1);
  uint32_t y = b.input("y", {n}), x = b.input("x", {m});
  uint32_t out = b.output({m, n});
  uint32_t kernel = b.kernel("opaque_differences", 2, 1, 2, {"differences"});
  b.launch(kernel, {y, x, out}, {n, m});
  return b;
}

} // namespace

TEST(GivenLaunch, IsReadAsItIsWritten) {
  GivenLaunch launch{{2, 3, 4}, {32, 1, 2}, 4096, {0, 2, 1, 2}};
  std::string text = "{ }\n" + givenLaunchLine("f", launch);
  auto read = givenLaunchOf(text, "f");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(*read);
  EXPECT_EQ((*read)->grid, launch.grid);
  EXPECT_EQ((*read)->block, launch.block);
  EXPECT_EQ((*read)->sharedBytes, launch.sharedBytes);
  EXPECT_EQ((*read)->buffers, launch.buffers);
}

TEST(GivenLaunch, IsOfOneKernel) {
  auto read = givenLaunchOf("\n// launch other 1 1 1 1 1 1 0 0\n", "the");
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

TEST(GivenLaunch, RefusesDamagedLines) {
  for (const char *line : {"", "1 1 1", "0 1 1 1 1 1 0 0", "1 1 1 1 1 1 0 2 1",
                           "1 1 1 1 1 1 0 1 x", "1 1 1 1 1 1 0 1 0 0",
                           "1 1 1 1 1 1 -1 0", "1 1 1 1 1 1 0 4000000000"}) {
    auto read = givenLaunchOf(std::string("\n// launch f ") + line + "\n", "f");
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().message, "the launch of f is damaged");
  }
}

TEST(GivenLaunch, TakesAddressesInItsOrder) {
  auto program = loadOn(gpu(), differencesProgram());
  for (float from : {0.f, 10.f, 20.f}) { // from the second run on, a graph
    std::vector<float> y = {from, 1, 2, 3}, x = {1, 2, from};
    auto outputs = run(*program, std::vector{bind(bufferOf(gpu(), y), {4}),
                                             bind(bufferOf(gpu(), x), {3})});
    ASSERT_TRUE(outputs) << outputs.error().message;
    std::vector<float> expected;
    for (float left : x)
      for (float right : y)
        expected.push_back(left - right);
    EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer), expected);
  }
}
