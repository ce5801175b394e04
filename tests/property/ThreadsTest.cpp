/// The number of threads changes no bit: digests of child processes.
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/Builders.h"
#include "tests/property/Cases.h"
#include "tests/property/Compiled.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

using namespace sinter;
using namespace sinter::property;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

using Axes = std::vector<int64_t>;

static NodeRef leaf(std::vector<Dim> dims, DType dtype = DType::f32) {
  return graph::NodeFactory::lazyLeaf(dtype, dims, DeviceId(), isFloat(dtype));
}

/// Graphs large enough that the pool takes part.
static std::vector<NodeRef> largeOutputs() {
  NodeRef x = leaf({700, 513}), w = leaf({513, 129});
  NodeRef labels = leaf({700}, DType::i64);
  NodeRef logits = *graph::matmul(x, w);
  NodeRef loss = *graph::cross_entropy(logits, labels);
  NodeRef one = *graph::full({}, 1.0, DType::f32, DeviceId());
  NodeRef gradient = (*autodiff::gradients(loss, one, {&w, 1}))[0];
  NodeRef positions = leaf({700, 513}, DType::i64);
  return {loss,
          gradient,
          *graph::softmax(x, 1),
          *graph::sum(x, Axes{0}, false),
          *graph::sum(*graph::mul(x, x), Axes{0, 1}, false),
          *graph::amax(x, Axes{1}, false),
          *graph::argmax(x, 0, false),
          *graph::cumsum(x, 0, true),
          *graph::sort(x, 1, true, Dim(513)),
          *graph::argsort(x, 0, false, Dim(20)),
          *graph::gelu(*graph::transpose(x, Axes{1, 0}), GeluForm::tanh),
          *graph::scatter_add(x, positions, x, 1)};
}

static HostTensor drawTensor(const graph::Node &node, uint64_t seed) {
  Rng rng(seed);
  std::vector<int64_t> dims;
  for (Dim dim : node.dims())
    dims.push_back(dim.value);
  HostValue value(node.dtype(), dims);
  for (int64_t i = 0, count = value.elements(); i < count; ++i) {
    if (value.isReal())
      value.set(i, drawReal(rng, -2, 2));
    else
      value.set(i, drawInt(rng, 0, 128));
  }
  return reference::encode(value);
}

/// What a child process prints.
TEST(Threads, DISABLED_PrintDigests) {
  Result<graph::Slice> slice = graph::slice(largeOutputs());
  ASSERT_TRUE(slice) << slice.error().message;
  std::vector<HostTensor> inputs;
  for (const NodeRef &input : slice->inputs)
    inputs.push_back(drawTensor(*input, 7 + inputs.size()));
  auto program = compileGraph(slice->graph);
  ASSERT_TRUE(program) << program.error().message;
  auto outputs = runProgram(**program, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  for (const HostTensor &output : *outputs)
    fmt::print("digest {:016x}\n",
               XXH3_64bits(output.data.data(), output.data.size()));
}

/// The digests that a process with `threads` threads prints.
static std::vector<std::string> digestsWith(int threads) {
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string command =
      fmt::format("GTEST_TOTAL_SHARDS=1 GTEST_SHARD_INDEX=0 "
                  "SINTER_THREADS={} '{}' --gtest_also_run_disabled_tests "
                  "--gtest_filter=Threads.DISABLED_PrintDigests",
                  threads, self);
  FILE *pipe = popen(command.c_str(), "r");
  std::vector<std::string> digests;
  char line[256];
  while (pipe && std::fgets(line, sizeof(line), pipe))
    if (std::string_view(line).starts_with("digest"))
      digests.emplace_back(line);
  if (pipe)
    pclose(pipe);
  return digests;
}

TEST(Threads, OneAndTwoAndThreeGiveTheSameBits) {
  std::vector<std::string> one = digestsWith(1);
  EXPECT_EQ(one.size(), 12u);
  EXPECT_EQ(digestsWith(2), one);
  EXPECT_EQ(digestsWith(3), one);
}
