/// Recording, drawing, printing and shrinking recipes.
#include "tests/property/Recipe.h"

#include "runtime/graph/Builders.h"
#include "runtime/reference/HostValue.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace sinter::property {

/// Whether a leaf is the weight of a convolution: its first dim is a number of
/// channels, which are never symbols.
static bool isWeight(const Recipe &recipe, size_t leaf) {
  return std::ranges::any_of(recipe.steps, [&](const RecipeStep &step) {
    std::string_view name = graph::info(step.op).name;
    return (name == "conv" || name == "conv_transpose") &&
           step.operands[1] == leaf;
  });
}

Result<Recording> record(const Recipe &recipe, RecordOptions options) {
  Recording result;
  for (const RecipeLeaf &leaf : recipe.leaves) {
    std::vector<Dim> dims(leaf.dims.begin(), leaf.dims.end());
    auto number = static_cast<uint32_t>(result.leaves.size());
    if (options.symbolic && !dims.empty() && !isWeight(recipe, number))
      dims[0].expr = dim_exprs::symbol(31337, number, dims[0].value);
    bool requiresGrad = options.requiresGrad && isFloat(leaf.dtype);
    result.leaves.push_back(graph::NodeFactory::lazyLeaf(
        leaf.dtype, dims, DeviceId(), requiresGrad));
  }
  result.values = result.leaves;
  for (const RecipeStep &step : recipe.steps) {
    std::vector<graph::NodeRef> operands;
    for (uint32_t operand : step.operands)
      operands.push_back(result.values[operand]);
    SINTER_TRY_ASSIGN(
        graph::NodeRef node,
        graph::buildOp(step.op, operands, step.attrs, DeviceId()));
    result.values.push_back(std::move(node));
  }
  for (uint32_t output : recipe.outputs)
    result.outputs.push_back(result.values[output]);
  return result;
}

//===- Elements -----------------------------------------------------------===//

static double drawReal(const Domain &domain, Random &random) {
  std::uniform_real_distribution<double> inside(domain.low, domain.high);
  double value = inside(random);
  while (std::abs(value - domain.avoid) < 0.1)
    value = inside(random);
  return value;
}

static int64_t drawInt(const RecipeLeaf &leaf, Random &random) {
  if (leaf.domain.kind == DomainKind::positions)
    return below(random, leaf.positions);
  auto low = static_cast<int64_t>(std::ceil(leaf.domain.low));
  auto high = static_cast<int64_t>(std::floor(leaf.domain.high));
  return low + below(random, high - low + 1);
}

/// NaNs of both signs and with a payload among them.
static double drawExtreme(DType dtype, Random &random) {
  double payload = std::bit_cast<double>(0x7ff9'2000'0000'0000);
  double tiny = dtype == DType::f64 ? 0x1p-1060 : 0x1p-140;
  if (dtype == DType::f16)
    tiny = 0x1p-20;
  double choices[] = {NAN, payload, INFINITY, 0.0, tiny};
  double value = choices[below(random, std::size(choices))];
  return below(random, 2) ? value : -value;
}

reference::HostTensor drawLeaf(const RecipeLeaf &leaf) {
  Random random(leaf.seed);
  reference::HostValue value(leaf.dtype, leaf.dims);
  int64_t count = value.elements();
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const Domain &domain = leaf.domain;
  for (int64_t i = 0; i < count; ++i) {
    if (!value.isReal()) {
      value.set(i, drawInt(leaf, random));
      continue;
    }
    double real = drawReal({DomainKind::reals, 0, 1, noPoint}, random);
    if (domain.kind == DomainKind::distinct)
      real = domain.low + (domain.high - domain.low) *
                              (static_cast<double>(order[i]) + real) /
                              static_cast<double>(count);
    else if (domain.kind == DomainKind::integers)
      real = static_cast<double>(drawInt(leaf, random));
    else
      real = drawReal(domain, random);
    if (leaf.extremes && below(random, 4) == 0)
      real = drawExtreme(leaf.dtype, random);
    value.set(i, reference::roundTo(leaf.dtype, real));
  }
  return reference::encode(value);
}

std::vector<reference::HostTensor> drawLeaves(const Recipe &recipe) {
  std::vector<reference::HostTensor> result;
  for (const RecipeLeaf &leaf : recipe.leaves)
    result.push_back(drawLeaf(leaf));
  return result;
}

//===- Printing -----------------------------------------------------------===//

std::string toString(const Recipe &recipe) {
  Result<Recording> nodes = record(recipe);
  if (!nodes)
    return nodes.error().message;
  std::string text;
  for (size_t i = 0; i < recipe.numValues(); ++i) {
    std::string what = "leaf";
    if (i >= recipe.leaves.size()) {
      const RecipeStep &step = recipe.steps[i - recipe.leaves.size()];
      what = graph::info(step.op).name;
      for (uint32_t operand : step.operands)
        what += fmt::format(" %{}", operand);
      if (!step.attrs.empty())
        what += fmt::format(" {{{}}}", fmt::join(step.attrs, " "));
    }
    text += fmt::format("%{} = {} : {}\n", i, what,
                        graph::typeString(*nodes->values[i]));
  }
  return text + fmt::format("return %{}\n", fmt::join(recipe.outputs, ", %"));
}

//===- Shrinking ----------------------------------------------------------===//

/// Drops what no output needs.
static Recipe pruned(const Recipe &recipe) {
  std::vector<bool> needed(recipe.numValues());
  for (uint32_t output : recipe.outputs)
    needed[output] = true;
  size_t numLeaves = recipe.leaves.size();
  for (size_t i = recipe.numValues(); i-- > numLeaves;)
    if (needed[i])
      for (uint32_t operand : recipe.steps[i - numLeaves].operands)
        needed[operand] = true;
  std::vector<uint32_t> numbers(recipe.numValues());
  Recipe result;
  uint32_t next = 0;
  for (size_t i = 0; i < recipe.numValues(); ++i) {
    numbers[i] = next;
    if (!needed[i])
      continue;
    ++next;
    if (i < numLeaves) {
      result.leaves.push_back(recipe.leaves[i]);
      continue;
    }
    RecipeStep step = recipe.steps[i - numLeaves];
    for (uint32_t &operand : step.operands)
      operand = numbers[operand];
    result.steps.push_back(std::move(step));
  }
  for (uint32_t output : recipe.outputs)
    result.outputs.push_back(numbers[output]);
  return result;
}

/// Step `index` replaced by a leaf of its type.
static Recipe withLeaf(const Recipe &recipe, size_t index) {
  Result<Recording> nodes = record(recipe);
  size_t numLeaves = recipe.leaves.size();
  const graph::NodeRef &node = nodes->values[numLeaves + index];
  RecipeLeaf leaf;
  leaf.dtype = node->dtype();
  leaf.seed = index + 1;
  for (Dim dim : node->dims())
    leaf.dims.push_back(dim.value);
  if (leaf.dtype == DType::boolean)
    leaf.domain = {DomainKind::integers, 0, 1, noPoint};
  // The new leaf stands behind the others; the step's users name it.
  auto renumber = [&](uint32_t value) {
    if (value < numLeaves)
      return value;
    return value == numLeaves + index ? uint32_t(numLeaves) : value + 1;
  };
  Recipe result = recipe;
  result.leaves.push_back(std::move(leaf));
  for (RecipeStep &step : result.steps)
    for (uint32_t &operand : step.operands)
      operand = renumber(operand);
  for (uint32_t &output : result.outputs)
    output = renumber(output);
  return pruned(result);
}

static std::vector<Recipe> smallerOnes(const Recipe &recipe) {
  std::vector<Recipe> result;
  if (recipe.outputs.size() > 1)
    for (uint32_t output : recipe.outputs) {
      Recipe one = recipe;
      one.outputs = {output};
      result.push_back(pruned(one));
    }
  size_t numLeaves = recipe.leaves.size();
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    Recipe cut = recipe;
    cut.outputs = {static_cast<uint32_t>(numLeaves + i)};
    result.push_back(pruned(cut));
    result.push_back(withLeaf(recipe, i));
  }
  std::erase_if(result, [&](const Recipe &smaller) {
    return smaller.steps.empty() ||
           smaller.steps.size() + smaller.outputs.size() >=
               recipe.steps.size() + recipe.outputs.size();
  });
  std::ranges::stable_sort(
      result, {}, [](const Recipe &smaller) { return smaller.steps.size(); });
  return result;
}

Recipe shrink(Recipe recipe, const std::function<bool(const Recipe &)> &fails) {
  int attempts = 200;
  for (bool progress = true; progress;) {
    progress = false;
    for (const Recipe &smaller : smallerOnes(recipe)) {
      if (attempts-- <= 0)
        return recipe;
      if (!fails(smaller))
        continue;
      recipe = smaller;
      progress = true;
      break;
    }
  }
  return recipe;
}

} // namespace sinter::property
