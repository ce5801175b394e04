/// Recipes and calls as problems to compile and run.
#include "tests/property/Problem.h"

#include "tests/property/Watch.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

namespace sinter::property {

using reference::HostTensor;

static Result<Problem> problemOf(std::span<const graph::NodeRef> outputs,
                                 const std::vector<graph::NodeRef> &leaves,
                                 const std::vector<HostTensor> &tensors) {
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice(outputs));
  Problem problem;
  for (const graph::NodeRef &input : slice.inputs)
    problem.inputs.push_back(
        tensors[std::ranges::find(leaves, input) - leaves.begin()]);
  problem.graph = std::move(slice.graph);
  return problem;
}

Result<Problem> problemOf(const Recipe &recipe, RecordOptions options) {
  SINTER_TRY_ASSIGN(Recording nodes, record(recipe, options));
  return problemOf(nodes.outputs, nodes.leaves, drawLeaves(recipe));
}

Result<Problem> problemOf(const Case &call) {
  std::vector<graph::NodeRef> leaves;
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    leaves.push_back(leafFor(call, i));
    tensors.push_back(reference::encode(call.operands[i]));
  }
  SINTER_TRY_ASSIGN(graph::NodeRef output, record(call, leaves));
  return problemOf({&output, 1}, leaves, tensors);
}

Result<std::vector<HostTensor>>
runCompiled(const Problem &problem, const runtime::CompileRequest &request,
            runtime::RunCounters *counters) {
  SINTER_TRY_ASSIGN(auto program, compileGraph(problem.graph, request));
  return runProgram(*program, problem.inputs, counters);
}

static uint64_t numberIn(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::vector<uint64_t> graphNumbers(uint64_t step, uint64_t first) {
  uint64_t count = numberIn("SINTER_TEST_GRAPHS", 200);
  if (std::getenv("SINTER_TEST_HALF")) {
    first += step * numberIn("SINTER_TEST_HALF", 0);
    step *= 2;
  }
  std::vector<uint64_t> numbers;
  for (uint64_t i = first; i < count; i += step)
    numbers.push_back(i);
  return numbers;
}

uint64_t graphSeed(uint64_t index) { return runSeed() * 1000003 + index; }

void expectNone(const Recipe &recipe, uint64_t seed,
                const std::function<std::string(const Recipe &)> &failure) {
  Watch watch("seed " + std::to_string(seed) + ":\n" + toString(recipe));
  std::string text = failure(recipe);
  if (text.empty())
    return;
  Recipe small = shrink(recipe, [&](const Recipe &smaller) {
    Watch watch("shrinking:\n" + toString(smaller));
    return !failure(smaller).empty();
  });
  ADD_FAILURE() << "seed " << seed << ": " << text
                << "\nsmallest: " << failure(small) << "\n"
                << toString(small);
}

} // namespace sinter::property
