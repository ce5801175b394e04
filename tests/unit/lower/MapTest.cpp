/// Elementwise kernels with views, against plain loops.
#include "tests/unit/lower/KernelRunner.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>

namespace sinter::compiler {
namespace {

std::vector<float> randoms(size_t count, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> draw(-2, 2);
  std::vector<float> result(count);
  for (float &value : result)
    value = draw(engine);
  return result;
}

class MapTest : public testing::TestWithParam<const char *> {};

TEST_P(MapTest, AddsAFlatArray) {
  for (int n : {0, 1, 3, 16, 17, 100, 20000}) {
    std::string type = "tensor<" + std::to_string(n) + "xf32>";
    KernelRunner kernel(kernelText("map", 0, "%a: " + type + ", %b: " + type,
                                   "%0 = sinter.add %a, %b : (" + type + ", " +
                                       type + ") -> " + type +
                                       "\nprogram.yield %0 : " + type),
                        GetParam());
    ASSERT_EQ(kernel.error, "");
    auto a = randoms(n, 1), b = randoms(n, 2);
    std::vector<float> c(n + 1, 7);
    kernel.run({a.data(), b.data(), c.data()});
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(c[i], a[i] + b[i]) << i;
    EXPECT_EQ(c[n], 7);
  }
}

// Columns of a chunk are worked on in several runs side by side; the last chunk
// has some that are in none.
TEST_P(MapTest, StreamsALargeArray) {
  struct Free {
    void operator()(float *block) const { std::free(block); }
  };
  constexpr size_t alignment = 64, n = (16 << 20) + 5'003;
  constexpr size_t bytes = (n + alignment) / alignment * alignment * 4;
  auto allot = [] {
    void *block = std::aligned_alloc(alignment, bytes);
    return std::unique_ptr<float, Free>(static_cast<float *>(block));
  };
  std::string type = "tensor<" + std::to_string(n) + "xf32>";
  KernelRunner kernel(kernelText("map", 0, "%a: " + type,
                                 "%0 = sinter.neg %a : (" + type + ") -> " +
                                     type + "\nprogram.yield %0 : " + type),
                      GetParam());
  ASSERT_EQ(kernel.error, "");
  auto a = allot(), b = allot();
  for (size_t i = 0; i < n; ++i)
    a.get()[i] = float(i % 99'991);
  b.get()[n] = 7;
  kernel.run({a.get(), b.get()});
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(b.get()[i], -float(i % 99'991)) << i;
  EXPECT_EQ(b.get()[n], 7);
}

TEST_P(MapTest, BroadcastsABias) {
  for (int m : {1, 5, 16, 33, 128}) {
    std::string x = "tensor<7x" + std::to_string(m) + "xf32>";
    std::string b = "tensor<" + std::to_string(m) + "xf32>";
    std::string body =
        "%0 = sinter.broadcast %b {shape = affine_map<() -> (7, " +
        std::to_string(m) + ")>} : (" + b + ") -> " + x +
        "\n%1 = sinter.mul %x, %0 : (" + x + ", " + x + ") -> " + x +
        "\n%2 = sinter.exp %1 : (" + x + ") -> " + x +
        "\nprogram.yield %2 : " + x;
    KernelRunner kernel(kernelText("map", 0, "%x: " + x + ", %b: " + b, body),
                        GetParam());
    ASSERT_EQ(kernel.error, "");
    auto xs = randoms(7 * m, 1), bs = randoms(m, 2);
    std::vector<float> c(7 * m);
    kernel.run({xs.data(), bs.data(), c.data()}, {}, 1);
    for (int i = 0; i < 7 * m; ++i)
      ASSERT_NEAR(c[i], std::exp(xs[i] * bs[i % m]), 1e-6 * std::abs(c[i]))
          << i;
  }
}

TEST_P(MapTest, TakesSymbolicDims) {
  std::string x = "tensor<?x24xf32, affine_map<()[s0] -> (s0, 24)>>";
  KernelRunner kernel(kernelText("map", 1, "%x: " + x,
                                 "%0 = sinter.neg %x : (" + x + ") -> " + x +
                                     "\nprogram.yield %0 : " + x),
                      GetParam());
  ASSERT_EQ(kernel.error, "");
  for (int n : {0, 1, 7, 1000}) {
    auto xs = randoms(n * 24);
    std::vector<float> c(n * 24 + 1, 7);
    kernel.run({xs.data(), c.data()}, {n}, 1);
    for (int i = 0; i < 24 * n; ++i)
      ASSERT_EQ(c[i], -xs[i]);
    EXPECT_EQ(c[24 * n], 7);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MapTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
