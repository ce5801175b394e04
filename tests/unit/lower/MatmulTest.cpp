/// Matmuls of every shape class, against one chain of multiply-adds per
/// element, bit by bit.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/ReferenceCheck.h"

#include "compiler/target/Target.h"
#include "runtime/device/cpu/CpuFeatures.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>

namespace sinter::compiler {
namespace {

/// What a matmul is made of; `symbolic` makes dims of its sizes: some of "bmk"
/// and "n".
struct Problem {
  int64_t b, m, k, n;
  bool leftTurned = false, rightTurned = false;
  const char *symbolic = "";
  bool keepsRight = false;
};

using Dims = std::vector<std::string>;

std::string typeOf(const Dims &dims, const std::string &element) {
  std::string type = "tensor<", sizes;
  bool isSymbolic = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    isSymbolic |= dims[i][0] == 's';
    type += (dims[i][0] == 's' ? "?" : dims[i]) + "x";
    sizes += (i ? ", " : "") + dims[i];
  }
  type += element;
  if (isSymbolic)
    type += ", affine_map<()[s0, s1, s2, s3] -> (" + sizes + ")>";
  return type + ">";
}

/// `narrow` and `narrowRight`: what the operands are brought to `element` from;
/// of both the first if the second is not given.
std::string textOf(const Problem &p, const std::string &element,
                   std::string narrow = "", std::string narrowRight = "") {
  if (narrow.empty())
    narrow = element;
  if (narrowRight.empty())
    narrowRight = narrow;
  auto dim = [&](char name, int64_t size, int number) {
    return std::strchr(p.symbolic, name) ? "s" + std::to_string(number)
                                         : std::to_string(size);
  };
  std::string b = dim('b', p.b, 0), m = dim('m', p.m, 1), k = dim('k', p.k, 2),
              n = dim('n', p.n, 3);
  std::string x = typeOf({b, m, k}, element), w = typeOf({b, k, n}, element);
  std::string xt = typeOf({b, k, m}, element), wt = typeOf({b, n, k}, element);
  std::string r = typeOf({b, m, n}, element), left = "%x", right = "%w", body;
  std::string xs = typeOf(p.leftTurned ? Dims{b, k, m} : Dims{b, m, k}, narrow);
  std::string ws =
      typeOf(p.rightTurned ? Dims{b, n, k} : Dims{b, k, n}, narrowRight);
  if (narrow != element) {
    std::string cast = "sinter.cast %", to = " {dtype = " + element + "} : (";
    body += "%xc = " + cast + "x" + to + xs + ") -> " +
            (p.leftTurned ? xt : x) + "\n%wc = " + cast + "w" + to + ws +
            ") -> " + (p.rightTurned ? wt : w) + "\n";
    left = "%xc";
    right = "%wc";
  }
  std::string turn = "{permutation = array<i64: 0, 2, 1>} : (";
  if (p.leftTurned) {
    body +=
        "%xt = sinter.transpose " + left + " " + turn + xt + ") -> " + x + "\n";
    left = "%xt";
  }
  if (p.rightTurned) {
    body += "%wt = sinter.transpose " + right + " " + turn + wt + ") -> " + w +
            "\n";
    right = "%wt";
  }
  body += "%0 = sinter.matmul " + left + ", " + right + " : (" + x + ", " + w +
          ") -> " + r + "\nprogram.yield %0 : " + r;
  std::string text = kernelText("contraction", *p.symbolic ? 4 : 0,
                                "%x: " + xs + ", %w: " + ws, body);
  if (p.keepsRight)
    text.replace(text.find("num_symbols"), 0,
                 "schedule = {kept_inputs = array<i64: 1>}, ");
  return text;
}

template <typename T> std::vector<T> numbers(int64_t count, uint32_t seed) {
  std::vector<T> values(count);
  for (T &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = T(int32_t(seed >> 8) - (1 << 23)) / T(1 << 22);
  }
  return values;
}

/// Each element as the chain `sum = a * b + sum`, k ascending.
template <typename T>
std::vector<T> chains(const Problem &p, const std::vector<T> &x,
                      const std::vector<T> &w, bool fused) {
  std::vector<T> result;
  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = 0; n < p.n; ++n) {
        T sum = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          T a = x[b * p.m * p.k + (p.leftTurned ? k * p.m + m : m * p.k + k)];
          T c = w[b * p.k * p.n + (p.rightTurned ? n * p.k + k : k * p.n + n)];
          if constexpr (std::is_floating_point_v<T>)
            sum = fused ? std::fma(a, c, sum) : T(a * c) + sum;
          else
            sum += a * c;
        }
        result.push_back(sum);
      }
  return result;
}

/// Empty, or what differs from the chains; in one call and chunk by chunk.
template <typename T>
std::string checkBits(const Problem &p, const std::string &element,
                      const std::string &target) {
  KernelRunner runner(textOf(p, element), target);
  if (!runner.error.empty())
    return runner.error;
  auto x = numbers<T>(p.b * p.m * p.k, 1), w = numbers<T>(p.b * p.k * p.n, 2);
  std::vector<T> expected = chains(p, x, w, target != "cpu:scalar");
  std::vector<int64_t> dims;
  if (*p.symbolic)
    dims = {p.b, p.m, p.k, p.n};
  constexpr size_t guard = 64;
  expected.resize(expected.size() + guard, T(77));
  for (int64_t chunksPerCall : {INT64_MAX, int64_t(1)}) {
    std::vector<T> result(expected.size(), T(77));
    runner.run({x.data(), w.data(), result.data()}, dims, chunksPerCall);
    if (std::string found = firstDifference(result, expected); !found.empty())
      return found;
  }
  return {};
}

class MatmulTest : public testing::TestWithParam<const char *> {
public:
  void SetUp() override {
    auto target = makeTarget(GetParam());
    ASSERT_TRUE(target) << target.error().message;
    std::string missing = runtime::missingFeatures(
        (*target)->requirements(),
        runtime::joinFeatures(runtime::hostCpuFeatures()));
    if (!missing.empty())
      GTEST_SKIP() << "this machine lacks " << missing;
  }

  void check(const Problem &p) {
    EXPECT_EQ(checkBits<float>(p, "f32", GetParam()), "")
        << textOf(p, "f32") << p.m << " " << p.k << " " << p.n;
  }
};

TEST_P(MatmulTest, Shapes) {
  for (const Problem &p :
       {Problem{1, 64, 64, 64}, Problem{1, 129, 100, 257},
        Problem{1, 131, 300, 75}, Problem{1, 97, 520, 530},
        Problem{1, 100, 256, 512}, Problem{1, 1, 300, 1030},
        Problem{1, 2, 33, 70}, Problem{1, 3, 520, 40}, Problem{1, 8, 300, 96},
        Problem{1, 16, 40, 600}, Problem{1, 200, 1, 40}, Problem{1, 70, 300, 1},
        Problem{3, 70, 40, 20}, Problem{2, 66, 300, 500}, Problem{1, 1, 1, 1}})
    check(p);
}

TEST_P(MatmulTest, Turned) {
  for (const Problem &p : {Problem{1, 129, 100, 257}, Problem{1, 97, 521, 530},
                           Problem{1, 1, 303, 250}, Problem{1, 5, 70, 33},
                           Problem{2, 70, 261, 520}})
    for (int turned : {1, 2, 3}) {
      Problem other = p;
      other.leftTurned = turned & 1;
      other.rightTurned = turned & 2;
      check(other);
    }
}

TEST_P(MatmulTest, Empty) {
  for (const Problem &p :
       {Problem{1, 0, 8, 8}, Problem{1, 8, 0, 8}, Problem{1, 8, 8, 0},
        Problem{0, 8, 8, 8}, Problem{1, 100, 0, 600}})
    check(p);
}

TEST_P(MatmulTest, Symbolic) {
  for (bool turned : {false, true})
    for (const Problem &p : {Problem{1, 70, 300, 530, turned, turned, "m"},
                             Problem{1, 70, 300, 530, turned, turned, "k"},
                             Problem{1, 70, 300, 530, turned, turned, "n"},
                             Problem{1, 1, 290, 30, turned, turned, "k"},
                             Problem{2, 100, 270, 64, turned, turned, "bmkn"},
                             Problem{1, 1, 5, 3, turned, turned, "bmkn"},
                             Problem{1, 13, 0, 20, turned, turned, "bmkn"}})
      check(p);
}

TEST_P(MatmulTest, Doubles) {
  for (const Problem &p :
       {Problem{1, 64, 64, 64}, Problem{1, 97, 521, 530, true, true},
        Problem{2, 5, 300, 33}, Problem{1, 1, 300, 250, false, true},
        Problem{1, 100, 300, 130, false, false, "bmkn"}})
    EXPECT_EQ(checkBits<double>(p, "f64", GetParam()), "") << textOf(p, "f64");
}

TEST_P(MatmulTest, OtherTypes) {
  CheckOptions options;
  options.target = GetParam();
  options.tolerance = 1e-4;
  for (const char *type : {"bf16", "f16", "i32", "i8"})
    for (const Problem &p :
         {Problem{1, 70, 300, 75}, Problem{2, 66, 261, 520, true, true},
          Problem{1, 1, 300, 70, false, true}, Problem{1, 3, 40, 30},
          Problem{1, 40, 1100, 33}, Problem{1, 33, 31, 16, true, false}})
      EXPECT_EQ(checkKernel(textOf(p, type), options), "") << textOf(p, type);
}

// What is known of the shape does not change how products are summed.
TEST_P(MatmulTest, SymbolicBitsOfHalves) {
  for (bool turned : {false, true})
    for (const Problem &p : {Problem{1, 70, 300, 53}, Problem{2, 1, 31, 40},
                             Problem{1, 5, 1041, 3}}) {
      Problem fixed = p, symbolic = p;
      fixed.rightTurned = symbolic.rightTurned = turned;
      symbolic.symbolic = "bmkn";
      auto x = numbers<float>(p.b * p.m * p.k, 1);
      auto w = numbers<float>(p.b * p.k * p.n, 2);
      std::vector<uint16_t> left(x.size()), right(w.size());
      for (auto [from, to] : {std::pair(&x, &left), std::pair(&w, &right)})
        for (size_t i = 0; i < from->size(); ++i)
          (*to)[i] = uint16_t(std::bit_cast<uint32_t>((*from)[i]) >> 16);
      std::vector<std::vector<uint16_t>> results;
      for (const Problem &problem : {fixed, symbolic}) {
        KernelRunner runner(textOf(problem, "bf16"), GetParam());
        ASSERT_EQ(runner.error, "");
        std::vector<int64_t> dims;
        if (*problem.symbolic)
          dims = {p.b, p.m, p.k, p.n};
        auto &result = results.emplace_back(size_t(p.b * p.m * p.n), 77);
        runner.run({left.data(), right.data(), result.data()}, dims, INT64_MAX);
      }
      EXPECT_EQ(results[0], results[1]) << textOf(fixed, "bf16");
    }
}

// Few rows against a right operand that stays: a copy of all of it.
TEST_P(MatmulTest, Kept) {
  for (int64_t m : {1, 2, 4, 9, 16, 97})
    for (bool turned : {false, true}) {
      Problem p{1, m, 257, 131, false, turned};
      p.keepsRight = true;
      check(p);
    }
  for (const Problem &p :
       {Problem{2, 1, 130, 520, false, true}, Problem{1, 5, 1300, 33},
        Problem{1, 16, 1100, 17, true, true}}) {
    Problem kept = p;
    kept.keepsRight = true;
    check(kept);
  }
}

/// 32-bit sums of products of smaller integers, which are exact.
template <typename Left, typename Right = Left>
std::string checkNarrow(const Problem &p, const std::string &left,
                        const std::string &target,
                        const std::string &right = "") {
  KernelRunner runner(textOf(p, "i32", left, right), target);
  if (!runner.error.empty())
    return runner.error;
  uint32_t seed = 7;
  auto make = [&]<typename Narrow>(std::vector<Narrow> values) {
    using Limits = std::numeric_limits<Narrow>;
    for (Narrow &value : values) {
      seed = seed * 1664525 + 1013904223;
      value = Narrow(seed >> 13);
    }
    // The ends of the range, whose products are the largest.
    for (size_t i = 0; i < values.size() && i < 5; ++i)
      values[i] = Limits::min() < 0 ? Limits::min() : Limits::max();
    return values;
  };
  auto x = make(std::vector<Left>(p.b * p.m * p.k));
  auto w = make(std::vector<Right>(p.b * p.k * p.n));
  // Unsigned, to wrap as the kernel does.
  std::vector<uint32_t> wideX(x.begin(), x.end()), wideW(w.begin(), w.end());
  std::vector<uint32_t> expected = chains(p, wideX, wideW, false);
  std::vector<int64_t> dims;
  if (*p.symbolic)
    dims = {p.b, p.m, p.k, p.n};
  for (int64_t chunksPerCall : {INT64_MAX, int64_t(1)}) {
    std::vector<uint32_t> result(expected.size(), 77);
    runner.run({x.data(), w.data(), result.data()}, dims, chunksPerCall);
    if (result != expected)
      return "differs";
  }
  return {};
}

TEST_P(MatmulTest, NarrowIntegers) {
  for (int64_t m : {8, 9, 100})
    for (int64_t k : {1, 7, 530})
      for (int turned : {0, 3}) {
        Problem p{1,
                  m,
                  k,
                  k == 7 ? 257 : 15 + 8 * m,
                  bool(turned & 1),
                  bool(turned & 2)};
        EXPECT_EQ(checkNarrow<int8_t>(p, "i8", GetParam()), "")
            << textOf(p, "i32", "i8");
      }
  Problem problem{2, 33, 261, 70};
  EXPECT_EQ(checkNarrow<uint8_t>(problem, "ui8", GetParam()), "");
  EXPECT_EQ(checkNarrow<int16_t>(problem, "i16", GetParam()), "");
  for (const char *symbolic : {"k", "mn", "bmkn"})
    for (bool turned : {false, true})
      for (int64_t k : {0, 1, 8, 261}) {
        Problem p{2, 33, k, 70, turned, turned, symbolic};
        EXPECT_EQ(checkNarrow<int8_t>(p, "i8", GetParam()), "")
            << textOf(p, "i32", "i8");
      }
}

// Each pair of signs; depths that fill no word, one that is cut into blocks,
// and tiles that are not whole.
TEST_P(MatmulTest, SignsOfBytes) {
  for (const Problem &p :
       {Problem{1, 9, 3, 17}, Problem{1, 100, 4, 64}, Problem{2, 33, 261, 70},
        Problem{1, 300, 1030, 40}, Problem{1, 41, 67, 33, true, true},
        Problem{1, 30, 2500, 5, false, true}}) {
    std::string at = textOf(p, "i32", "LEFT", "RIGHT");
    EXPECT_EQ((checkNarrow<int8_t>(p, "i8", GetParam())), "") << at;
    EXPECT_EQ((checkNarrow<uint8_t>(p, "ui8", GetParam())), "") << at;
    EXPECT_EQ((checkNarrow<uint8_t, int8_t>(p, "ui8", GetParam(), "i8")), "")
        << at;
    EXPECT_EQ((checkNarrow<int8_t, uint8_t>(p, "i8", GetParam(), "ui8")), "")
        << at;
  }
  Problem mixed{1, 33, 261, 70};
  EXPECT_EQ((checkNarrow<int8_t, int16_t>(mixed, "i8", GetParam(), "i16")), "");
  Problem kept{1, 40, 257, 131};
  kept.keepsRight = true;
  EXPECT_EQ(checkNarrow<int8_t>(kept, "i8", GetParam()), "");
}

// Sums of the largest products there are.
TEST_P(MatmulTest, LowestBytes) {
  Problem p{1, 20, 514, 35};
  KernelRunner runner(textOf(p, "i32", "i8"), GetParam());
  ASSERT_EQ(runner.error, "");
  std::vector<int8_t> x(p.m * p.k, -128), w(p.k * p.n, -128);
  std::vector<int32_t> result(p.m * p.n);
  runner.run({x.data(), w.data(), result.data()}, {}, INT64_MAX);
  EXPECT_EQ(result, std::vector<int32_t>(p.m * p.n, 514 * 128 * 128));
}

INSTANTIATE_TEST_SUITE_P(Targets, MatmulTest,
                         testing::Values("cpu", "cpu:x86-64-v3",
                                         "cpu:x86-64-v4",
                                         "cpu:x86-64-v4+avx512bf16",
                                         "cpu:x86-64-v4+avx512vnni",
                                         "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
