/// Small recorded graphs for tests of the compiler.
#pragma once

#include "runtime/graph/Builders.h"
#include "sinter/runtime/Graph.h"
#include "sinter/runtime/Result.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sinter::test {

/// The value, or a test failure that says why there is none.
template <typename T> T get(Result<T> result) {
  if (!result)
    ADD_FAILURE() << result.error().message;
  return result ? std::move(*result) : T();
}

/// A leaf without a value, for graphs that are only compiled.
graph::NodeRef leaf(DType dtype, std::vector<Dim> dims);

/// The numbered graph of these outputs.
graph::Graph graphOf(std::vector<graph::NodeRef> outputs);

/// relu(x w + b): f32[rows,8] x f32[8,4]. With `symbolic`, rows is a symbol.
graph::Graph linearLayer(int64_t rows, bool symbolic);

/// A layer, softmax of its result, and sums along both axes.
graph::Graph layerWithStatistics(int64_t rows, bool symbolic);

} // namespace sinter::test
