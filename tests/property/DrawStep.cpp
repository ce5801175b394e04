/// Draws steps: the shape rule's name says which shapes go together.
#include "tests/property/DrawStep.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "tests/property/DrawWindows.h"

#include <algorithm>
#include <numeric>

namespace sinter::property {

using graph::PatternKind;

//===- Shapes and dtypes --------------------------------------------------===//

int64_t RecipeDrawer::drawDim() {
  if (options.empties && coin(24))
    return 0;
  return coin(5) ? 1 : 1 + below(random, options.largestDim);
}

std::vector<int64_t> RecipeDrawer::drawDims(size_t leastRank) {
  std::vector<int64_t> dims(leastRank + below(random, 4 - leastRank));
  int64_t elements = 1;
  for (int64_t &dim : dims) {
    dim = drawDim();
    if (elements * dim > 4096)
      dim = 1 + below(random, 3);
    elements *= std::max<int64_t>(dim, 1);
  }
  return dims;
}

/// Those that have arithmetic.
static graph::DTypeSet computedDTypes() {
  graph::DTypeSet set = 0;
  for (unsigned code = 0; code < numDTypes; ++code)
    if (isComputable(DType(code)))
      set |= graph::dtypeBit(DType(code));
  return set;
}

DType RecipeDrawer::drawDType(graph::DTypeSet allowed) {
  for (;;) {
    auto type = static_cast<DType>(below(random, numDTypes));
    if (allowed & graph::dtypeBit(type))
      return type;
  }
}

static size_t leastRankOf(std::string_view rule) {
  if (rule == "matmul" || rule == "crossEntropy" || rule == "embedding" ||
      rule.starts_with("attention"))
    return 2;
  bool needsAxis = rule == "argmax" || rule == "prefix" || rule == "concat" ||
                   rule == "gather" || rule == "scatter" ||
                   rule == "indexSelect" || rule == "layerNorm" ||
                   rule == "slice" || rule == "reduce" ||
                   rule.starts_with("dynamic") || rule.starts_with("sorted") ||
                   rule == "sameAsFirst" || rule == "transpose";
  return needsAxis ? 1 : 0;
}

RecipeDrawer::Wanted RecipeDrawer::drawFirst(const PropertyRow &row,
                                             std::optional<DType> dtype) {
  graph::DTypeSet allowed = row.operands[0].dtypes;
  if (dtype)
    allowed = graph::dtypeBit(*dtype);
  size_t leastRank = leastRankOf(row.shapeRule);
  // Steps rather than leaves, so that graphs become deep.
  for (const auto *values : {&made, &leaves}) {
    std::vector<const Known *> fitting;
    for (const Known &value : *values)
      if (allowed & graph::dtypeBit(value.dtype) &&
          value.dims.size() >= leastRank)
        fitting.push_back(&value);
    if (!options.reuses || fitting.empty() || coin(5))
      continue;
    const Known &value = *fitting[below(random, int64_t(fitting.size()))];
    return {value.dtype, value.dims};
  }
  return {drawDType(allowed), drawDims(leastRank), 1, true};
}

//===- Plans --------------------------------------------------------------===//

static int64_t elementsOf(const std::vector<int64_t> &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1),
                         std::multiplies<>());
}

bool RecipeDrawer::planView(std::string_view rule, Plan &plan) {
  const std::vector<int64_t> dims = plan.operands[0].dims;
  size_t rank = dims.size();
  if (rule == "reshape") {
    plan.shape = {elementsOf(dims)};
    if (coin() && rank > 1)
      plan.shape.assign(dims.rbegin(), dims.rend());
    else if (coin() && plan.shape[0] % 2 == 0)
      plan.shape = {2, 1, plan.shape[0] / 2};
  } else if (rule == "transpose") {
    plan.permutation.resize(rank);
    std::iota(plan.permutation.begin(), plan.permutation.end(), 0);
    std::shuffle(plan.permutation.begin(), plan.permutation.end(), random);
  } else if (rule == "broadcast") {
    plan.shape = dims;
    for (int64_t &dim : plan.shape)
      dim = dim == 1 ? below(random, 4) + !options.empties : dim;
    if (coin())
      plan.shape.insert(plan.shape.begin(), 1 + below(random, 3));
  } else if (rule == "slice") {
    for (int64_t dim : dims) {
      plan.starts.push_back(below(random, dim + 1));
      plan.limits.push_back(plan.starts.back() +
                            below(random, dim - plan.starts.back() + 1));
      plan.steps.push_back(1 + below(random, 3));
    }
  } else if (rule == "pad") {
    for (int64_t dim : dims) {
      plan.low.push_back(below(random, 3));
      plan.interior.push_back(below(random, 3));
      int64_t spread =
          std::max<int64_t>(0, (dim - 1) * (plan.interior.back() + 1) + 1);
      plan.shape.push_back(plan.low.back() + spread + below(random, 3));
    }
  } else if (rule == "dynamicSlice" || rule == "dynamicPad") {
    plan.operands.push_back({DType::i64, {}, 1, coin()});
  } else if (rule == "concat") {
    for (int64_t more = below(random, 3); more > 0; --more) {
      plan.operands.push_back(plan.operands[0]);
      plan.operands.back().dims[plan.axis] = drawDim();
    }
  } else {
    return false;
  }
  return true;
}

bool RecipeDrawer::planIndexed(std::string_view rule, size_t count,
                               Plan &plan) {
  const Wanted x = plan.operands[0];
  if (rule == "gather" || rule == "scatter") {
    Wanted indices{coin() ? DType::i64 : DType::i32, x.dims, x.dims[plan.axis],
                   true};
    indices.dims[plan.axis] = x.dims[plan.axis] == 0 ? 0 : drawDim();
    plan.operands.push_back(indices);
    if (rule == "scatter")
      plan.operands.push_back({x.dtype, indices.dims});
    return true;
  }
  if (rule == "indexSelect" || rule == "embedding") {
    int64_t axis = rule == "embedding" ? 0 : plan.axis;
    if (x.dims[axis] == 0 || (rule == "embedding" && x.dims.size() != 2))
      return false;
    std::vector<int64_t> dims{drawDim()};
    if (rule == "embedding" && coin())
      dims.push_back(1 + below(random, 3));
    plan.operands.push_back(
        {coin() ? DType::i64 : DType::i32, dims, x.dims[axis], true});
    return true;
  }
  if (rule == "withNumbers") {
    while (plan.operands.size() < count)
      plan.operands.push_back(
          {x.dtype, coin() ? x.dims : std::vector<int64_t>{}});
    return true;
  }
  if (rule == "dropout") {
    plan.operands.resize(4, {DType::i64, {}, 1, true});
    return true;
  }
  if (rule == "crossEntropy") {
    if (x.dims.size() != 2 || x.dims[1] == 0)
      return false;
    plan.operands.push_back({DType::i64, {x.dims[0]}, x.dims[1], true});
    return true;
  }
  if (rule == "layerNorm") {
    plan.operands.resize(3, {x.dtype, {x.dims.back()}});
    return x.dims.back() > 0;
  }
  if (rule.starts_with("attention")) {
    // The compiler makes no longer rows
    // (compiler/lower/attention/AttentionBlock.h).
    constexpr int64_t longestRow = 512;
    if (x.dims.back() > longestRow)
      return false;
    int64_t rank = int64_t(x.dims.size()),
            keys = std::max<int64_t>(drawDim(), 1);
    auto wanted = [&](int64_t rows, int64_t columns) {
      Wanted result{x.dtype, x.dims};
      result.dims[rank - 2] = rows;
      result.dims[rank - 1] = columns;
      return result;
    };
    int64_t queries = x.dims[rank - 2], length = drawDim();
    Wanted key = wanted(keys, x.dims[rank - 1]), value = wanted(keys, length);
    Wanted mask = coin() ? wanted(queries, keys) : Wanted{x.dtype, {}};
    Wanted grad = wanted(queries, length), number = wanted(queries, 1);
    if (rule == "attention")
      plan.operands = {x, key, value, mask};
    else
      plan.operands = {x, key, mask, value, grad, number, number};
    plan.operands.resize(count);
    return true;
  }
  if (rule == "matmul") {
    Wanted rhs = x;
    rhs.isNew = false;
    rhs.dims[x.dims.size() - 2] = x.dims.back();
    rhs.dims.back() = drawDim();
    plan.operands.push_back(rhs);
    return true;
  }
  return false;
}

bool RecipeDrawer::planWindows(std::string_view rule, Plan &plan) {
  const Wanted x = plan.operands[0];
  std::vector<std::vector<int64_t>> shapes{x.dims};
  if (rule == "conv" || rule == "convTranspose" || rule == "convWeight") {
    if (x.dims.size() != 3)
      return false;
    // What x has decides the channels.
    shapes = windowShapes(rule, x.dims, random);
    plan.operands = {{x.dtype, shapes[0], 1, true}, {x.dtype, shapes[1]}};
  }
  auto words = drawWindowAttrs(rule, shapes, random);
  if (words)
    plan.words = std::move(*words);
  return words.has_value();
}

/// Ops whose axis must not be empty.
static bool needsElements(const PropertyRow &row) {
  return row.shapeRule == "argmax" || row.shapeRule == "reduce" ||
         row.shapeRule == "sameAsFirst";
}

std::optional<RecipeDrawer::Plan> RecipeDrawer::plan(const PropertyRow &row,
                                                     Wanted first) {
  Plan result;
  result.dtype = first.dtype;
  std::string_view rule = row.shapeRule;
  if (rule == "source" || rule == "full" || rule == "scalar" ||
      rule == "random") {
    result.shape = first.dims;
    for (size_t i = 0; i < row.operands.size(); ++i)
      result.operands.push_back({DType::i64, {}, 1, true});
    if (!first.dims.empty())
      result.axis = below(random, int64_t(first.dims.size()));
    return result;
  }
  if (rule == "cast")
    result.dtype = drawDType(computedDTypes());
  size_t rank = first.dims.size();
  if (rank > 0)
    result.axis = below(random, int64_t(rank));
  for (size_t i = 0; i < rank; ++i)
    if (coin())
      result.axes.push_back(static_cast<int64_t>(i));
  if (needsElements(row) && std::ranges::count(first.dims, 0) > 0)
    return std::nullopt;
  result.operands = {first};
  if (rule == "where") {
    result.operands[0] = {DType::boolean, first.dims};
    Wanted side{drawDType(row.operands[1].dtypes), first.dims};
    result.operands.resize(3, side);
    return result;
  }
  if (isWindowRule(rule)) {
    if (!planWindows(rule, result))
      return std::nullopt;
    return result;
  }
  if (planView(rule, result) || planIndexed(rule, row.operands.size(), result))
    return result;
  if (leastRankOf(rule) == 2 || rule == "layerNorm" || rule == "indexSelect")
    return std::nullopt;
  if (rule == "squeeze")
    std::erase_if(result.axes,
                  [&](int64_t axis) { return first.dims[axis] != 1; });
  Wanted other = first;
  other.isNew = false;
  result.operands.resize(row.operands.size(), other);
  return result;
}

//===- Attributes ---------------------------------------------------------===//

static std::vector<Dim> dimsOf(const std::vector<int64_t> &values) {
  return {values.begin(), values.end()};
}

std::vector<uint64_t> RecipeDrawer::attrs(const PropertyRow &row,
                                          const Plan &plan) {
  if (!plan.words.empty())
    return plan.words;
  graph::AttrWriter writer;
  auto ints = [&](std::string_view name) -> const std::vector<int64_t> & {
    if (name == "axes")
      return plan.axes;
    if (name == "permutation")
      return plan.permutation;
    if (name == "starts")
      return plan.starts;
    if (name == "steps")
      return plan.steps;
    return name == "low" ? plan.low : plan.interior;
  };
  for (const graph::AttrSpec &spec : graph::info(row.op).attrs) {
    switch (spec.kind) {
    case graph::AttrKind::boolean:
      writer.boolean(coin());
      break;
    case graph::AttrKind::integer:
      writer.integer(plan.axis);
      break;
    case graph::AttrKind::real:
      // Views often make rows of equal numbers, for which a small eps turns
      // the last bit of their mean into a visible difference.
      writer.real(coin() ? 1e-5 : coin() ? 1e-3 : 0.5);
      break;
    case graph::AttrKind::number:
      writer.number(coin() ? Number(below(random, 3)) : Number(0.75));
      break;
    case graph::AttrKind::dtype:
      writer.dtype(plan.dtype);
      break;
    case graph::AttrKind::choice:
      writer.choice(below(random, 1 + std::ranges::count(spec.choices, ',')));
      break;
    case graph::AttrKind::ints:
      writer.ints(ints(spec.name));
      break;
    case graph::AttrKind::dim:
      if (std::string_view(row.shapeRule).starts_with("sorted")) {
        // All of the axis, or its first few.
        int64_t length = plan.operands[0].dims[plan.axis];
        writer.dim(Dim(coin() ? length : below(random, length + 1)));
      } else if (row.shapeRule == "dynamicSlice") {
        writer.dim(Dim(below(random, plan.operands[0].dims[plan.axis] + 1)));
      } else if (row.shapeRule == "dynamicPad") {
        writer.dim(Dim(plan.operands[0].dims[plan.axis] + below(random, 4)));
      } else {
        writer.dim(Dim(1 + below(random, 9)));
      }
      break;
    case graph::AttrKind::dims:
      writer.dims(dimsOf(spec.name == "limits" ? plan.limits : plan.shape));
      break;
    case graph::AttrKind::text:
      break; // no such op is drawn
    }
  }
  std::span<const uint64_t> words = writer.view();
  return {words.begin(), words.end()};
}

//===- Placing ------------------------------------------------------------===//

const RecipeDrawer::Known &RecipeDrawer::at(uint32_t value) const {
  return value < firstStep ? leaves[value] : made[value - firstStep];
}

/// Ops whose result jumps: on floats their operands must be exact, or a last
/// bit that differs shows as another result.
static bool jumps(graph::OpId op) {
  static const std::vector<graph::OpId> jumping = {
      graph::findOp("compare"),       graph::findOp("argmax"),
      graph::findOp("cast"),          graph::findOp("where"),
      graph::findOp("argsort"),       graph::findOp("argmin"),
      graph::findOp("floor"),         graph::findOp("ceil"),
      graph::findOp("trunc"),         graph::findOp("round"),
      graph::findOp("sign"),          graph::findOp("frac"),
      graph::findOp("isnan"),         graph::findOp("isinf"),
      graph::findOp("isfinite"),      graph::findOp("signbit"),
      graph::findOp("logical_not"),   graph::findOp("logical_and"),
      graph::findOp("logical_or"),    graph::findOp("logical_xor"),
      graph::findOp("all"),           graph::findOp("any"),
      graph::findOp("count_nonzero"), graph::findOp("fmod"),
      graph::findOp("remainder"),     graph::findOp("floor_divide"),
      graph::findOp("threshold"),     graph::findOp("hardshrink")};
  return std::ranges::count(jumping, op) > 0;
}

/// Whether equal operands give equal bits whatever the order of operations.
static bool keepsExact(graph::OpId op, DType result) {
  PatternKind kind = graph::info(op).kind;
  static const std::vector<graph::OpId> selecting = {
      graph::findOp("neg"),      graph::findOp("maximum"),
      graph::findOp("minimum"),  graph::findOp("cast"),
      graph::findOp("amax"),     graph::findOp("amin"),
      graph::findOp("abs"),      graph::findOp("clamp"),
      graph::findOp("relu"),     graph::findOp("squeeze"),
      graph::findOp("unsqueeze")};
  return !isFloat(result) || kind == PatternKind::view ||
         kind == PatternKind::source || kind == PatternKind::gather ||
         kind == PatternKind::random || kind == PatternKind::sort ||
         jumps(op) || std::ranges::count(selecting, op) > 0;
}

/// Whether any value may stand for the operand.
static bool takesAnything(const Domain &domain) {
  return domain.kind == DomainKind::distinct ||
         (domain.kind == DomainKind::reals && domain.low == -4 &&
          domain.high == 4 && domain.avoid == noPoint);
}

uint32_t RecipeDrawer::place(const PropertyRow &row, size_t index,
                             const Wanted &wanted) {
  const OperandRow &operand =
      row.operands[std::min(index, row.operands.size() - 1)];
  std::vector<uint32_t> fitting;
  auto consider = [&](uint32_t number, int times) {
    const Known &value = at(number);
    if (value.dtype == wanted.dtype && value.dims == wanted.dims &&
        (value.exact || options.extremes || !jumps(row.op)))
      fitting.insert(fitting.end(), times, number);
  };
  for (uint32_t i = 0; i < leaves.size(); ++i)
    consider(i, 1);
  for (uint32_t i = 0; i < made.size(); ++i)
    consider(firstStep + i, 4);
  bool mayReuse = options.reuses && !wanted.isNew &&
                  (options.extremes || takesAnything(operand.domain) ||
                   !isFloat(wanted.dtype)) &&
                  operand.domain.kind != DomainKind::positions;
  if (mayReuse && !fitting.empty() && !coin(8))
    return fitting[below(random, int64_t(fitting.size()))];
  RecipeLeaf leaf;
  leaf.dtype = wanted.dtype;
  leaf.dims = wanted.dims;
  leaf.domain = operand.domain;
  leaf.positions = wanted.positions;
  leaf.seed = random();
  leaf.extremes = options.extremes && coin();
  if (wanted.dtype == DType::boolean)
    leaf.domain = {DomainKind::integers, 0, 1, noPoint};
  else if (!isSigned(wanted.dtype) && leaf.domain.low < 0)
    leaf.domain.low = 0;
  recipe.leaves.push_back(std::move(leaf));
  leaves.push_back({wanted.dtype, wanted.dims});
  return static_cast<uint32_t>(leaves.size() - 1);
}

bool RecipeDrawer::addStep(const PropertyRow &row, const Plan &plan) {
  RecipeStep step{row.op, {}, attrs(row, plan)};
  std::vector<graph::NodeRef> types;
  for (const Wanted &wanted : plan.operands) {
    std::vector<Dim> dims = dimsOf(wanted.dims);
    types.push_back(
        graph::NodeFactory::lazyLeaf(wanted.dtype, dims, DeviceId(), false));
  }
  Result<graph::NodeRef> node =
      graph::buildOp(row.op, types, step.attrs, DeviceId());
  if (!node || (*node)->isLeaf() || (*node)->elements() > 1 << 14)
    return false;
  for (size_t i = 0; i < plan.operands.size(); ++i) {
    bool isPinned = i == 0 && pinned;
    step.operands.push_back(isPinned ? *pinned
                                     : place(row, i, plan.operands[i]));
  }
  append(std::move(step), **node);
  return true;
}

void RecipeDrawer::append(RecipeStep step, const graph::Node &node) {
  Known result{node.dtype(), {}, keepsExact(step.op, node.dtype())};
  for (uint32_t operand : step.operands)
    result.exact &= at(operand).exact;
  for (Dim dim : node.dims())
    result.dims.push_back(dim.value);
  made.push_back(std::move(result));
  recipe.steps.push_back(std::move(step));
}

uint32_t RecipeDrawer::addLeaf(DType dtype, const std::vector<int64_t> &dims,
                               Domain domain) {
  RecipeLeaf leaf;
  leaf.dtype = dtype;
  leaf.dims = dims;
  leaf.domain = domain;
  leaf.seed = random();
  leaf.extremes = options.extremes && coin(8);
  recipe.leaves.push_back(std::move(leaf));
  leaves.push_back({dtype, dims});
  return static_cast<uint32_t>(leaves.size() - 1);
}

uint32_t RecipeDrawer::apply(graph::OpId op, std::vector<uint32_t> operands,
                             std::vector<uint64_t> attrs) {
  std::vector<graph::NodeRef> types;
  for (uint32_t operand : operands) {
    std::vector<Dim> dims(at(operand).dims.begin(), at(operand).dims.end());
    types.push_back(graph::NodeFactory::lazyLeaf(at(operand).dtype, dims,
                                                 DeviceId(), false));
  }
  graph::NodeRef node = *graph::buildOp(op, types, attrs, DeviceId());
  append({op, std::move(operands), std::move(attrs)}, *node);
  return firstStep + static_cast<uint32_t>(made.size() - 1);
}

bool RecipeDrawer::draw(const PropertyRow &row, std::optional<DType> dtype) {
  bool isSource = row.shapeRule == "source" || row.shapeRule == "full" ||
                  row.shapeRule == "scalar" || row.shapeRule == "random";
  for (int attempt = 0; attempt < 30; ++attempt) {
    Wanted first;
    if (isSource) {
      graph::DTypeSet all =
          row.shapeRule == "random"
              ? 0xF
              : computedDTypes() & ~graph::dtypeBit(DType::boolean);
      first = {dtype ? *dtype : drawDType(all), drawDims(1), 1, true};
    } else {
      first = drawFirst(row, dtype);
    }
    std::optional<Plan> planned = plan(row, first);
    if (planned && addStep(row, *planned))
      return true;
  }
  return false;
}

bool RecipeDrawer::drawOnLast(const PropertyRow &row) {
  const Known last = made.back();
  bool fits = (row.operands[0].dtypes & graph::dtypeBit(last.dtype)) != 0 &&
              last.dims.size() >= leastRankOf(row.shapeRule) &&
              (last.exact || options.extremes || !jumps(row.op));
  if (!fits)
    return false;
  pinned = firstStep + uint32_t(made.size() - 1);
  bool isMade = false;
  for (int attempt = 0; attempt < 30 && !isMade; ++attempt) {
    std::optional<Plan> planned = plan(row, {last.dtype, last.dims});
    isMade = planned && addStep(row, *planned);
  }
  pinned = std::nullopt;
  return isMade;
}

Recipe RecipeDrawer::finish() const {
  Recipe result = recipe;
  auto numLeaves = static_cast<uint32_t>(recipe.leaves.size());
  std::vector<bool> used(recipe.numValues());
  auto numberOf = [&](uint32_t value) {
    return value >= firstStep ? value - firstStep + numLeaves : value;
  };
  for (RecipeStep &step : result.steps)
    for (uint32_t &operand : step.operands) {
      operand = numberOf(operand);
      used[operand] = true;
    }
  for (uint32_t value : stored)
    used[numberOf(value)] = false;
  for (uint32_t i = numLeaves; i < recipe.numValues(); ++i)
    if (!used[i])
      result.outputs.push_back(i);
  return result;
}

} // namespace sinter::property
