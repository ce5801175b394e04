/// Kernels of many ops: epilogues, prologues, rows with statistics.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/ReferenceCheck.h"

#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

std::string dims(const std::string &text) {
  return "{shape = affine_map<() -> (" + text + ")>}";
}

class FusedTest : public testing::TestWithParam<const char *> {
public:
  void check(const std::string &arguments, const std::string &body,
             double tolerance = 1e-5) {
    CheckOptions options;
    options.target = GetParam();
    options.tolerance = tolerance;
    std::string text = kernelText("map", 0, arguments, body);
    EXPECT_EQ(checkKernel(text, options), "") << text;
    options.chunksPerCall = 1;
    options.seed = 2;
    EXPECT_EQ(checkKernel(text, options), "") << text;
  }
};

TEST_P(FusedTest, Softmax) {
  for (std::string m : {"1", "5", "16", "40", "200", "9000"}) {
    std::string x = "tensor<3x4x" + m + "xf32>", s = "tensor<3x4x1xf32>";
    std::string reduce =
        "{axes = array<i64: 2>, keepdims = true} : (" + x + ") -> " + s + "\n";
    std::string spread = dims("3, 4, " + m) + " : (" + s + ") -> " + x + "\n";
    std::string two = " : (" + x + ", " + x + ") -> " + x + "\n";
    check("%x: " + x,
          "%0 = sinter.amax %x " + reduce + "%1 = sinter.broadcast %0 " +
              spread + "%2 = sinter.sub %x, %1" + two +
              "%3 = sinter.exp %2 : (" + x + ") -> " + x + "\n" +
              "%4 = sinter.sum %3 " + reduce + "%5 = sinter.broadcast %4 " +
              spread + "%6 = sinter.div %3, %5" + two +
              "program.yield %6, %4 : " + x + ", " + s);
  }
}

TEST_P(FusedTest, LayerNormLike) {
  std::string x = "tensor<6x37xf32>", s = "tensor<6xf32>",
              k = "tensor<6x1xf32>", w = "tensor<37xf32>";
  std::string sum =
      "{axes = array<i64: 1>, keepdims = false} : (" + x + ") -> " + s + "\n";
  std::string keep = dims("6, 1") + " : (" + s + ") -> " + k + "\n";
  std::string spread = dims("6, 37") + " : (" + k + ") -> " + x + "\n";
  std::string two = " : (" + x + ", " + x + ") -> " + x + "\n";
  check("%x: " + x + ", %w: " + w,
        "%0 = sinter.sum %x " + sum +
            "%n = sinter.full {shape = affine_map<() -> (6)>, value = 37.0 : "
            "f64, dtype = f32} : () -> " +
            s + "\n%m = sinter.div %0, %n : (" + s + ", " + s + ") -> " + s +
            "\n%1 = sinter.reshape %m " + keep + "%2 = sinter.broadcast %1 " +
            spread + "%3 = sinter.sub %x, %2" + two + "%4 = sinter.mul %3, %3" +
            two + "%5 = sinter.sum %4 " + sum + "%6 = sinter.rsqrt %5 : (" + s +
            ") -> " + s + "\n%7 = sinter.reshape %6 " + keep +
            "%8 = sinter.broadcast %7 " + spread + "%9 = sinter.mul %3, %8" +
            two + "%wb = sinter.broadcast %w " + dims("6, 37") + " : (" + w +
            ") -> " + x + "\n%10 = sinter.mul %9, %wb" + two +
            "program.yield %10 : " + x);
}

TEST_P(FusedTest, MeanOfSquaredDifference) {
  std::string x = "tensor<70x90xf32>", s = "tensor<f32>";
  std::string two = " : (" + x + ", " + x + ") -> " + x + "\n";
  check("%x: " + x + ", %y: " + x,
        "%0 = sinter.sub %x, %y" + two + "%1 = sinter.mul %0, %0" + two +
            "%2 = sinter.sum %1 {axes = array<i64: 0, 1>, keepdims = false} : "
            "(" +
            x + ") -> " + s + "\n%3 = sinter.sqrt %2 : (" + s + ") -> " + s +
            "\nprogram.yield %3 : " + s,
        1e-4);
}

TEST_P(FusedTest, MatmulWithEpilogue) {
  struct Sizes {
    const char *m, *k, *n;
  };
  for (Sizes z : {Sizes{"64", "64", "128"}, Sizes{"29", "64", "10"},
                  Sizes{"1", "300", "70"}, Sizes{"100", "600", "40"},
                  Sizes{"13", "5", "49"}, Sizes{"128", "512", "600"}}) {
    std::string m = z.m, k = z.k, n = z.n;
    std::string x = "tensor<" + m + "x" + k + "xf32>";
    std::string w = "tensor<" + k + "x" + n + "xf32>";
    std::string b = "tensor<" + n + "xf32>";
    std::string r = "tensor<" + m + "x" + n + "xf32>";
    std::string two = " : (" + r + ", " + r + ") -> " + r + "\n";
    check("%x: " + x + ", %w: " + w + ", %b: " + b + ", %c: " + r,
          "%0 = sinter.matmul %x, %w : (" + x + ", " + w + ") -> " + r +
              "\n%1 = sinter.broadcast %b " + dims(m + ", " + n) + " : (" + b +
              ") -> " + r + "\n%2 = sinter.add %0, %1" + two +
              "%3 = sinter.maximum %2, %c" + two +
              "program.yield %2, %3 : " + r + ", " + r,
          1e-4);
  }
}

TEST_P(FusedTest, MatmulOfTransposes) {
  std::string turn = "{permutation = array<i64: 1, 0>}";
  struct Sizes {
    const char *m, *k, *n;
  };
  for (Sizes z : {Sizes{"30", "20", "50"}, Sizes{"64", "300", "33"}}) {
    std::string m = z.m, k = z.k, n = z.n;
    std::string x = "tensor<" + m + "x" + k + "xf32>";
    std::string xt = "tensor<" + k + "x" + m + "xf32>";
    std::string w = "tensor<" + k + "x" + n + "xf32>";
    std::string wt = "tensor<" + n + "x" + k + "xf32>";
    std::string r = "tensor<" + m + "x" + n + "xf32>";
    std::string rt = "tensor<" + n + "x" + m + "xf32>";
    check("%x: " + xt + ", %w: " + wt,
          "%0 = sinter.transpose %x " + turn + " : (" + xt + ") -> " + x +
              "\n%1 = sinter.transpose %w " + turn + " : (" + wt + ") -> " + w +
              "\n%2 = sinter.matmul %0, %1 : (" + x + ", " + w + ") -> " + r +
              "\n%3 = sinter.exp %2 : (" + r + ") -> " + r +
              "\n%4 = sinter.transpose %2 " + turn + " : (" + r + ") -> " + rt +
              "\nprogram.yield %4 : " + rt,
          1e-4);
  }
}

TEST_P(FusedTest, MatmulWithPrologue) {
  std::string h = "tensor<2x20x32xbf16>", x = "tensor<2x20x32xf32>";
  std::string w = "tensor<2x32x48xf32>", r = "tensor<2x20x48xf32>";
  check("%x: " + h + ", %w: " + w,
        "%0 = sinter.cast %x {dtype = f32} : (" + h + ") -> " + x +
            "\n%1 = sinter.tanh %w : (" + w + ") -> " + w +
            "\n%2 = sinter.matmul %0, %1 : (" + x + ", " + w + ") -> " + r +
            "\n%3 = sinter.reshape %2 " + dims("40, 48") + " : (" + r +
            ") -> tensor<40x48xf32>\nprogram.yield %3 : tensor<40x48xf32>",
        1e-4);
}

TEST_P(FusedTest, ViewsOfViews) {
  std::string x = "tensor<4x6x20xf32>";
  check("%x: " + x,
        "%0 = sinter.reshape %x " + dims("4, 6, 4, 5") + " : (" + x +
            ") -> tensor<4x6x4x5xf32>\n"
            "%1 = sinter.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} "
            ": (tensor<4x6x4x5xf32>) -> tensor<4x4x6x5xf32>\n"
            "%2 = sinter.slice %1 {starts = array<i64: 0, 1, 0, 0>, limits = "
            "affine_map<() -> (4, 4, 6, 5)>, steps = array<i64: 1, 2, 1, 2>} "
            ": (tensor<4x4x6x5xf32>) -> tensor<4x2x6x3xf32>\n"
            "%3 = sinter.pad %2 {low = array<i64: 0, 0, 1, 2>, shape = "
            "affine_map<() -> (4, 2, 9, 11)>, interior = array<i64: 0, 0, 0, "
            "1>, value = 0.5 : f64} : (tensor<4x2x6x3xf32>) -> "
            "tensor<4x2x9x11xf32>\n"
            "%4 = sinter.slice %3 {starts = array<i64: 0, 0, 0, 1>, limits = "
            "affine_map<() -> (4, 2, 9, 11)>, steps = array<i64: 1, 1, 1, 2>} "
            ": (tensor<4x2x9x11xf32>) -> tensor<4x2x9x5xf32>\n"
            "%5 = sinter.reshape %4 " +
            dims("360") +
            " : (tensor<4x2x9x5xf32>) -> tensor<360xf32>\n"
            "%6 = sinter.exp %5 : (tensor<360xf32>) -> tensor<360xf32>\n"
            "program.yield %6 : tensor<360xf32>");
}

// Several dims of 0 on one side, of which one on the other makes all.
TEST_P(FusedTest, ReshapeOfNothing) {
  struct {
    const char *from, *dims, *to, *ones, *zeros, *paddedDims, *padded;
  } cases[] = {
      {"0x1x0", "0", "0", "1", "0", "3", "3"},
      {"0", "0, 1, 0", "0x1x0", "1, 1, 1", "0, 0, 0", "2, 3, 4", "2x3x4"},
      {"3x0x2", "0, 0", "0x0", "1, 1", "0, 0", "6, 2", "6x2"},
      {"0x5", "4, 0, 0", "4x0x0", "1, 1, 1", "0, 0, 0", "5, 3, 2", "5x3x2"},
  };
  auto typeOf = [](std::string sizes) { return "tensor<" + sizes + "xf32>"; };
  for (const auto &row : cases)
    check("%x: " + typeOf(row.from),
          "%0 = sinter.reshape %x " + dims(row.dims) + " : (" +
              typeOf(row.from) + ") -> " + typeOf(row.to) +
              "\n%1 = sinter.pad %0 {low = array<i64: " + row.ones +
              ">, shape = affine_map<() -> (" + row.paddedDims +
              ")>, interior = array<i64: " + row.zeros +
              ">, value = 0.5 : f64} : (" + typeOf(row.to) + ") -> " +
              typeOf(row.padded) +
              "\nprogram.yield %1 : " + typeOf(row.padded));
}

// Backwards under masks, in steps, and along other axes than the lanes'.
TEST_P(FusedTest, Flips) {
  std::string x = "tensor<5x23xf32>", back = "{axes = array<i64: 1>}";
  check("%x: " + x + ", %y: " + x,
        "%0 = sinter.flip %x " + back + " : (" + x + ") -> " + x +
            "\n%1 = sinter.concat %y, %0 {axis = 1 : i64} : (" + x + ", " + x +
            ") -> tensor<5x46xf32>\n"
            "%2 = sinter.slice %1 {starts = array<i64: 1, 3>, limits = "
            "affine_map<() -> (5, 45)>, steps = array<i64: 1, 2>} : "
            "(tensor<5x46xf32>) -> tensor<4x21xf32>\n"
            "%3 = sinter.flip %2 {axes = array<i64: 0, 1>} : "
            "(tensor<4x21xf32>) -> tensor<4x21xf32>\n"
            "%4 = sinter.pad %3 {low = array<i64: 1, 2>, shape = "
            "affine_map<() -> (6, 45)>, interior = array<i64: 0, 1>, value = "
            "0.5 : f64} : (tensor<4x21xf32>) -> tensor<6x45xf32>\n"
            "%5 = sinter.flip %4 " +
            back +
            " : (tensor<6x45xf32>) -> tensor<6x45xf32>\n"
            "program.yield %5 : tensor<6x45xf32>");
  check("%x: " + x,
        "%0 = sinter.flip %x {axes = array<i64: 0, 1>} : (" + x + ") -> " + x +
            "\n%1 = sinter.reshape %0 " + dims("115") + " : (" + x +
            ") -> tensor<115xf32>\n"
            "%2 = sinter.flip %1 {axes = array<i64: 0>} : (tensor<115xf32>) "
            "-> tensor<115xf32>\n"
            "%3 = sinter.exp %2 : (tensor<115xf32>) -> tensor<115xf32>\n"
            "program.yield %3 : tensor<115xf32>");
  check("%x: " + x,
        "%0 = sinter.flip %x " + back + " : (" + x + ") -> " + x +
            "\n%1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = true} : (" +
            x + ") -> tensor<5x1xf32>\n%2 = sinter.broadcast %1 " +
            dims("5, 23") + " : (tensor<5x1xf32>) -> " + x +
            "\n%3 = sinter.sub %0, %2 : (" + x + ", " + x + ") -> " + x +
            "\nprogram.yield %3 : " + x,
        1e-4);
}

TEST_P(FusedTest, SumOfATranspose) {
  check("%x: tensor<70x40xf32>",
        "%0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : "
        "(tensor<70x40xf32>) -> tensor<40x70xf32>\n"
        "%1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : "
        "(tensor<40x70xf32>) -> tensor<40xf32>\n"
        "program.yield %1 : tensor<40xf32>",
        1e-4);
}

// Lanes that start in the padding and end in a transposed tensor's rows, two of
// its axes being one.
TEST_P(FusedTest, PaddingBeforeTurnedRows) {
  std::string x = "tensor<3x13x6x5xf32>", turned = "tensor<3x6x5x13xf32>";
  std::string rows = "tensor<3x6x65xf32>", padded = "tensor<3x8x91xf32>";
  std::string out = "tensor<3x8x91xf32>";
  check("%x: " + x,
        "%0 = sinter.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (" +
            x + ") -> " + turned + "\n%1 = sinter.reshape %0 " +
            dims("3, 6, 65") + " : (" + turned + ") -> " + rows +
            "\n%2 = sinter.pad %1 {low = array<i64: 0, 1, 13>, shape = "
            "affine_map<() -> (3, 8, 91)>, interior = array<i64: 0, 0, 0>, "
            "value = 0 : i64} : (" +
            rows + ") -> " + padded + "\n%3 = sinter.neg %2 : (" + padded +
            ") -> " + out + "\nprogram.yield %3 : " + out);
}

TEST_P(FusedTest, LongReductions) {
  for (std::string m : {"270000", "524288"}) {
    std::string x = "tensor<2x" + m + "xf32>", s = "tensor<2xf32>";
    check("%x: " + x,
          "%0 = sinter.exp %x : (" + x + ") -> " + x +
              "\n%1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : "
              "(" +
              x + ") -> " + s +
              "\n%2 = sinter.argmax %x {axis = 1 : i64, keepdims = false} : (" +
              x + ") -> tensor<2xi64>\n%3 = sinter.sqrt %1 : (" + s + ") -> " +
              s + "\nprogram.yield %3, %2 : " + s + ", tensor<2xi64>",
          1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FusedTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
