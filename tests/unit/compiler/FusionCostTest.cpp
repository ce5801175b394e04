/// How much fusion looks at: counts, over graphs of growing depth.
#include "compiler/KernelCompiler.h"
#include "compiler/Passes.h"
#include "compiler/fuse/FormKernels.h"
#include "compiler/fuse/FusionGraph.h"
#include "compiler/import/ImportGraph.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace sinter::compiler;

namespace {

constexpr const char *tensor = "tensor<8x8xf32>";

/// Writes ops on tensors of one shape.
class StepText {
public:
  std::string argument() {
    std::string name = "%p" + std::to_string(numArguments++);
    arguments += (arguments.empty() ? "" : ", ") + name + ": " + tensor;
    return name;
  }
  std::string binary(const std::string &op, const std::string &a,
                     const std::string &b) {
    return define(op + " " + a + ", " + b + " : (" + tensor + ", " + tensor +
                  ") -> " + tensor);
  }
  std::string turned(const std::string &a) {
    return define("transpose " + a + " {permutation = array<i64: 1, 0>} : (" +
                  tensor + ") -> " + tensor);
  }
  /// The value less the sums of its columns.
  std::string centered(const std::string &a) {
    std::string sums =
        define("sum " + a + " {axes = array<i64: 0>, keepdims = true} : (" +
               tensor + ") -> tensor<1x8xf32>");
    std::string spread = define(
        "broadcast " + sums +
        " {shape = affine_map<() -> (8, 8)>} : (tensor<1x8xf32>) -> " + tensor);
    return binary("sub", a, spread);
  }
  std::string function(const std::vector<std::string> &results) const {
    std::string names, types;
    for (const std::string &result : results) {
      names += (names.empty() ? "" : ", ") + result;
      types += (types.empty() ? "" : ", ") + std::string(tensor);
    }
    return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body +
           "  return " + names + " : " + types + "\n}\n";
  }

private:
  std::string define(const std::string &op) {
    std::string name = "%v" + std::to_string(numValues++);
    body += "  " + name + " = sinter." + op + "\n";
    return name;
  }

  std::string arguments, body;
  unsigned numArguments = 0, numValues = 0;
};

} // namespace

/// A training step of `depth` residual blocks, each a product, a statistic over
/// the batch, and an update with momentum.
static std::string trainingStep(unsigned depth) {
  StepText text;
  struct Block {
    std::string weight, momentum, input, centered;
  };
  std::vector<Block> blocks;
  std::string x = text.argument(), rate = text.argument();
  for (unsigned i = 0; i < depth; ++i) {
    Block block{text.argument(), text.argument(), x, {}};
    block.centered = text.centered(text.binary("matmul", x, block.weight));
    x = text.binary("add", x, text.binary("maximum", block.centered, rate));
    blocks.push_back(block);
  }
  std::vector<std::string> results;
  std::string gradient = x;
  for (unsigned i = depth; i-- > 0;) {
    const Block &block = blocks[i];
    std::string inner =
        text.centered(text.binary("mul", gradient, block.centered));
    std::string ofWeight =
        text.binary("matmul", text.turned(block.input), inner);
    std::string momentum =
        text.binary("add", text.binary("mul", block.momentum, rate), ofWeight);
    results.push_back(momentum);
    results.push_back(
        text.binary("sub", block.weight, text.binary("mul", momentum, rate)));
    gradient =
        text.binary("add", gradient,
                    text.binary("matmul", inner, text.turned(block.weight)));
  }
  results.push_back(gradient);
  return text.function(results);
}

/// Edges that the search for cycles follows while kernels form.
static uint64_t edgesFollowed(const std::string &text) {
  mlir::MLIRContext context(compilerDialects(),
                            mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = importText(text, &context);
  if (!module) {
    ADD_FAILURE() << text;
    return 0;
  }
  FusionGraph graph(mainOf(*module), /*oneOpPerKernel=*/false);
  formKernels(graph, FuseOptions());
  return graph.numFollowed();
}

// A step that is four times as deep takes four times as much.
TEST(FusionCost, CyclesAreLookedForNearby) {
  uint64_t shallow = edgesFollowed(trainingStep(40));
  uint64_t deep = edgesFollowed(trainingStep(160));
  EXPECT_GT(shallow, 0u);
  EXPECT_LT(deep, 5 * shallow) << shallow << " edges, then " << deep;
}
