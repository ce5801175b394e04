/// Kernels of attention's parts against the reference.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/ReferenceCheck.h"

#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

/// One attention: its sizes, and what the parts' text is made of.
struct Sizes {
  int64_t queries, keys, length, valueLength;
  std::string element = "f32";
  std::string span = "all";
  bool isMasked = false;
  std::string batch = "2x";

  std::string type(int64_t rows, int64_t columns,
                   const std::string &of = "") const {
    return "tensor<" + batch + std::to_string(rows) + "x" +
           std::to_string(columns) + "x" + (of.empty() ? element : of) + ">";
  }
  std::string wide() const { return element == "f64" ? "f64" : "f32"; }
  std::string query() const { return type(queries, length); }
  std::string key() const { return type(keys, length); }
  std::string value() const { return type(keys, valueLength); }
  std::string grad() const { return type(queries, valueLength); }
  std::string number() const { return type(queries, 1, wide()); }
  std::string mask() const {
    return isMasked ? type(queries, keys) : "tensor<" + element + ">";
  }
  std::string attributes(const std::string &more = "") const {
    return " {" + more + "scale = 0.25 : f64, span = \"" + span + "\"} : (";
  }
  /// The mask's definition, where it is no argument.
  std::string noMask() const {
    return isMasked ? ""
                    : "%m = sinter.full {shape = affine_map<() -> ()>, value = "
                      "0.0 : f64, dtype = " +
                          element + "} : () -> tensor<" + element + ">\n";
  }
  std::string maskArgument() const { return isMasked ? ", %m: " + mask() : ""; }
};

class AttentionTest : public testing::TestWithParam<const char *> {
public:
  void check(const Sizes &sizes, const std::string &arguments,
             const std::string &body) {
    CheckOptions options;
    options.target = GetParam();
    options.low = -1.5;
    options.high = 1.5;
    options.tolerance = sizes.element == "bf16"  ? 2e-2
                        : sizes.element == "f16" ? 2e-3
                                                 : 1e-4;
    std::string text = kernelText("attention", 0, arguments, body);
    EXPECT_EQ(checkKernel(text, options), "") << text;
    options.chunksPerCall = 1;
    options.seed = 2;
    EXPECT_EQ(checkKernel(text, options), "") << text;
  }

  /// The result, and what its gradient needs of it.
  void checkForward(const Sizes &s) {
    std::string rest = s.query() + ", " + s.key() + ", " + s.mask();
    check(s,
          "%q: " + s.query() + ", %k: " + s.key() + ", %v: " + s.value() +
              s.maskArgument(),
          s.noMask() + "%0 = sinter.attention %q, %k, %m, %v" + s.attributes() +
              rest + ", " + s.value() + ") -> " + s.grad() +
              "\n%1 = sinter.attention_logsumexp %q, %k, %m" + s.attributes() +
              rest + ") -> " + s.number() +
              "\nprogram.yield %0, %1 : " + s.grad() + ", " + s.number());
  }

  /// The gradient of the query, or those of key and value.
  void checkGradients(const Sizes &s, bool ofQuery) {
    std::string types = s.query() + ", " + s.key() + ", " + s.mask() + ", " +
                        s.value() + ", " + s.grad() + ", " + s.number() + ", " +
                        s.number() + ") -> ";
    auto part = [&](const std::string &name, const std::string &result) {
      return " = sinter.attention_" + name +
             "_gradient %q, %k, %m, %v, %g, %l, %d" +
             s.attributes("factor = 0.5 : f64, ") + types + result + "\n";
    };
    std::string arguments = "%q: " + s.query() + ", %k: " + s.key() +
                            ", %v: " + s.value() + ", %g: " + s.grad() +
                            ", %l: " + s.number() + ", %d: " + s.number() +
                            s.maskArgument();
    if (ofQuery)
      return check(s, arguments,
                   s.noMask() + "%0" + part("query", s.query()) +
                       "program.yield %0 : " + s.query());
    check(s, arguments,
          s.noMask() + "%0" + part("key", s.key()) + "%1" +
              part("value", s.value()) + "program.yield %0, %1 : " + s.key() +
              ", " + s.value());
  }

  void checkAll(const Sizes &sizes) {
    checkForward(sizes);
    checkGradients(sizes, true);
    checkGradients(sizes, false);
  }
};

// Around the edges of vectors, tiles, blocks of lanes and blocks of steps.
TEST_P(AttentionTest, Sizes) {
  checkAll({1, 1, 1, 1});
  checkAll({3, 5, 2, 7});
  checkAll({33, 97, 9, 6});
  checkAll({65, 200, 13, 21});
  checkAll({130, 1, 5, 3});
}

TEST_P(AttentionTest, Causal) {
  checkAll({1, 31, 4, 5, "f32", "causal"});
  checkAll({110, 40, 4, 5, "f32", "causal"});
  checkAll({40, 190, 4, 5, "f32", "causal"});
  // Whole blocks of lanes; blocks of steps that the diagonal crosses.
  checkAll({192, 192, 16, 32, "f32", "causal"});
  checkAll({320, 128, 8, 8, "f32", "causal"});
}

TEST_P(AttentionTest, Masked) {
  checkAll({64, 128, 8, 8, "f32", "causal", true});
}

TEST_P(AttentionTest, OtherDTypes) {
  for (const char *element : {"f64", "f16", "bf16"}) {
    checkAll({35, 99, 12, 9, element, "all", true});
    checkAll({40, 40, 8, 16, element, "causal"});
  }
}

TEST_P(AttentionTest, Batches) {
  checkAll({10, 20, 4, 4, "f32", "all", false, ""});
  checkAll({10, 20, 4, 4, "f32", "causal", true, "2x3x"});
  checkForward({10, 20, 4, 4, "f32", "all", false, "0x"});
}

TEST_P(AttentionTest, Nothing) {
  checkAll({0, 20, 4, 4});
  checkAll({5, 20, 0, 4});
  checkAll({5, 20, 4, 0});
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = info.param;
                           return name == "cpu"             ? "native"
                                  : name == "cpu:x86-64-v3" ? "v3"
                                                            : "scalar";
                         });

} // namespace
} // namespace sinter::compiler
