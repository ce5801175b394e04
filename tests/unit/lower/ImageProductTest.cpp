/// Products of windows over an image, whose lines are copied once: against one
/// chain of multiply-adds per element, bit by bit.
#include "tests/unit/lower/KernelRunner.h"

#include "gtest/gtest.h"

#include <cmath>

namespace sinter::compiler {
namespace {

/// n images of h x w places of c numbers, o results for each window.
struct Problem {
  int64_t n, h, w, c, o;
  int64_t kh, kw;
  struct Steps {
    int64_t down = 1, across = 1, dilation = 1; ///< that of lines
  } step = {};
  struct Padding {
    int64_t top = 0, bottom = 0, side = 0;
  } pad = {};
  bool isFlat = false;     ///< places and their numbers one axis
  bool isSymbolic = false; ///< n is a symbol

  int64_t lines() const {
    return (h + pad.top + pad.bottom - (kh - 1) * step.dilation - 1) /
               step.down +
           1;
  }
  int64_t positions() const {
    return (w + 2 * pad.side - kw) / step.across + 1;
  }
};

std::string join(const std::vector<std::string> &parts, const char *between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i ? between : "") + parts[i];
  return text;
}

std::string sizesOf(const std::vector<std::string> &dims) {
  return "affine_map<()[s0] -> (" + join(dims, ", ") + ")>";
}

std::string typeOf(std::vector<std::string> dims) {
  std::vector<std::string> sizes = dims;
  bool isSymbolic = dims[0][0] == 's';
  if (isSymbolic)
    dims[0] = "?";
  return "tensor<" + join(dims, "x") + "xf32" +
         (isSymbolic ? ", " + sizesOf(sizes) : "") + ">";
}

std::string textOf(const Problem &p) {
  auto s = [](int64_t value) { return std::to_string(value); };
  std::string n = p.isSymbolic ? "s0" : s(p.n);
  int64_t inner = p.isFlat ? p.c : 1;
  std::vector<std::string> image{n, s(p.h), s(p.w * inner)};
  std::vector<std::string> padded{n, s(p.h + p.pad.top + p.pad.bottom),
                                  s((p.w + 2 * p.pad.side) * inner)};
  std::vector<std::string> windows{n, s(p.lines()), s(p.positions())};
  std::vector<std::string> taps{s(p.kh), s(p.kw * inner)};
  std::vector<std::string> ordered = windows;
  ordered.insert(ordered.end(), taps.begin(), taps.end());
  std::string zeros = "0, 0, 0";
  if (!p.isFlat) {
    for (auto *dims : {&image, &padded, &windows, &ordered})
      dims->push_back(s(p.c));
    zeros += ", 0";
  }
  windows.insert(windows.end(), taps.begin(), taps.end());
  std::string count = s(p.lines() * p.positions());
  std::string rows =
      p.isSymbolic ? "s0 * " + count : s(p.n * p.lines() * p.positions());
  std::string depth = s(p.kh * p.kw * p.c);
  auto matrix = [&](const std::string &columns) {
    return p.isSymbolic ? "tensor<?x" + columns + "xf32, " +
                              sizesOf({rows, columns}) + ">"
                        : "tensor<" + rows + "x" + columns + "xf32>";
  };
  std::string body =
      "%0 = sinter.pad %x {interior = array<i64: " + zeros +
      ">, low = array<i64: 0, " + s(p.pad.top) + ", " + s(p.pad.side * inner) +
      (p.isFlat ? "" : ", 0") + ">, shape = " + sizesOf(padded) +
      ", value = 0 : i64} : (" + typeOf(image) + ") -> " + typeOf(padded) +
      "\n%1 = sinter.window %0 {axes = array<i64: 1, 2>, dilations = "
      "array<i64: " +
      s(p.step.dilation) + ", 1>, sizes = array<i64: " + join(taps, ", ") +
      ">, strides = array<i64: " + s(p.step.down) + ", " +
      s(p.step.across * inner) + ">} : (" + typeOf(padded) + ") -> " +
      typeOf(windows) + "\n";
  std::string last = "%1";
  if (!p.isFlat) {
    body += "%2 = sinter.transpose %1 {permutation = array<i64: 0, 1, 2, 4, 5, "
            "3>} : (" +
            typeOf(windows) + ") -> " + typeOf(ordered) + "\n";
    last = "%2";
  }
  std::string w = "tensor<" + depth + "x" + s(p.o) + "xf32>";
  body += "%3 = sinter.reshape " + last +
          " {shape = " + sizesOf({rows, depth}) + "} : (" + typeOf(ordered) +
          ") -> " + matrix(depth) + "\n%4 = sinter.matmul %3, %w : (" +
          matrix(depth) + ", " + w + ") -> " + matrix(s(p.o)) +
          "\nprogram.yield %4 : " + matrix(s(p.o));
  return kernelText("contraction", p.isSymbolic ? 1 : 0,
                    "%x: " + typeOf(image) + ", %w: " + w, body);
}

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = float(int32_t(seed >> 8) - (1 << 23)) / float(1 << 22);
  }
  return values;
}

float chainAt(const Problem &p, const std::vector<float> &x,
              const std::vector<float> &w, int64_t row, int64_t column,
              bool fused) {
  int64_t position = row % p.positions(), rest = row / p.positions();
  int64_t line = rest % p.lines(), image = rest / p.lines();
  float sum = 0;
  for (int64_t k = 0; k < p.kh * p.kw * p.c; ++k) {
    int64_t y =
        line * p.step.down + k / (p.kw * p.c) * p.step.dilation - p.pad.top;
    int64_t place = position * p.step.across + k / p.c % p.kw - p.pad.side;
    bool isInside = y >= 0 && y < p.h && place >= 0 && place < p.w;
    float a =
        isInside ? x[((image * p.h + y) * p.w + place) * p.c + k % p.c] : 0;
    float b = w[k * p.o + column];
    sum = fused ? std::fma(a, b, sum) : float(a * b) + sum;
  }
  return sum;
}

/// Empty, or what differs; in one call and chunk by chunk.
std::string checkBits(const Problem &p, const std::string &target) {
  KernelRunner runner(textOf(p), target);
  if (!runner.error.empty())
    return runner.error;
  auto x = numbers(p.n * p.h * p.w * p.c, 1);
  auto w = numbers(p.kh * p.kw * p.c * p.o, 2);
  int64_t rows = p.n * p.lines() * p.positions();
  std::vector<float> expected;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < p.o; ++column)
      expected.push_back(chainAt(p, x, w, row, column, target != "cpu:scalar"));
  constexpr size_t guard = 64;
  expected.resize(expected.size() + guard, 77);
  std::vector<int64_t> dims;
  if (p.isSymbolic)
    dims = {p.n};
  for (int64_t chunksPerCall : {INT64_MAX, int64_t(1)}) {
    std::vector<float> result(expected.size(), 77);
    runner.run({x.data(), w.data(), result.data()}, dims, chunksPerCall);
    if (std::string found = firstDifference(result, expected); !found.empty())
      return found;
  }
  return {};
}

class ImageProductTest : public testing::TestWithParam<const char *> {
public:
  void check(const Problem &p) {
    EXPECT_EQ(checkBits(p, GetParam()), "") << textOf(p);
  }
};

TEST_P(ImageProductTest, Borders) {
  check({1, 14, 14, 16, 32, 3, 3, {}, {1, 1, 1}});
  check({2, 9, 13, 16, 20, 3, 3, {}, {2, 0, 1}});
  check({1, 20, 10, 16, 16, 1, 5, {}, {0, 0, 2}});
  check({1, 20, 10, 16, 16, 5, 1, {}, {2, 2, 0}});
}

TEST_P(ImageProductTest, NothingOutside) {
  check({1, 12, 17, 32, 40, 2, 3});
  check({3, 6, 8, 5, 7, 3, 3});
}

TEST_P(ImageProductTest, StridesAndDilations) {
  check({1, 31, 31, 16, 24, 3, 3, {2, 2, 1}, {1, 1, 1}});
  check({1, 20, 21, 8, 33, 3, 2, {1, 3, 2}, {2, 1, 0}});
  check({2, 16, 32, 4, 8, 4, 4, {4, 4, 1}});
}

TEST_P(ImageProductTest, PlacesOfFewNumbers) {
  check({1, 30, 30, 3, 64, 7, 7, {2, 2, 1}, {3, 3, 3}, true});
  check({2, 11, 40, 3, 10, 3, 3, {}, {1, 1, 1}, true});
  check({1, 30, 12, 3, 10, 3, 3, {}, {1, 1, 1}});
}

// Padding that whole windows lie in, and windows larger than the image.
TEST_P(ImageProductTest, WidePadding) {
  check({1, 3, 12, 16, 16, 3, 3, {}, {5, 4, 4}});
  check({1, 1, 1, 16, 16, 5, 5, {}, {5, 5, 5}});
}

// Sums wait between blocks of depth, which hold whole runs or cut them.
TEST_P(ImageProductTest, Deep) {
  check({1, 8, 8, 500, 40, 3, 3, {}, {1, 1, 1}});
  check({1, 5, 7, 1100, 24, 2, 2});
  check({1, 6, 6, 130, 20, 3, 3, {}, {1, 1, 1}});
}

TEST_P(ImageProductTest, ManyImages) {
  check({3, 10, 9, 16, 70, 3, 3, {}, {1, 1, 1}, false, true});
}

INSTANTIATE_TEST_SUITE_P(Targets, ImageProductTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
