/// Contractions of a long k with few results: sums of parts of k, each a chain
/// of multiply-adds, added in order; bit by bit.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/ReferenceCheck.h"

#include "gtest/gtest.h"

#include <cmath>

namespace sinter::compiler {
namespace {

/// A product [m, n] over k.
struct Sizes {
  int64_t m, k, n;
};

template <typename T> struct Matrices {
  Sizes sizes;
  std::vector<T> left, right; ///< [m, k] and [k, n]
};

template <typename T> std::vector<T> numbers(int64_t count, uint32_t seed) {
  std::vector<T> values(count);
  for (T &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = T(int32_t(seed >> 8) - (1 << 23)) / T(1 << 22);
  }
  return values;
}

/// The sums of parts of `length` values of k, added in order.
template <typename T>
std::vector<T> sumsOfParts(const Matrices<T> &given, int64_t length) {
  auto [m, k, n] = given.sizes;
  std::vector<T> result;
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      T total = 0;
      for (int64_t begin = 0; begin < k; begin += length) {
        T sum = 0;
        for (int64_t at = begin; at < std::min(begin + length, k); ++at)
          sum = std::fma(given.left[row * k + at], given.right[at * n + column],
                         sum);
        total = begin ? total + sum : sum;
      }
      result.push_back(total);
    }
  return result;
}

/// The length of a part: longer for fewer results, and for more than 32 parts.
int64_t partOf(const Sizes &sizes) {
  int64_t results = sizes.m * sizes.n;
  int64_t part = 2048 * ((2048 + results - 1) / results);
  return part * (sizes.k / (32 * part) + 1);
}

/// Empty, or what differs; in one call and chunk by chunk.
template <typename T>
std::string compare(const std::string &text, std::vector<void *> inputs,
                    std::vector<T> expected, const std::string &target,
                    const std::vector<int64_t> &dims = {},
                    NumericsMode numerics = NumericsMode::standard) {
  KernelRunner runner(text, target, /*keepText=*/false, numerics);
  if (!runner.error.empty())
    return runner.error;
  expected.resize(expected.size() + 64, T(77));
  for (int64_t chunksPerCall : {INT64_MAX, int64_t(1)}) {
    std::vector<T> result(expected.size(), T(77));
    std::vector<void *> buffers = inputs;
    buffers.push_back(result.data());
    runner.run(buffers, dims, chunksPerCall);
    if (std::string found = firstDifference(result, expected); !found.empty())
      return found;
  }
  return {};
}

// ---- rows of two matrices
// -------------------------------------------------------

std::string tensor(const std::string &a, const std::string &b,
                   const std::string &type) {
  bool isSymbolic = a[0] == 's' || b[0] == 's';
  auto dim = [](const std::string &size) {
    return (size[0] == 's' ? "?" : size) + "x";
  };
  return "tensor<" + dim(a) + dim(b) + type +
         (isSymbolic ? ", affine_map<()[s0, s1, s2] -> (" + a + ", " + b + ")>"
                     : "") +
         ">";
}

/// x[k, m] turned by w[k, n]; dims of the sizes named in `symbolic`.
std::string productOfRows(const Sizes &sizes, const std::string &type,
                          const std::string &symbolic = "") {
  auto size = [&](char name, int64_t value, const char *symbol) {
    return symbolic.find(name) != std::string::npos ? std::string(symbol)
                                                    : std::to_string(value);
  };
  std::string m = size('m', sizes.m, "s0"), k = size('k', sizes.k, "s1"),
              n = size('n', sizes.n, "s2");
  std::string x = tensor(k, m, type), xt = tensor(m, k, type),
              w = tensor(k, n, type), r = tensor(m, n, type);
  return kernelText(
      "contraction", symbolic.empty() ? 0 : 3, "%x: " + x + ", %w: " + w,
      "%xt = sinter.transpose %x {permutation = array<i64: 1, 0>} : (" + x +
          ") -> " + xt + "\n%0 = sinter.matmul %xt, %w : (" + xt + ", " + w +
          ") -> " + r + "\nprogram.yield %0 : " + r);
}

template <typename T>
void checkRows(const Sizes &sizes, const std::string &type,
               const std::string &target) {
  SCOPED_TRACE(std::to_string(sizes.m) + " " + std::to_string(sizes.k) + " " +
               std::to_string(sizes.n) + " " + target);
  auto [m, k, n] = sizes;
  std::vector<T> x = numbers<T>(k * m, 1), w = numbers<T>(k * n, 2);
  Matrices<T> matrices{sizes, std::vector<T>(m * k), w};
  for (int64_t at = 0; at < k; ++at)
    for (int64_t row = 0; row < m; ++row)
      matrices.left[row * k + at] = x[at * m + row];
  std::vector<T> expected = sumsOfParts(matrices, partOf(sizes));
  std::vector<void *> inputs{x.data(), w.data()};
  for (const char *symbolic : {"", "k", "mk", "nk", "mn"}) {
    std::vector<int64_t> dims;
    if (*symbolic)
      dims = {m, k, n};
    EXPECT_EQ(compare(productOfRows(sizes, type, symbolic), inputs, expected,
                      target, dims),
              "")
        << "symbolic " << symbolic;
  }
}

TEST(DepthSplit, Rows) {
  for (const char *target : {"cpu", "cpu:x86-64-v3"})
    for (const Sizes &sizes :
         {Sizes{16, 9000, 72}, Sizes{3, 600000, 5}, Sizes{70, 4200, 100},
          Sizes{8, 9000, 9}, Sizes{5, 2048, 7}})
      checkRows<float>(sizes, "f32", target);
}

// More than 32 parts would be too many.
TEST(DepthSplit, LongParts) { checkRows<float>({64, 70000, 33}, "f32", "cpu"); }

TEST(DepthSplit, F64) {
  for (const Sizes &sizes : {Sizes{16, 9000, 72}, Sizes{40, 5000, 60}})
    checkRows<double>(sizes, "f64", "cpu");
}

// Sizes that are not there.
TEST(DepthSplit, Empty) {
  for (const Sizes &sizes : {Sizes{4, 0, 5}, Sizes{0, 3000, 5}})
    for (const char *symbolic : {"k", "mk", "mnk"}) {
      auto [m, k, n] = sizes;
      std::vector<float> x = numbers<float>(k * m + 1, 1);
      std::vector<float> w = numbers<float>(k * n + 1, 2);
      EXPECT_EQ(compare(productOfRows(sizes, "f32", symbolic),
                        {x.data(), w.data()}, std::vector<float>(m * n), "cpu",
                        {m, k, n}),
                "");
    }
}

TEST(DepthSplit, HalfTypes) {
  for (const char *type : {"f16", "bf16"}) {
    CheckOptions options;
    options.tolerance = 1e-2;
    EXPECT_EQ(checkKernel(productOfRows({48, 5000, 48}, type), options), "");
    EXPECT_EQ(checkKernel(productOfRows({40, 2100, 10}, type), options), "");
  }
}

// One chain in ascending order, whatever the length.
TEST(DepthSplit, ExactKeepsOrder) {
  Sizes sizes{64, 5000, 33};
  auto [m, k, n] = sizes;
  std::vector<float> x = numbers<float>(k * m, 1), w = numbers<float>(k * n, 2);
  Matrices<float> matrices{sizes, std::vector<float>(m * k), w};
  for (int64_t at = 0; at < k; ++at)
    for (int64_t row = 0; row < m; ++row)
      matrices.left[row * k + at] = x[at * m + row];
  EXPECT_EQ(compare(productOfRows(sizes, "f32"), {x.data(), w.data()},
                    sumsOfParts(matrices, k), "cpu", {}, NumericsMode::exact),
            "");
}

// What a layer's inputs are summed over is no number of rows: how many rows
// there are may not choose how.
TEST(DepthSplit, InputsOfALayer) {
  Sizes sizes{48, 5000, 48};
  auto [m, k, n] = sizes;
  std::vector<float> x = numbers<float>(m * k, 1), w = numbers<float>(k * n, 2);
  std::string text = kernelText(
      "contraction", 0, "%x: tensor<48x5000xf32>, %w: tensor<5000x48xf32>",
      "%0 = sinter.matmul %x, %w : (tensor<48x5000xf32>, tensor<5000x48xf32>) "
      "-> "
      "tensor<48x48xf32>\nprogram.yield %0 : tensor<48x48xf32>");
  Matrices<float> matrices{sizes, x, w};
  EXPECT_EQ(
      compare(text, {x.data(), w.data()}, sumsOfParts(matrices, k), "cpu"), "");
}

// ---- positions of windows
// --------------------------------------------------

/// The gradient of the weight of a convolution without padding: images
/// [b, c, h, w] or, with channels last, [b, h, w, c]; o outputs. Columns are
/// channels, then taps, or, with channels last, the other way round.
struct Images {
  int64_t b, h, w, c, o, taps;
  bool channelsLast = false, symbolic = false;

  int64_t lines() const { return h - taps + 1; }
  int64_t positions() const { return w - taps + 1; }
  Sizes sizes() const {
    return {o, b * lines() * positions(), c * taps * taps};
  }
};

class WeightGradient {
public:
  explicit WeightGradient(const Images &given) : images(given) {}

  std::string text() const {
    const Images &g = images;
    auto s = [](int64_t value) { return std::to_string(value); };
    std::string b = g.symbolic ? "s0" : s(g.b);
    std::string h = s(g.h), w = s(g.w), c = s(g.c), o = s(g.o), t = s(g.taps);
    std::string y = s(g.lines()), x = s(g.positions());
    std::string k =
        g.symbolic ? "s0 * " + s(g.lines() * g.positions()) : s(g.sizes().k);
    bool last = g.channelsLast;
    std::string image = type(last ? List{b, h, w, c} : List{b, c, h, w});
    std::string grad = type(last ? List{b, y, x, o} : List{b, o, y, x});
    std::string windows =
        type(last ? List{b, y, x, c, t, t} : List{b, c, y, x, t, t});
    std::string turned =
        type(last ? List{b, y, x, t, t, c} : List{b, y, x, c, t, t});
    std::string outputs = type({o, b, y, x});
    std::string lhs = type({o, k}), n = s(g.sizes().n), rhs = type({k, n});
    std::string result = type({o, n});
    std::string body =
        "%0 = sinter.window %x {axes = array<i64: " +
        std::string(last ? "1, 2" : "2, 3") +
        ">, dilations = array<i64: 1, 1>, sizes = array<i64: " + t + ", " + t +
        ">, strides = array<i64: 1, 1>} : (" + image + ") -> " + windows + "\n";
    body += "%1 = sinter.transpose %0 {permutation = array<i64: " +
            std::string(last ? "0, 1, 2, 4, 5, 3" : "0, 2, 3, 1, 4, 5") +
            ">} : (" + windows + ") -> " + turned + "\n";
    body += "%2 = sinter.reshape %1 {shape = " + map({k, n}) + "} : (" +
            turned + ") -> " + rhs +
            "\n%3 = sinter.transpose %g {permutation = array<i64: " +
            (last ? "3, 0, 1, 2" : "1, 0, 2, 3") + ">} : (" + grad + ") -> " +
            outputs + "\n%4 = sinter.reshape %3 {shape = " + map({o, k}) +
            "} : (" + outputs + ") -> " + lhs +
            "\n%5 = sinter.matmul %4, %2 : (" + lhs + ", " + rhs + ") -> " +
            result + "\nprogram.yield %5 : " + result;
    return kernelText("contraction", g.symbolic ? 1 : 0,
                      "%x: " + image + ", %g: " + grad, body);
  }

  /// Of images and gradients in the text's layout.
  Matrices<float> matrices(const std::vector<float> &x,
                           const std::vector<float> &g) const {
    const Images &i = images;
    Sizes sizes = i.sizes();
    Matrices<float> made{sizes, std::vector<float>(sizes.m * sizes.k),
                         std::vector<float>(sizes.k * sizes.n)};
    for (int64_t k = 0; k < sizes.k; ++k) {
      int64_t at = k % i.positions(), line = k / i.positions() % i.lines();
      int64_t b = k / i.positions() / i.lines();
      for (int64_t o = 0; o < i.o; ++o)
        made.left[o * sizes.k + k] =
            g[place(b, o, line, at, i.o, i.lines(), i.positions())];
      for (int64_t n = 0; n < sizes.n; ++n) {
        int64_t area = i.taps * i.taps;
        int64_t c = i.channelsLast ? n % i.c : n / area;
        int64_t tap = i.channelsLast ? n / i.c : n % area;
        made.right[k * sizes.n + n] = x[place(
            b, c, line + tap / i.taps, at + tap % i.taps, i.c, i.h, i.w)];
      }
    }
    return made;
  }

private:
  using List = std::vector<std::string>;

  std::string map(const List &dims) const {
    std::string text;
    for (const std::string &dim : dims)
      text += (text.empty() ? "" : ", ") + dim;
    return "affine_map<()" + std::string(images.symbolic ? "[s0]" : "") +
           " -> (" + text + ")>";
  }
  std::string type(const List &dims) const {
    std::string text;
    bool isSymbolic = false;
    for (const std::string &dim : dims) {
      isSymbolic |= dim[0] == 's';
      text += (dim[0] == 's' ? "?" : dim) + "x";
    }
    return "tensor<" + text + "f32" + (isSymbolic ? ", " + map(dims) : "") +
           ">";
  }
  int64_t place(int64_t b, int64_t c, int64_t y, int64_t x, int64_t channels,
                int64_t lines, int64_t positions) const {
    if (images.channelsLast)
      return ((b * lines + y) * positions + x) * channels + c;
    return ((b * channels + c) * lines + y) * positions + x;
  }

  const Images images;
};

TEST(DepthSplit, Windows) {
  for (const char *target : {"cpu", "cpu:x86-64-v3"})
    for (Images images :
         {Images{8, 26, 28, 8, 16, 3}, Images{12, 27, 26, 12, 9, 3},
          Images{24, 19, 20, 3, 33, 3}, Images{1, 50, 60, 8, 64, 2},
          Images{3, 40, 37, 16, 20, 3}, Images{4, 28, 28, 1, 8, 3}})
      for (bool last : {false, true})
        for (bool symbolic : {false, true}) {
          images.channelsLast = last;
          images.symbolic = symbolic;
          WeightGradient gradient(images);
          SCOPED_TRACE(gradient.text());
          auto x = numbers<float>(images.b * images.c * images.h * images.w, 1);
          auto g = numbers<float>(images.sizes().m * images.sizes().k, 2);
          std::vector<int64_t> dims;
          if (symbolic)
            dims = {images.b};
          EXPECT_EQ(compare(gradient.text(), {x.data(), g.data()},
                            sumsOfParts(gradient.matrices(x, g),
                                        partOf(images.sizes())),
                            target, dims),
                    "");
        }
}

} // namespace
} // namespace sinter::compiler
