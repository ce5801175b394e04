/// Reductions of a product's rows in the product's kernel: the bits of two
/// kernels, one after the other, and the values of the reference.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/Numbers.h"
#include "tests/unit/lower/ReferenceCheck.h"

#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

/// A product [b, m, n], or [m, n] where b is 0; `symbolic` makes dims of b and
/// m.
struct Problem {
  int64_t b, m, k, n;
  bool leftTurned = false, rightTurned = false, symbolic = false;
  const char *type = "f32";
};

/// The texts of a problem's tensors and ops.
class Texts {
public:
  explicit Texts(const Problem &p) : p(p), type(p.type) {}

  std::string left() const { return matrix(p.leftTurned, "m", "k"); }
  std::string right() const { return matrix(p.rightTurned, "k", "n"); }
  std::string vector() const { return tensor({size("n")}); }
  std::string product() const { return matrix(false, "m", "n"); }
  std::string numbers() const { return matrix(false, "m", "1"); }

  /// %p of %x and %w.
  std::string multiply() const {
    std::string lhs = "%x", rhs = "%w", text;
    std::string x = matrix(false, "m", "k"), w = matrix(false, "k", "n");
    std::string turn = std::string(" {permutation = array<i64: ") +
                       (p.b ? "0, 2, 1" : "1, 0") + ">} : (";
    if (p.leftTurned) {
      text += "%xt = sinter.transpose %x" + turn + left() + ") -> " + x + "\n";
      lhs = "%xt";
    }
    if (p.rightTurned) {
      text += "%wt = sinter.transpose %w" + turn + right() + ") -> " + w + "\n";
      rhs = "%wt";
    }
    return text + "%p = sinter.matmul " + lhs + ", " + rhs + " : (" + x + ", " +
           w + ") -> " + product() + "\n";
  }

  /// Of %p, %b and %r: their sum, its largest element in a row, and what is
  /// left of a row over the norm of that.
  std::string finish() const {
    std::string r = product(), s = numbers();
    std::string two = " : (" + r + ", " + r + ") -> " + r + "\n";
    std::string spread = shape("m", "n") + " : (" + s + ") -> " + r + "\n";
    std::string along = " {axes = array<i64: " + std::string(p.b ? "2" : "1") +
                        ">, keepdims = true} : (" + r + ") -> " + s + "\n";
    return "%bb = sinter.broadcast %b" + shape("m", "n") + " : (" + vector() +
           ") -> " + r + "\n%0 = sinter.add %p, %bb" + two +
           "%1 = sinter.add %0, %r" + two + "%2 = sinter.amax %1" + along +
           "%3 = sinter.broadcast %2" + spread + "%4 = sinter.sub %1, %3" +
           two + "%5 = sinter.mul %4, %4" + two + "%6 = sinter.sum %5" + along +
           "%7 = sinter.broadcast %6" + spread + "%8 = sinter.maximum %4, %7" +
           two + "program.yield %8, %2, %1 : " + r + ", " + s + ", " + r;
  }

  std::string fused() const {
    return kernelText("contraction", symbols(),
                      "%x: " + left() + ", %w: " + right() +
                          ", %b: " + vector() + ", %r: " + product(),
                      multiply() + finish());
  }
  std::string productAlone() const {
    return kernelText("contraction", symbols(),
                      "%x: " + left() + ", %w: " + right(),
                      multiply() + "program.yield %p : " + product());
  }
  std::string rowsAlone() const {
    return kernelText("rowwise", symbols(),
                      "%p: " + product() + ", %b: " + vector() +
                          ", %r: " + product(),
                      finish());
  }

private:
  int symbols() const { return p.symbolic ? 2 : 0; }

  std::string size(const std::string &name) const {
    if (p.symbolic && (name == "m" || name == "b"))
      return name == "m" ? "s0" : "s1";
    return name == "1" ? name
                       : std::to_string(name == "b"   ? p.b
                                        : name == "m" ? p.m
                                        : name == "k" ? p.k
                                                      : p.n);
  }
  std::string list(const std::string &rows, const std::string &columns) const {
    return (p.b ? size("b") + ", " : "") + size(rows) + ", " + size(columns);
  }
  std::string map(const std::string &dims) const {
    return std::string("affine_map<()") + (p.symbolic ? "[s0, s1]" : "") +
           " -> (" + dims + ")>";
  }
  std::string shape(const std::string &rows, const std::string &columns) const {
    return " {shape = " + map(list(rows, columns)) + "}";
  }
  std::string tensor(const std::vector<std::string> &dims) const {
    std::string text = "tensor<", all;
    bool isSymbolic = false;
    for (const std::string &dim : dims) {
      isSymbolic |= dim[0] == 's';
      text += (dim[0] == 's' ? "?" : dim) + "x";
      all += (all.empty() ? "" : ", ") + dim;
    }
    return text + type + (isSymbolic ? ", " + map(all) : "") + ">";
  }
  std::string matrix(bool turned, std::string rows, std::string columns) const {
    if (turned)
      std::swap(rows, columns);
    std::vector<std::string> dims{size(rows), size(columns)};
    if (p.b)
      dims.insert(dims.begin(), size("b"));
    return tensor(dims);
  }

  const Problem p;
  const std::string type;
};

class RowStatisticsTest : public testing::TestWithParam<const char *> {
public:
  /// The kernel against one of the product alone and one of its rows.
  void checkBits(const Problem &p) {
    SCOPED_TRACE(Texts(p).fused());
    std::string type = p.type;
    int64_t batches = std::max<int64_t>(p.b, 1), rows = batches * p.m;
    Bytes x = numbers(type, rows * p.k, 1);
    Bytes w = numbers(type, batches * p.k * p.n, 2);
    Bytes b = numbers(type, p.n, 3), r = numbers(type, rows * p.n, 4);
    KernelRunner fused(Texts(p).fused(), GetParam());
    KernelRunner product(Texts(p).productAlone(), GetParam());
    KernelRunner after(Texts(p).rowsAlone(), GetParam());
    ASSERT_EQ(fused.error + product.error + after.error, "");
    std::vector<int64_t> dims;
    if (p.symbolic)
      dims = {p.m, p.b};
    size_t whole = size_t(rows * p.n) * widthOf(type);
    Bytes q(whole), y(whole), s(rows * widthOf(type)), z(whole);
    product.run({x.data(), w.data(), q.data()}, dims);
    after.run({q.data(), b.data(), r.data(), y.data(), s.data(), z.data()},
              dims);
    for (int64_t chunksPerCall : {INT64_MAX, int64_t(1)}) {
      Bytes y1(whole, 7), s1(s.size(), 7), z1(whole, 7);
      fused.run({x.data(), w.data(), b.data(), r.data(), y1.data(), s1.data(),
                 z1.data()},
                dims, chunksPerCall);
      EXPECT_TRUE(y1 == y);
      EXPECT_TRUE(s1 == s);
      EXPECT_TRUE(z1 == z);
    }
  }

  void check(Problem p) {
    checkBits(p);
    p.symbolic = true;
    checkBits(p);
  }
};

TEST_P(RowStatisticsTest, Shapes) {
  for (const Problem &p :
       {Problem{0, 64, 64, 64}, Problem{0, 129, 100, 257},
        Problem{0, 97, 520, 530}, Problem{0, 1, 300, 1030},
        Problem{0, 3, 520, 40}, Problem{0, 16, 40, 600}, Problem{0, 200, 1, 10},
        Problem{0, 300, 70, 2}, Problem{0, 66, 30, 4096},
        Problem{3, 70, 40, 20}, Problem{2, 13, 300, 500}, Problem{1, 1, 1, 3}})
    check(p);
}

TEST_P(RowStatisticsTest, Turned) {
  for (const Problem &p : {Problem{0, 129, 100, 257}, Problem{0, 5, 70, 33},
                           Problem{2, 70, 261, 520}})
    for (int turned : {1, 2, 3}) {
      Problem other = p;
      other.leftTurned = turned & 1;
      other.rightTurned = turned & 2;
      check(other);
    }
}

TEST_P(RowStatisticsTest, Empty) {
  for (const Problem &p : {Problem{0, 0, 8, 8}, Problem{0, 40, 0, 70}})
    check(p);
}

TEST_P(RowStatisticsTest, Types) {
  for (const char *type : {"f64", "f16", "bf16", "i64"})
    for (const Problem &p :
         {Problem{0, 70, 300, 75}, Problem{2, 33, 261, 520, true, true},
          Problem{0, 200, 64, 256}, Problem{0, 5, 31, 16}}) {
      Problem other = p;
      other.type = type;
      check(other);
    }
}

TEST_P(RowStatisticsTest, Reference) {
  for (const Problem &p : {Problem{0, 61, 100, 70}, Problem{2, 9, 33, 40}}) {
    CheckOptions options;
    options.target = GetParam();
    options.tolerance = 1e-4;
    EXPECT_EQ(checkKernel(Texts(p).fused(), options), "") << Texts(p).fused();
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RowStatisticsTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

// What would read a row that another block keeps, or none at all.
TEST(RowStatistics, Refused) {
  auto errorOf = [](const std::string &result, const std::string &body) {
    std::string x = "tensor<4x4xf32>";
    return KernelRunner(kernelText("contraction", 0, "%x: " + x,
                                   "%p = sinter.matmul %x, %x : (" + x + ", " +
                                       x + ") -> " + x + "\n" + body +
                                       "\nprogram.yield %0 : " + result))
        .error;
  };
  std::string x = "tensor<4x4xf32>", s = "tensor<4xf32>";
  EXPECT_NE(errorOf("tensor<f32>",
                    "%0 = sinter.sum %p {axes = array<i64: 0, 1>, keepdims = "
                    "false} : (" +
                        x + ") -> tensor<f32>")
                .find("takes its rows"),
            std::string::npos);
  EXPECT_NE(errorOf(s, "%t = sinter.transpose %p {permutation = array<i64: 1, "
                       "0>} : (" +
                           x + ") -> " + x +
                           "\n%0 = sinter.sum %t {axes = array<i64: 1>, "
                           "keepdims = false} : (" +
                           x + ") -> " + s)
                .find("read at its own place"),
            std::string::npos);
}

} // namespace
} // namespace sinter::compiler
