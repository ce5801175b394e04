/// Recipe: a small graph as data, so that tests can print and shrink it.
#pragma once

#include "runtime/reference/Reference.h"
#include "sinter/runtime/Node.h"
#include "tests/property/PropertyTable.h"

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace sinter::property {

using Random = std::mt19937_64;

/// A uniform number in [0, count).
inline int64_t below(Random &random, int64_t count) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
}

/// An input and what its elements are drawn from.
struct RecipeLeaf {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  Domain domain{DomainKind::reals, -4, 4, noPoint};
  int64_t positions = 1; ///< of domain `positions`: exclusive limit
  uint64_t seed = 0;
  /// A quarter of the elements are NaNs, infinities, zeros or denormals.
  bool extremes = false;
};

/// One op; operands number the leaves first, then the steps.
struct RecipeStep {
  graph::OpId op;
  std::vector<uint32_t> operands;
  std::vector<uint64_t> attrs;
};

struct Recipe {
  std::vector<RecipeLeaf> leaves;
  std::vector<RecipeStep> steps;
  std::vector<uint32_t> outputs;

  size_t numValues() const { return leaves.size() + steps.size(); }
};

/// The nodes of a recipe.
struct Recording {
  std::vector<graph::NodeRef> leaves;
  std::vector<graph::NodeRef> values; ///< leaves, then steps
  std::vector<graph::NodeRef> outputs;
};
struct RecordOptions {
  bool requiresGrad = false; ///< of the float leaves
  bool symbolic = false;     ///< every leaf's first dim is a symbol of its own
};
Result<Recording> record(const Recipe &recipe, RecordOptions options = {});

/// The elements of a leaf: the same for the same recipe.
reference::HostTensor drawLeaf(const RecipeLeaf &leaf);
std::vector<reference::HostTensor> drawLeaves(const Recipe &recipe);

/// One line per value.
std::string toString(const Recipe &recipe);

/// The smallest recipe found that still fails.
Recipe shrink(Recipe recipe, const std::function<bool(const Recipe &)> &fails);

} // namespace sinter::property
