/// Draws random graphs.
#include "tests/property/RandomGraph.h"

#include "tests/property/DrawStep.h"
#include "tests/property/Watch.h"

#include <algorithm>

namespace sinter::property {

static bool isSmooth(const PropertyRow &row) {
  static constexpr std::string_view kinks[] = {
      "maximum", "minimum", "amax", "amin",   "relu", "where", "compare",
      "argmax",  "cast",    "div",  "log",    "sqrt", "rsqrt", "abs",
      "clamp",   "iota",    "full", "extent", "exp",  "sort"};
  return row.differentiable &&
         std::ranges::count(kinks, graph::info(row.op).name) == 0;
}

Recipe randomGraph(uint64_t seed, const GraphOptions &options) {
  Watch watch("drawing the graph of seed " + std::to_string(seed));
  RecipeDrawer drawer(seed, {.reuses = true,
                             .largestDim = options.largestDim,
                             .empties = options.empties,
                             .extremes = options.extremes});
  std::vector<const PropertyRow *> rows;
  for (const PropertyRow &row : propertyTable())
    if (isDrawable(row) && (!options.smooth || isSmooth(row)))
      rows.push_back(&row);
  for (size_t made = 0, tries = 0; made < options.steps && tries < 200;
       ++tries) {
    const PropertyRow &row =
        *rows[below(drawer.random, static_cast<int64_t>(rows.size()))];
    std::optional<DType> dtype;
    bool takesIt = row.operands.empty() ||
                   (row.operands[0].dtypes & graph::dtypeBit(options.dtype));
    if (takesIt && (options.smooth || below(drawer.random, 4) != 0))
      dtype = options.dtype;
    made += drawer.draw(row, dtype);
  }
  return drawer.finish();
}

} // namespace sinter::property
