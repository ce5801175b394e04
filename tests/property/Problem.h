/// Problem: a recipe as a graph with inputs, and ways to run it.
#pragma once

#include "tests/property/Cases.h"
#include "tests/property/Compiled.h"
#include "tests/property/Recipe.h"

namespace sinter::property {

/// A graph and its inputs.
struct Problem {
  graph::Graph graph;
  std::vector<reference::HostTensor> inputs;
};

Result<Problem> problemOf(const Recipe &recipe, RecordOptions options = {});
/// Of one call.
Result<Problem> problemOf(const Case &call);

/// Compiles and runs.
Result<std::vector<reference::HostTensor>>
runCompiled(const Problem &problem, const runtime::CompileRequest &request,
            runtime::RunCounters *counters = nullptr);

/// The numbers of the random graphs that a run draws, every `step`th from
/// `first`: of SINTER_TEST_GRAPHS, else 200. Where SINTER_TEST_HALF is 0 or 1,
/// every second of these, beginning there.
std::vector<uint64_t> graphNumbers(uint64_t step = 1, uint64_t first = 0);
/// The seed of a run's graph number `index`.
uint64_t graphSeed(uint64_t index);

/// Fails the test with the smallest recipe found for which `failure` gives a
/// text, if it gives one for this.
void expectNone(const Recipe &recipe, uint64_t seed,
                const std::function<std::string(const Recipe &)> &failure);

} // namespace sinter::property
