/// Draws random graphs.
#include "tests/property/RandomGraph.h"

#include "runtime/graph/OpIds.h"
#include "tests/property/DrawStep.h"
#include "tests/property/Watch.h"

#include <algorithm>

namespace sinter::property {

/// Whether an op takes any number and answers without jumps, bends or growth.
static bool isSmooth(const PropertyRow &row) {
  static constexpr std::string_view others[] = {
      "where",       "compare",      "argmax",      "argmin",      "cast",
      "clamp",       "iota",         "full",        "extent",      "sort",
      "floor",       "ceil",         "trunc",       "round",       "isnan",
      "isinf",       "isfinite",     "signbit",     "all",         "any",
      "logical_and", "logical_or",   "logical_xor", "logical_not", "exp",
      "exp2",        "expm1",        "sinh",        "cosh",        "amax",
      "amin",        "count_nonzero"};
  auto isLimited = [](const OperandRow &operand) {
    const Domain &domain = operand.domain;
    return domain.kind == DomainKind::distinct ||
           (domain.kind == DomainKind::reals &&
            (domain.low > -4 || domain.high < 4 || domain.avoid != noPoint));
  };
  return row.differentiable && std::ranges::none_of(row.operands, isLimited) &&
         std::ranges::count(others, graph::info(row.op).name) == 0;
}

using Rows = std::vector<const PropertyRow *>;

static Rows rowsOf(const Rows &rows,
                   std::initializer_list<std::string_view> names) {
  Rows found;
  for (const PropertyRow *row : rows)
    if (std::ranges::count(names, graph::info(row->op).name))
      found.push_back(row);
  return found;
}

static void drawRowsOfProduct(RecipeDrawer &drawer, const Rows &rows,
                              DType dtype) {
  static const auto pick = [](RecipeDrawer &drawer, const Rows &from) {
    return from[below(drawer.random, static_cast<int64_t>(from.size()))];
  };
  Rows products = rowsOf(rows, {"matmul"});
  Rows between = rowsOf(rows, {"add", "mul", "sub", "relu", "tanh", "neg"});
  Rows after = rowsOf(rows, {"softmax", "log_softmax", "layer_norm", "sum",
                             "mean", "amax", "amin", "argmax"});
  if (products.empty() || between.empty() || after.empty() ||
      !drawer.draw(*products[0], dtype))
    return;
  for (int64_t count = below(drawer.random, 3); count > 0; --count)
    drawer.drawOnLast(*pick(drawer, between));
  drawer.drawOnLast(*pick(drawer, after));
}

static void drawNumbers(RecipeDrawer &drawer, const Rows &rows, DType dtype) {
  static constexpr graph::OpId ops[] = {graph::OpId::add, graph::OpId::mul,
                                        graph::OpId::sub, graph::OpId::maximum};
  if (dtype == DType::boolean) // no arithmetic
    dtype = DType::f32;
  Rows spread = rowsOf(rows, {"broadcast"});
  Rows readers = rowsOf(rows, {"add", "mul", "sub", "sum", "mean", "matmul"});
  auto draw = [&](size_t count) {
    return size_t(below(drawer.random, int64_t(count)));
  };
  for (size_t chains = 1 + draw(3); chains > 0; --chains) {
    std::vector<int64_t> dims(draw(3), 1);
    Domain domain{DomainKind::reals, -4, 4, noPoint};
    uint32_t value = drawer.addLeaf(dtype, dims, domain);
    uint32_t other = drawer.addLeaf(dtype, dims, domain);
    for (size_t length = 1 + draw(4); length > 0; --length) {
      value = drawer.apply(ops[draw(std::size(ops))], {value, other});
      if (draw(3) > 0)
        drawer.store(value);
      if (!spread.empty() && draw(2) == 0 && drawer.drawOnLast(*spread[0]))
        drawer.drawOnLast(*readers[draw(readers.size())]);
    }
  }
}

void drawLargeAt(uint64_t index, GraphOptions &options) {
  constexpr uint64_t every = 20, rarely = 20;
  static constexpr size_t operands[] = {32, 64, 33, 48};
  uint64_t number = index / every;
  // Tests take every second graph, or every fourth.
  if (index % every != every - 1 - (number + number / 4) % 4)
    return;
  options.large = static_cast<Large>(1 + number % (numLarge - 1));
  if (options.large == Large::join)
    options.largeCount = number % rarely == 0 && number > 0
                             ? 1000
                             : operands[number / 4 % std::size(operands)];
  else if (options.large == Large::recurrence)
    options.largeCount = 32 + number % 3;
  else
    options.largeCount = 300;
}

Recipe randomGraph(uint64_t seed, const GraphOptions &options) {
  Watch watch("drawing the graph of seed " + std::to_string(seed));
  RecipeDrawer drawer(seed, {.reuses = true,
                             .largestDim = options.largestDim,
                             .empties = options.empties,
                             .extremes = options.extremes});
  Rows rows;
  for (const PropertyRow &row : propertyTable())
    if (isDrawable(row) && (!options.smooth || isSmooth(row)))
      rows.push_back(&row);
  if (options.rowsOfProduct)
    drawRowsOfProduct(drawer, rows, options.dtype);
  if (options.numbers)
    drawNumbers(drawer, rows, options.dtype);
  drawLarge(drawer, options.large, options.largeCount, options.dtype);
  Rows slices = rowsOf(rows, {"slice", "pad"});
  for (size_t made = 0, tries = 0; made < options.steps && tries < 200;
       ++tries) {
    const Rows &from =
        options.slices && below(drawer.random, 3) == 0 ? slices : rows;
    const PropertyRow &row =
        *from[below(drawer.random, static_cast<int64_t>(from.size()))];
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
