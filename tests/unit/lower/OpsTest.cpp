/// Every primitive alone, in every element type, against the reference.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/ReferenceCheck.h"

#include "gtest/gtest.h"

#include <regex>

namespace sinter::compiler {
namespace {

const std::vector<std::string> floats = {"f32", "f64", "f16", "bf16"};
const std::vector<std::string> integers = {"i8", "i16", "i32", "i64", "ui8"};

std::vector<std::string> join(std::vector<std::string> a,
                              const std::vector<std::string> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
const std::vector<std::string> numbers = join(floats, integers);
const std::vector<std::string> all = join(numbers, {"i1"});

// `T` in the pattern stands for the element type.
std::string typed(const std::string &pattern, const std::string &type) {
  std::string ranked =
      std::regex_replace(pattern, std::regex("xT\\b"), "x" + type);
  return std::regex_replace(ranked, std::regex("\\bT\\b"), type);
}

struct OpCase {
  std::string arguments, body;
  std::vector<std::string> types;
  CheckOptions options = {};
};

class OpsTest : public testing::TestWithParam<const char *> {
public:
  void check(const OpCase &test) {
    for (const std::string &type : test.types) {
      CheckOptions options = test.options;
      options.target = GetParam();
      std::string text = kernelText("map", 0, typed(test.arguments, type),
                                    typed(test.body, type));
      EXPECT_EQ(checkKernel(text, options), "") << text;
      options.chunksPerCall = 1;
      options.seed = 2;
      EXPECT_EQ(checkKernel(text, options), "") << text;
    }
  }
  // One op on operands of one type.
  void unary(const std::string &op, const std::string &from,
             const std::string &to, const std::string &attributes,
             std::vector<std::string> types, CheckOptions options = {}) {
    check({"%a: tensor<" + from + ">",
           "%0 = sinter." + op + " %a " + attributes + " : (tensor<" + from +
               ">) -> tensor<" + to + ">\nprogram.yield %0 : tensor<" + to +
               ">",
           std::move(types), options});
  }
};

TEST_P(OpsTest, Binary) {
  for (const char *op : {"add", "sub", "mul", "div", "maximum", "minimum"})
    for (const char *shape : {"5x7xT", "T", "1x1x1x1x1x1x2x3xT", "3x0xT"}) {
      std::string t = std::string("tensor<") + shape + ">";
      check({"%a: " + t + ", %b: " + t,
             std::string("%0 = sinter.") + op + " %a, %b : (" + t + ", " + t +
                 ") -> " + t + "\nprogram.yield %0 : " + t,
             numbers});
      if (std::string(op) == "add" || std::string(op) == "maximum")
        check({"%a: " + t + ", %b: " + t,
               std::string("%0 = sinter.") + op + " %a, %b : (" + t + ", " + t +
                   ") -> " + t + "\nprogram.yield %0 : " + t,
               {"i1"}});
    }
}

TEST_P(OpsTest, Unary) {
  CheckOptions loose;
  loose.low = -20;
  loose.high = 20;
  for (const char *op :
       {"neg", "abs", "exp", "log", "tanh", "sin", "cos", "sqrt", "rsqrt"})
    unary(op, "37xT", "37xT", "", floats, loose);
  unary("neg", "37xT", "37xT", "", integers);
  unary("abs", "37xT", "37xT", "", integers);
}

TEST_P(OpsTest, CompareAndWhere) {
  for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    check({"%a: tensor<41xT>, %b: tensor<41xT>, %c: tensor<41xT>",
           std::string("%0 = sinter.compare %a, %b {predicate = \"") +
               predicate +
               "\"} : (tensor<41xT>, tensor<41xT>) -> tensor<41xi1>\n"
               "%1 = sinter.where %0, %a, %c : (tensor<41xi1>, tensor<41xT>, "
               "tensor<41xT>) -> tensor<41xT>\n"
               "program.yield %0, %1 : tensor<41xi1>, tensor<41xT>",
           all});
}

TEST_P(OpsTest, Cast) {
  CheckOptions wide;
  wide.low = -400;
  wide.high = 400;
  wide.lowest = -300;
  wide.highest = 300;
  for (const std::string &to : all)
    unary("cast", "35xT", "35x" + to, "{dtype = " + to + "}", all, wide);
}

TEST_P(OpsTest, Reshape) {
  auto shape = [](const std::string &dims) {
    return "{shape = affine_map<() -> (" + dims + ")>}";
  };
  unary("reshape", "4x6xT", "24xT", shape("24"), all);
  unary("reshape", "24xT", "2x3x4xT", shape("2, 3, 4"), {"f32"});
  unary("reshape", "T", "1x1xT", shape("1, 1"), {"f32"});
  unary("reshape", "1x1xT", "T", "{shape = affine_map<() -> ()>}", {"f32"});
  unary("reshape", "4x6xT", "3x8xT", shape("3, 8"), {"f32"});
}

TEST_P(OpsTest, Transpose) {
  unary("transpose", "5x7xT", "7x5xT", "{permutation = array<i64: 1, 0>}", all);
  unary("transpose", "2x3x5xT", "3x2x5xT",
        "{permutation = array<i64: 1, 0, 2>}", {"f32", "i1"});
  unary("transpose", "2x3x5xT", "5x2x3xT",
        "{permutation = array<i64: 2, 0, 1>}", {"f32", "f16"});
}

TEST_P(OpsTest, Broadcast) {
  auto shape = [](const std::string &dims) {
    return "{shape = affine_map<() -> (" + dims + ")>}";
  };
  unary("broadcast", "T", "3x20xT", shape("3, 20"), all);
  unary("broadcast", "20xT", "3x20xT", shape("3, 20"), {"f32", "i8"});
  unary("broadcast", "3x1xT", "3x20xT", shape("3, 20"), {"f32", "i1"});
  unary("broadcast", "3x1x5xT", "2x3x4x5xT", shape("2, 3, 4, 5"), {"f32"});
  unary("broadcast", "1xT", "0xT", shape("0"), {"f32"});
}

TEST_P(OpsTest, Slice) {
  auto cut = [](const char *starts, const char *limits, const char *steps) {
    return std::string("{starts = array<i64: ") + starts +
           ">, limits = affine_map<() -> (" + limits +
           ")>, steps = array<i64: " + steps + ">}";
  };
  unary("slice", "6x20xT", "3x19xT", cut("1, 1", "4, 20", "1, 1"), all);
  unary("slice", "6x20xT", "3x7xT", cut("0, 1", "6, 20", "2, 3"), all);
  unary("slice", "6x20xT", "0x20xT", cut("2, 0", "2, 20", "1, 1"), {"f32"});
}

TEST_P(OpsTest, Flip) {
  unary("flip", "6x20xT", "6x20xT", "{axes = array<i64: 1>}", all);
  unary("flip", "6x20xT", "6x20xT", "{axes = array<i64: 0>}", all);
  unary("flip", "3x5x37xT", "3x5x37xT", "{axes = array<i64: 0, 2>}", {"f32"});
  unary("flip", "7xT", "7xT", "{axes = array<i64: 0>}", {"f32", "i1"});
  unary("flip", "3x1xT", "3x1xT", "{axes = array<i64: 0, 1>}", {"f32"});
  unary("flip", "3x0xT", "3x0xT", "{axes = array<i64: 0>}", {"f32"});
  unary("flip", "T", "T", "{axes = array<i64>}", {"f32"});
}

TEST_P(OpsTest, Pad) {
  auto pad = [](const char *low, const char *shape, const char *interior,
                const char *value) {
    return std::string("{low = array<i64: ") + low +
           ">, shape = affine_map<() -> (" + shape +
           ")>, interior = array<i64: " + interior + ">, value = " + value +
           "}";
  };
  unary("pad", "3x5xT", "6x40xT", pad("1, 2", "6, 40", "0, 0", "1.5 : f64"),
        all);
  unary("pad", "3x5xT", "9x30xT", pad("1, 2", "9, 30", "2, 1", "0 : i64"), all);
  unary("pad", "0x5xT", "2x5xT", pad("1, 0", "2, 5", "0, 0", "3 : i64"),
        {"f32", "i32"});
  unary("pad", "3x20xT", "6x20xT", pad("2, 0", "6, 20", "0, 0", "3 : i64"),
        {"f32"});
}

TEST_P(OpsTest, Concat) {
  for (const char *axis : {"0", "1"}) {
    bool rows = axis[0] == '0';
    std::string b = rows ? "tensor<4x18xT>" : "tensor<3x2xT>";
    std::string c = rows ? "tensor<0x18xT>" : "tensor<3x0xT>";
    std::string r = rows ? "tensor<7x18xT>" : "tensor<3x20xT>";
    check({"%a: tensor<3x18xT>, %b: " + b + ", %c: " + c,
           "%0 = sinter.concat %a, %b, %c {axis = " + std::string(axis) +
               " : i64} : (tensor<3x18xT>, " + b + ", " + c + ") -> " + r +
               "\nprogram.yield %0 : " + r,
           all});
  }
}

TEST_P(OpsTest, SourcesOfNumbers) {
  for (const std::string &type : all) {
    std::string t = "tensor<3x20x" + type + ">";
    check({"",
           "%0 = sinter.iota {shape = affine_map<() -> (3, 20)>, axis = 1 : "
           "i64, dtype = " +
               type + "} : () -> " + t +
               "\n%1 = sinter.full {shape = affine_map<() -> (3, 20)>, value "
               "= 2.7 : f64, dtype = " +
               type + "} : () -> " + t +
               "\n%2 = sinter.iota {shape = affine_map<() -> (3, 20)>, axis "
               "= 0 : i64, dtype = " +
               type + "} : () -> " + t + "\nprogram.yield %0, %1, %2 : " + t +
               ", " + t + ", " + t,
           {"f32"}});
    check({"",
           "%0 = sinter.extent {size = affine_map<() -> (77)>, dtype = " +
               type + "} : () -> tensor<" + type +
               ">\nprogram.yield %0 : tensor<" + type + ">",
           {"f32"}});
  }
}

TEST_P(OpsTest, Sum) {
  CheckOptions options;
  options.tolerance = 1e-4;
  auto to = [](const std::string &type) {
    return type[0] == 'f' || type[0] == 'b' ? type : std::string("i64");
  };
  struct Case {
    const char *from, *result, *axes;
    bool keep;
  };
  for (const std::string &type : all)
    for (Case c :
         {Case{"5x7x", "5x", "1", false}, Case{"5x7x", "7x", "0", false},
          Case{"5x100x", "1x1x", "0, 1", true},
          Case{"300x40x", "40x", "0", false},
          Case{"3x4x5x", "4x", "0, 2", false},
          Case{"3x300x", "3x1x", "1", true}, Case{"3x0x", "3x", "1", false},
          Case{"0x3x", "3x", "0", false}, Case{"4x3x20x", "4x20x", "1", false},
          Case{"1x7x", "7x", "0", false}, Case{"5x1x", "5x", "1", false},
          Case{"", "", "", false}}) {
      if (*c.axes == 0)
        continue;
      unary("sum", c.from + type, c.result + to(type),
            std::string("{axes = array<i64: ") + c.axes +
                ">, keepdims = " + (c.keep ? "true" : "false") + "}",
            {"f32"}, options);
    }
  unary("sum", "20000xT", "T", "{axes = array<i64: 0>, keepdims = false}",
        {"f32", "f64"}, options);
  unary("sum", "20000x3xT", "3xT", "{axes = array<i64: 0>, keepdims = false}",
        {"f32", "f64"}, options);
}

TEST_P(OpsTest, Extrema) {
  for (const char *op : {"amax", "amin"})
    for (const char *axes : {"0", "1", "0, 1"}) {
      std::string result = std::string(axes) == "0"   ? "40xT"
                           : std::string(axes) == "1" ? "6xT"
                                                      : "T";
      unary(op, "6x40xT", result,
            std::string("{axes = array<i64: ") + axes + ">, keepdims = false}",
            all);
    }
}

TEST_P(OpsTest, Argmax) {
  unary("argmax", "6x40xT", "6xi64", "{axis = 1 : i64, keepdims = false}", all);
  unary("argmax", "6x40xT", "40xi64", "{axis = 0 : i64, keepdims = false}",
        all);
  unary("argmax", "6x40x3xT", "6x1x3xi64", "{axis = 1 : i64, keepdims = true}",
        {"f32", "i1"});
}

TEST_P(OpsTest, Matmul) {
  CheckOptions options;
  options.tolerance = 1e-4;
  struct Case {
    const char *lhs, *rhs, *result;
  };
  for (Case c :
       {Case{"5x9xT", "9x20xT", "5x20xT"}, Case{"1x9xT", "9x1xT", "1x1xT"},
        Case{"2x3x4x9xT", "2x3x9x5xT", "2x3x4x5xT"},
        Case{"4x0xT", "0x5xT", "4x5xT"}, Case{"33x64xT", "64x50xT", "33x50xT"}})
    check({std::string("%a: tensor<") + c.lhs + ">, %b: tensor<" + c.rhs + ">",
           std::string("%0 = sinter.matmul %a, %b : (tensor<") + c.lhs +
               ">, tensor<" + c.rhs + ">) -> tensor<" + c.result +
               ">\nprogram.yield %0 : tensor<" + c.result + ">",
           numbers, options});
}

TEST_P(OpsTest, GatherAndScatter) {
  CheckOptions options;
  options.lowest = 0;
  options.highest = 2;
  options.tolerance = 1e-5;
  for (const char *index : {"i32", "i64"})
    for (const char *axis : {"0", "1"}) {
      std::string i = std::string("tensor<4x20x") + index + ">";
      std::string x = axis[0] == '0' ? "tensor<3x20xT>" : "tensor<4x3xT>";
      check({"%x: " + x + ", %i: " + i,
             "%0 = sinter.gather %x, %i {axis = " + std::string(axis) +
                 " : i64} : (" + x + ", " + i +
                 ") -> tensor<4x20xT>\nprogram.yield %0 : tensor<4x20xT>",
             all, options});
      check({"%x: " + x + ", %i: " + i + ", %u: tensor<4x20xT>",
             "%0 = sinter.scatter_add %x, %i, %u {axis = " + std::string(axis) +
                 " : i64} : (" + x + ", " + i + ", tensor<4x20xT>) -> " + x +
                 "\nprogram.yield %0 : " + x,
             {"f32", "f64", "i8", "i16", "i32", "i64", "ui8"},
             options});
    }
}

// Each addition rounds, in the order of positions.
TEST_P(OpsTest, ScatterManyIntoFew) {
  CheckOptions options;
  options.lowest = 0;
  options.highest = 2;
  for (const char *type : {"bf16", "f16", "f32"})
    check({"%x: tensor<7x3x8xT>, %i: tensor<7x33x8xi32>, %u: "
           "tensor<7x33x8xT>",
           "%0 = sinter.scatter_add %x, %i, %u {axis = 1 : i64} : "
           "(tensor<7x3x8xT>, tensor<7x33x8xi32>, tensor<7x33x8xT>) -> "
           "tensor<7x3x8xT>\nprogram.yield %0 : tensor<7x3x8xT>",
           {type},
           options});
}

TEST_P(OpsTest, Cumsum) {
  CheckOptions options;
  options.tolerance = 1e-5;
  for (const std::string &type : all) {
    std::string to =
        type[0] == 'f' || type[0] == 'b' ? type : std::string("i64");
    for (const char *axis : {"0", "1", "2"})
      for (const char *reverse : {"false", "true"})
        unary("cumsum", "3x6x18x" + type, "3x6x18x" + to,
              std::string("{axis = ") + axis + " : i64, reverse = " + reverse +
                  "}",
              {"f32"}, options);
  }
}

TEST_P(OpsTest, Random) {
  for (const char *op : {"random_uniform", "random_normal"})
    for (const std::string &type : floats) {
      std::string t = "tensor<3x21x" + type + ">";
      check({"%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>",
             std::string("%0 = sinter.") + op +
                 " %a, %b, %c {shape = affine_map<() -> (3, 21)>, dtype = " +
                 type + "} : (tensor<i64>, tensor<i64>, tensor<i64>) -> " + t +
                 "\nprogram.yield %0 : " + t,
             {"f32"}});
    }
}

// A vector's first lanes may stand before the numbers.
TEST_P(OpsTest, RandomInsideAPad) {
  for (const std::string &type : floats)
    for (const char *low : {"1", "2", "3"})
      check({"%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>",
             "%0 = sinter.random_uniform %a, %b, %c {shape = affine_map<() -> "
             "(61)>, dtype = " +
                 type +
                 "} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<61x" +
                 type +
                 ">\n%1 = sinter.pad %0 {interior = array<i64: 0>, low = "
                 "array<i64: " +
                 low +
                 ">, shape = affine_map<() -> (70)>, value = 0 : i64} : "
                 "(tensor<61x" +
                 type + ">) -> tensor<70x" + type +
                 ">\nprogram.yield %1 : tensor<70x" + type + ">",
             {"f32"}});
}

INSTANTIATE_TEST_SUITE_P(Targets, OpsTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
