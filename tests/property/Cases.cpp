/// Random calls: shapes by shape rule, values by domain.
#include "tests/property/Cases.h"

#include "runtime/graph/Builders.h"
#include "tests/property/DrawWindows.h"
#include "tests/property/Draws.h"
#include "tests/property/Watch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace sinter::property {

using reference::HostValue;

static uint64_t chooseSeed() {
  const char *text = std::getenv("SINTER_TEST_SEED");
  if (!text)
    return 20240607;
  if (std::string_view(text) == "fresh")
    return std::random_device()();
  return std::strtoull(text, nullptr, 10);
}

// Printed at once, for the case that the run does not end.
static uint64_t announceSeed() {
  uint64_t seed = chooseSeed();
  std::printf("SINTER_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

uint64_t runSeed() {
  static const uint64_t seed = announceSeed();
  return seed;
}

int64_t drawInt(Rng &rng, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng);
}

double drawReal(Rng &rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng);
}

bool drawBool(Rng &rng) { return drawInt(rng, 0, 1) != 0; }

std::string Case::describe() const {
  std::string text(graph::info(row->op).name);
  text += '(';
  for (const HostValue &operand : operands) {
    Dims dims(operand.dims.begin(), operand.dims.end());
    text += (text.back() == '(' ? "" : ", ") +
            graph::typeString({operand.dtype, dims});
  }
  return text + ')';
}

//===- Operand types ------------------------------------------------------===//

static int64_t drawExtent(Rng &rng, Sizes sizes) {
  static constexpr int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 17, 33};
  if (sizes == Sizes::onlyOnes)
    return 1;
  if (sizes == Sizes::withZeros && drawInt(rng, 0, 2) == 0)
    return 0;
  return extents[drawInt(rng, 0, std::size(extents) - 1)];
}

Shape drawShape(Rng &rng, Sizes sizes, int64_t minRank, int64_t maxRank) {
  Shape shape(drawInt(rng, minRank, maxRank));
  for (int64_t &extent : shape)
    extent = drawExtent(rng, sizes);
  return shape;
}

bool hasAttr(const PropertyRow &row, std::string_view name) {
  return std::ranges::any_of(
      graph::info(row.op).attrs,
      [&](const graph::AttrSpec &spec) { return spec.name == name; });
}

static std::vector<Shape> matmulShapes(Rng &rng, Sizes sizes) {
  Shape lhs = drawShape(rng, sizes, 2, 4), rhs = lhs;
  size_t rank = lhs.size();
  rhs[rank - 2] = lhs[rank - 1];
  rhs[rank - 1] = drawExtent(rng, sizes);
  return {lhs, rhs};
}

/// x, then positions (and updates) that differ along one axis at most. The
/// axis is drawn again from the shapes by drawAttrs.
static std::vector<Shape> indexedShapes(Rng &rng, Sizes sizes, size_t count) {
  Shape x = drawShape(rng, sizes, 1, 3), indices = x;
  size_t axis = drawInt(rng, 0, int64_t(x.size()) - 1);
  indices[axis] = drawExtent(rng, sizes);
  if (x[axis] == 0)
    x[axis] = 1;
  std::vector<Shape> shapes{x};
  shapes.resize(count, indices);
  return shapes;
}

/// x and a few positions along an axis, or a table and any shape of positions.
static std::vector<Shape> pickShapes(Rng &rng, Sizes sizes, bool isTable) {
  Shape x = drawShape(rng, sizes, isTable ? 2 : 1, isTable ? 2 : 4);
  for (int64_t &extent : x)
    extent = std::max<int64_t>(extent, 1);
  if (isTable)
    return {x, drawShape(rng, sizes, 0, 3)};
  return {x, {drawExtent(rng, sizes)}};
}

/// Query, key and mask, then what the part of attention reads besides.
static std::vector<Shape> attentionShapes(const PropertyRow &row, Rng &rng,
                                          Sizes sizes) {
  Shape query = drawShape(rng, sizes, 2, 4), key = query, value = query;
  size_t rank = query.size();
  int64_t keys = std::max<int64_t>(drawExtent(rng, sizes), 1);
  key[rank - 2] = value[rank - 2] = keys;
  value[rank - 1] = drawExtent(rng, sizes);
  Shape mask = query, grad = query, number = query;
  mask[rank - 1] = keys;
  if (drawBool(rng))
    mask.clear();
  grad[rank - 1] = value[rank - 1];
  number[rank - 1] = 1;
  if (row.shapeRule == "attention")
    return {query, key, value, mask};
  std::vector<Shape> shapes{query, key, mask, value, grad, number, number};
  shapes.resize(row.operands.size());
  return shapes;
}

static std::vector<Shape> concatShapes(Rng &rng, Sizes sizes) {
  Shape first = drawShape(rng, sizes, 1, 3);
  size_t axis = drawInt(rng, 0, int64_t(first.size()) - 1);
  std::vector<Shape> shapes(drawInt(rng, 1, 4), first);
  for (Shape &shape : shapes)
    shape[axis] = drawExtent(rng, sizes);
  return shapes;
}

static std::vector<Shape> drawShapes(const PropertyRow &row, Rng &rng,
                                     Sizes sizes) {
  std::string_view rule = row.shapeRule;
  size_t count = row.operands.size();
  if (isWindowRule(rule))
    return windowShapes(rule, drawShape(rng, sizes, 3, 4), rng);
  if (rule == "matmul")
    return matmulShapes(rng, sizes);
  if (rule.starts_with("attention"))
    return attentionShapes(row, rng, sizes);
  if (rule == "concat")
    return concatShapes(rng, sizes);
  if (rule == "gather" || rule == "scatter")
    return indexedShapes(rng, sizes, count);
  if (rule == "indexSelect" || rule == "embedding")
    return pickShapes(rng, sizes, rule == "embedding");
  if (rule == "random")
    return std::vector<Shape>(count);
  if (rule == "dynamicSlice" || rule == "dynamicPad")
    return {drawShape(rng, sizes, 1, 4), {}};
  if (rule == "dropout" || rule == "withNumbers") {
    std::vector<Shape> shapes(count);
    shapes[0] = drawShape(rng, sizes, 0, 4);
    for (size_t i = 1; i < count; ++i)
      if (rule == "withNumbers" && drawBool(rng))
        shapes[i] = shapes[0];
    return shapes;
  }
  if (rule == "layerNorm") {
    Shape x = drawShape(rng, sizes, 1, 3);
    return {x, {x.back()}, {x.back()}};
  }
  if (rule == "crossEntropy") {
    Shape logits = drawShape(rng, sizes, 2, 2);
    logits[1] = std::max<int64_t>(logits[1], 1);
    return {logits, {logits[0]}};
  }
  bool needsAxis = hasAttr(row, "axis");
  Shape shape = drawShape(rng, sizes, needsAxis ? 1 : 0, 4);
  // An extremum of nothing is an error.
  if (rule == "reduce" || rule == "argmax" || needsAxis)
    for (int64_t &extent : shape)
      extent = std::max<int64_t>(extent, 1);
  return std::vector<Shape>(count, shape);
}

static DType drawDType(Rng &rng, graph::DTypeSet allowed,
                       std::optional<DType> floats) {
  if (floats && (allowed & graph::dtypeBit(*floats)))
    return *floats;
  std::vector<DType> choices;
  for (unsigned code = 0; code < numDTypes; ++code)
    if (allowed & graph::dtypeBit(DType(code)))
      choices.push_back(DType(code));
  return choices[drawInt(rng, 0, int64_t(choices.size()) - 1)];
}

std::vector<OperandType> drawOperands(const PropertyRow &row, Rng &rng,
                                      Sizes sizes,
                                      std::optional<DType> floats) {
  std::vector<OperandType> types;
  std::vector<Shape> shapes = drawShapes(row, rng, sizes);
  for (size_t i = 0; i < shapes.size(); ++i) {
    graph::DTypeSet allowed = row.operands[row.variadic ? 0 : i].dtypes;
    DType dtype = drawDType(rng, allowed, floats);
    // Operands that may be of the same dtypes have to be.
    for (size_t j = 0; j < i; ++j)
      if (row.operands[row.variadic ? 0 : j].dtypes == allowed)
        dtype = types[j].dtype;
    types.push_back({dtype, shapes[i]});
  }
  return types;
}

//===- Values -------------------------------------------------------------===//

/// The extent of the axis that positions count along: the op's axis of the
/// first operand, a table's first, or the last.
static int64_t positionExtent(const PropertyRow &row, const Shape &x,
                              std::span<const uint64_t> attrs) {
  size_t axis = hasAttr(row, "axis")           ? attrs.back()
                : row.shapeRule == "embedding" ? 0
                                               : x.size() - 1;
  return x[axis];
}

static double drawAvoiding(Rng &rng, const Domain &domain) {
  double value = drawReal(rng, domain.low, domain.high);
  if (std::abs(value - domain.avoid) < 0.1)
    value = domain.avoid + (value < domain.avoid ? -0.1 : 0.1);
  return value;
}

/// Distinct over all operands of the call: operand `index` has every
/// (number of operands)-th of evenly spaced numbers, shuffled.
static std::vector<double> drawDistinct(const PropertyRow &row, size_t index,
                                        int64_t count, Rng &rng) {
  const Domain &domain = row.operands[index].domain;
  size_t stride = row.operands.size();
  double step = (domain.high - domain.low) / double(count * stride + 1);
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = domain.low + step * double(i * stride + index + 1);
  std::shuffle(values.begin(), values.end(), rng);
  return values;
}

HostValue drawValue(const PropertyRow &row, size_t index,
                    const std::vector<OperandType> &operands,
                    std::span<const uint64_t> attrs, Rng &rng) {
  HostValue value(operands[index].dtype, operands[index].dims);
  const Domain &domain = row.operands[row.variadic ? 0 : index].domain;
  int64_t count = value.elements();
  std::vector<double> distinct;
  if (domain.kind == DomainKind::distinct)
    distinct = drawDistinct(row, row.variadic ? 0 : index, count, rng);
  for (int64_t i = 0; i < count; ++i) {
    if (domain.kind == DomainKind::positions) {
      int64_t extent = positionExtent(row, operands[0].dims, attrs);
      value.set(i, drawInt(rng, 0, extent - 1));
    } else if (value.dtype == DType::boolean) {
      value.set(i, drawInt(rng, 0, 1));
    } else if (domain.kind == DomainKind::integers || !value.isReal()) {
      int64_t low = int64_t(std::ceil(domain.low));
      if (!isSigned(value.dtype))
        low = std::max<int64_t>(low, 0);
      int64_t drawn = drawInt(rng, low, int64_t(std::floor(domain.high)));
      if (value.isReal())
        value.set(i, double(drawn));
      else
        value.set(i, drawn);
    } else {
      value.set(i, distinct.empty() ? drawAvoiding(rng, domain) : distinct[i]);
    }
  }
  return value;
}

Case drawCase(const PropertyRow &row, Rng &rng, Sizes sizes,
              std::optional<DType> floats) {
  Watch watch("drawing a call of " + std::string(graph::info(row.op).name));
  Case call;
  call.row = &row;
  std::vector<OperandType> operands;
  std::optional<std::vector<uint64_t>> attrs;
  while (!attrs) {
    operands = drawOperands(row, rng, sizes, floats);
    attrs = drawAttrs(row, operands, rng, floats);
  }
  call.attrs = std::move(*attrs);
  for (size_t i = 0; i < operands.size(); ++i)
    call.operands.push_back(drawValue(row, i, operands, call.attrs, rng));
  return call;
}

//===- Recording ----------------------------------------------------------===//

graph::NodeRef leafFor(const Case &call, size_t index) {
  const HostValue &operand = call.operands[index];
  if (graph::info(call.row->op).kind == graph::PatternKind::random)
    return graph::NodeFactory::scalar(operand.dtype, operand.ints[0]);
  Dims dims(operand.dims.begin(), operand.dims.end());
  return graph::NodeFactory::lazyLeaf(operand.dtype, dims, DeviceId(),
                                      isFloat(operand.dtype));
}

Result<graph::NodeRef> record(const Case &call,
                              std::span<const graph::NodeRef> leaves) {
  return graph::buildOp(call.row->op, leaves, call.attrs, DeviceId());
}

} // namespace sinter::property
