/// Reductions of a product's columns in the product's kernel: the bits of two
/// kernels, one after the other.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/Numbers.h"

#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

using List = std::vector<std::string>;

/// A product [m, n], or [b, m, n] where b is not 0; or of the windows of
/// `taps` x `taps` over b images of h x w places, m being their number and k
/// the taps. `symbolic` makes dims of b and m, of images of b.
struct Problem {
  int64_t b, m, k, n;
  const char *type = "f32";
  bool symbolic = false;
  int64_t h = 0, w = 0, taps = 0;

  bool isImage() const { return taps > 0; }
  int64_t rows() const {
    return isImage() ? b * (h - taps + 1) * (w - taps + 1)
                     : std::max<int64_t>(b, 1) * m;
  }
  int64_t depth() const { return isImage() ? taps * taps : k; }
  int64_t leftElements() const { return isImage() ? b * h * w : rows() * k; }
  int64_t rightElements() const {
    return (isImage() ? 1 : std::max<int64_t>(b, 1)) * depth() * n;
  }
  std::vector<int64_t> dims() const {
    return symbolic ? std::vector<int64_t>{isImage() ? b : m, b}
                    : std::vector<int64_t>();
  }
};

/// The texts of a problem's kernels.
class Texts {
public:
  explicit Texts(const Problem &given) : p(given) {}

  std::string together() const {
    return kernelText("contraction", symbols(),
                      operands() + ", %b: " + vector() + ", %r: " + product(),
                      multiply() + finish() +
                          "program.yield %1, %8, %3, %6 : " + product() + ", " +
                          vector() + ", " + vector() + ", " + third());
  }
  std::string productAlone() const {
    return kernelText("contraction", symbols(),
                      operands() + ", %b: " + vector() + ", %r: " + product(),
                      multiply() + elements() +
                          "program.yield %1 : " + product());
  }
  std::string columnsAlone() const {
    return kernelText("reduce", symbols(),
                      "%1: " + product() + ", %b: " + vector() +
                          ", %r: " + product(),
                      columns() + "program.yield %8, %3, %6 : " + vector() +
                          ", " + vector() + ", " + third());
  }

private:
  static std::string s(int64_t value) { return std::to_string(value); }
  int symbols() const { return p.symbolic ? 2 : 0; }
  std::string rowCount() const { return p.symbolic ? "s0" : s(p.m); }
  std::string batchCount() const {
    return p.symbolic ? (p.isImage() ? "s0" : "s1") : s(p.b);
  }

  List leading() const {
    if (p.isImage()) {
      int64_t each = p.rows() / std::max<int64_t>(p.b, 1);
      return {p.symbolic ? "s0 * " + s(each) : s(p.rows())};
    }
    return p.b ? List{batchCount(), rowCount()} : List{rowCount()};
  }
  std::string matrix(const std::string &columns) const {
    List dims = leading();
    dims.push_back(columns);
    return tensor(dims, p.type);
  }
  std::string product() const { return matrix(s(p.n)); }
  std::string vector() const { return tensor({s(p.n)}, p.type); }
  std::string right() const {
    List dims{s(p.depth()), s(p.n)};
    if (p.b && !p.isImage())
      dims.insert(dims.begin(), batchCount());
    return tensor(dims, p.type);
  }
  std::string operands() const {
    std::string x = p.isImage() ? tensor({batchCount(), s(p.h), s(p.w)}, p.type)
                                : matrix(s(p.k));
    return "%x: " + x + ", %w: " + right();
  }
  std::string multiply() const {
    std::string x = "%x", text;
    if (p.isImage()) {
      std::string t = s(p.taps);
      std::string image = tensor({batchCount(), s(p.h), s(p.w)}, p.type);
      std::string windows =
          tensor({batchCount(), s(p.h - p.taps + 1), s(p.w - p.taps + 1), t, t},
                 p.type);
      text = "%v = sinter.window %x {axes = array<i64: 1, 2>, dilations = "
             "array<i64: 1, 1>, sizes = array<i64: " +
             t + ", " + t + ">, strides = array<i64: 1, 1>} : (" + image +
             ") -> " + windows + "\n%m = sinter.reshape %v {shape = " +
             map({leading()[0], s(p.depth())}) + "} : (" + windows + ") -> " +
             matrix(s(p.depth())) + "\n";
      x = "%m";
    }
    return text + "%p = sinter.matmul " + x + ", %w : (" +
           matrix(s(p.depth())) + ", " + right() + ") -> " + product() + "\n";
  }
  /// %1: what is stored of the product.
  std::string elements() const {
    std::string r = product();
    List shape = leading();
    shape.push_back(s(p.n));
    return "%bb = sinter.broadcast %b {shape = " + map(shape) + "} : (" +
           vector() + ") -> " + r + "\n%1 = sinter.add %p, %bb : (" + r + ", " +
           r + ") -> " + r + "\n";
  }
  /// Of %1: a sum of products times a number, a sum, and the largest or, of a
  /// matrix, where it is.
  std::string columns() const {
    std::string r = product(), v = vector();
    std::string axes = isMatrix() ? "0" : "0, 1";
    std::string two = " : (" + v + ", " + v + ") -> " + v + "\n";
    std::string along =
        "array<i64: " + axes + ">, keepdims = false} : (" + r + ") -> ";
    std::string last =
        isMatrix() ? "%6 = sinter.argmax %1 {axis = 0 : i64, keepdims = false} "
                     ": (" +
                         r + ") -> " + third() + "\n"
                   : "%6 = sinter.amax %1 {axes = " + along + third() + "\n";
    return "%2 = sinter.mul %1, %r : (" + r + ", " + r + ") -> " + r +
           "\n%3 = sinter.sum %1 {axes = " + along + v +
           "\n%4 = sinter.sum %2 {axes = " + along + v +
           "\n%8 = sinter.mul %4, %b" + two + last;
  }
  std::string finish() const { return elements() + columns(); }
  bool isMatrix() const { return p.isImage() || !p.b; }
  std::string third() const {
    return tensor({s(p.n)}, isMatrix() ? "i64" : p.type);
  }

  std::string map(const List &dims) const {
    std::string text;
    for (const std::string &dim : dims)
      text += (text.empty() ? "" : ", ") + dim;
    return "affine_map<()" + std::string(p.symbolic ? "[s0, s1]" : "") +
           " -> (" + text + ")>";
  }
  std::string tensor(const List &dims, const std::string &type) const {
    std::string text;
    bool isSymbolic = false;
    for (const std::string &dim : dims) {
      isSymbolic |= dim[0] == 's';
      text += (dim[0] == 's' ? "?" : dim) + "x";
    }
    return "tensor<" + text + type + (isSymbolic ? ", " + map(dims) : "") + ">";
  }

  const Problem p;
};

class ColumnStatisticsTest : public testing::TestWithParam<const char *> {
public:
  /// The kernel against one of the product alone and one of its columns.
  static void checkBits(const Problem &p, NumericsMode numerics) {
    Texts texts(p);
    SCOPED_TRACE(texts.together());
    std::string type = p.type;
    Bytes x = numbers(type, p.leftElements(), 1);
    Bytes w = numbers(type, p.rightElements(), 2);
    Bytes b = numbers(type, p.n, 3), r = numbers(type, p.rows() * p.n, 4);
    auto runner = [&](const std::string &text) {
      return KernelRunner(text, GetParam(), /*keepText=*/false, numerics);
    };
    KernelRunner together = runner(texts.together());
    KernelRunner product = runner(texts.productAlone());
    KernelRunner columns = runner(texts.columnsAlone());
    ASSERT_EQ(together.error + product.error + columns.error, "");
    Bytes y(r.size()), first(b.size()), second(b.size()), third(8 * p.n);
    product.run({x.data(), w.data(), b.data(), r.data(), y.data()}, p.dims());
    columns.run({y.data(), b.data(), r.data(), first.data(), second.data(),
                 third.data()},
                p.dims());
    for (int64_t chunksPerCall : {INT64_MAX, int64_t(1)}) {
      Bytes y1(y.size(), 7), first1(first.size(), 7), second1(first1);
      Bytes third1(third.size());
      together.run({x.data(), w.data(), b.data(), r.data(), y1.data(),
                    first1.data(), second1.data(), third1.data()},
                   p.dims(), chunksPerCall);
      EXPECT_TRUE(y1 == y);
      EXPECT_TRUE(first1 == first);
      EXPECT_TRUE(second1 == second);
      EXPECT_TRUE(third1 == third);
    }
  }

  static void check(Problem p) {
    for (bool symbolic : {false, true}) {
      p.symbolic = symbolic;
      checkBits(p, NumericsMode::standard);
    }
    if (GetParam() == std::string("cpu"))
      checkBits(p, NumericsMode::exact);
  }
};

TEST_P(ColumnStatisticsTest, Shapes) {
  for (const Problem &p : {Problem{0, 64, 64, 64}, Problem{0, 129, 100, 257},
                           Problem{0, 700, 20, 530}, Problem{0, 1, 30, 70},
                           Problem{0, 1000, 300, 33}, Problem{0, 20000, 3, 10},
                           Problem{0, 8192, 5, 128}, Problem{0, 63, 9, 1},
                           Problem{0, 65, 40, 1100}, Problem{3, 70, 40, 20},
                           Problem{5, 128, 30, 50}, Problem{7, 13, 5, 3}})
    check(p);
}

TEST_P(ColumnStatisticsTest, Images) {
  for (const Problem &p : {Problem{3, 0, 0, 16, "f32", false, 30, 30, 3},
                           Problem{5, 0, 0, 40, "f32", false, 28, 28, 3},
                           Problem{2, 0, 0, 7, "f32", false, 66, 58, 3},
                           Problem{9, 0, 0, 33, "f32", false, 9, 9, 2},
                           Problem{1, 0, 0, 20, "f32", false, 130, 12, 5}})
    check(p);
}

// All columns are made of vectors that a part of them is not made of.
TEST_P(ColumnStatisticsTest, Parts) {
  for (const Problem &p :
       {Problem{0, 300, 300, 960}, Problem{0, 256, 10, 640, "f64"}})
    check(p);
}

TEST_P(ColumnStatisticsTest, Types) {
  for (const char *type : {"f64", "f16", "bf16", "i64"})
    for (const Problem &p :
         {Problem{2, 133, 64, 40, type}, Problem{0, 9000, 17, 16, type}})
      check(p);
}

// Of no rows, which only a symbol can make of extrema, and of no depth.
TEST_P(ColumnStatisticsTest, Empty) {
  checkBits({4, 0, 8, 6, "f32", /*symbolic=*/true}, NumericsMode::standard);
  check({0, 40, 0, 70});
}

INSTANTIATE_TEST_SUITE_P(Targets, ColumnStatisticsTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

// What is not stored is not there when columns are taken; nor is a reduction's
// result when the product is finished.
TEST(ColumnStatistics, Refused) {
  std::string x = "tensor<4x4xf32>", v = "tensor<4xf32>";
  std::string two = " : (" + x + ", " + x + ") -> " + x + "\n";
  std::string product = "%p = sinter.matmul %x, %x" + two;
  auto sum = [&](const std::string &axis) {
    return "%s = sinter.sum %p {axes = array<i64: " + axis +
           ">, keepdims = false} : (" + x + ") -> " + v + "\n";
  };
  auto errorOf = [&](const std::string &body) {
    return KernelRunner(
               kernelText("contraction", 0, "%x: " + x, product + body))
        .error;
  };
  EXPECT_NE(errorOf(sum("0") + "program.yield %s : " + v).find("is stored"),
            std::string::npos);
  EXPECT_NE(errorOf(sum("0") + "%e = sinter.exp %p : (" + x + ") -> " + x +
                    "\nprogram.yield %e, %s : " + x + ", " + v)
                .find("is stored"),
            std::string::npos);
  EXPECT_NE(errorOf(sum("0") +
                    "%t = sinter.broadcast %s {shape = affine_map<() -> (4, "
                    "4)>} : (" +
                    v + ") -> " + x + "\n%y = sinter.add %p, %t" + two +
                    "program.yield %p, %y : " + x + ", " + x)
                .find("take its columns"),
            std::string::npos);
}

} // namespace
} // namespace sinter::compiler
