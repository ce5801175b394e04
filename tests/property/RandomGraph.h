/// RandomGraph: recipes of several ops over shared values.
#pragma once

#include "tests/property/DrawLarge.h"
#include "tests/property/Recipe.h"

#include <optional>

namespace sinter::property {

struct GraphOptions {
  size_t steps = 12;
  /// The dtype of most values; other dtypes come from casts and sources.
  DType dtype = DType::f32;
  /// Only ops with a continuous gradient, over floats.
  bool smooth = false;
  bool empties = true;
  int64_t largestDim = 5;
  /// For comparisons by bits: leaves hold NaNs, infinities, zeros of both signs
  /// and denormals too, and any op reads any value.
  bool extremes = false;
  /// Begins with a product, pointwise ops on it and something that takes rows
  /// of that.
  bool rowsOfProduct = false;
  /// Begins with single numbers that are stored and read by others, as counts
  /// of steps are.
  bool numbers = false;
  /// Begins with something that is too much for one kernel: so many operands,
  /// or ops in a row.
  Large large = Large::none;
  size_t largeCount = 0;
  /// Every third op is a slice or a pad.
  bool slices = false;
};

/// Makes one graph in twenty begin with something large, of each kind in turn.
void drawLargeAt(uint64_t index, GraphOptions &options);

/// The same seed and options give the same graph.
Recipe randomGraph(uint64_t seed, const GraphOptions &options);

} // namespace sinter::property
