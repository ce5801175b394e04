/// Random attributes, by the schema.
#include "tests/property/DrawWindows.h"
#include "tests/property/Draws.h"

#include "runtime/graph/AttrWords.h"
#include "sinter/runtime/Complex.h"
#include "sinter/runtime/OpTable.h"

#include <algorithm>
#include <numeric>

namespace sinter::property {

namespace {

/// Draws the attributes of one call in the order of the schema.
class AttrDrawer {
public:
  AttrDrawer(const PropertyRow &row, const std::vector<OperandType> &operands,
             Rng &rng, std::optional<DType> dtype)
      : row(row), operands(operands), rng(rng), dtype(dtype) {
    if (!operands.empty())
      x = operands[0].dims;
  }
  std::optional<std::vector<uint64_t>> draw();

private:
  bool drawOne(const graph::AttrSpec &spec);
  bool axis();
  bool ints(std::string_view name);
  bool dims(std::string_view name);
  void axes();
  void dim();
  DType drawDType();
  void choice(const graph::AttrSpec &spec);
  Shape reshaped();
  Shape broadcasted();
  void writeDims(const Shape &shape) {
    writer.dims(Dims(shape.begin(), shape.end()));
  }

  const PropertyRow &row;
  const std::vector<OperandType> &operands;
  Rng &rng;
  std::optional<DType> dtype;
  Shape x;
  int64_t drawnAxis = 0;
  Shape first; ///< what the attribute before drew, where the next needs it
  graph::AttrWriter writer;
};

} // namespace

/// Casts go to all dtypes but complex ones, sources to those with arithmetic.
DType AttrDrawer::drawDType() {
  if (row.shapeRule == "random")
    return DType(drawInt(rng, 0, 1));
  for (;;) {
    auto drawn = DType(drawInt(rng, 0, numDTypes - 1));
    if (row.shapeRule == "cast" ? !isComplex(drawn) : isComputable(drawn))
      return drawn;
  }
}

/// The only axis along which the operands differ, or any.
bool AttrDrawer::axis() {
  size_t rank = x.size();
  if (operands.empty())
    rank = first.size();
  if (rank == 0)
    return false;
  int64_t chosen = drawInt(rng, 0, int64_t(rank) - 1);
  for (const OperandType &operand : operands)
    for (size_t i = 0; i < x.size(); ++i)
      if (operand.dims.size() == rank && operand.dims[i] != x[i])
        chosen = int64_t(i);
  writer.integer(chosen);
  drawnAxis = chosen;
  return true;
}

/// How much of the axis is sorted or taken, how long it becomes, or any number.
void AttrDrawer::dim() {
  if (row.shapeRule == "dynamicPad") {
    writer.dim(Dim(x[drawnAxis] + drawInt(rng, 0, 4)));
    return;
  }
  if (row.shapeRule == "dynamicSlice") {
    writer.dim(Dim(drawInt(rng, 0, x[drawnAxis])));
    return;
  }
  bool sorts = std::string_view(row.shapeRule).starts_with("sorted");
  int64_t most = sorts ? x[drawnAxis] : 100;
  writer.dim(Dim(sorts && drawBool(rng) ? most : drawInt(rng, 0, most)));
}

void AttrDrawer::axes() {
  Shape chosen;
  bool squeezes = row.shapeRule == "squeeze";
  for (size_t i = 0; i < x.size(); ++i)
    if (drawBool(rng) && (!squeezes || x[i] == 1))
      chosen.push_back(int64_t(i));
  if (chosen.empty() && !x.empty() && !squeezes)
    chosen.push_back(int64_t(x.size()) - 1);
  writer.ints(chosen);
}

bool AttrDrawer::ints(std::string_view name) {
  Shape values(x.size());
  if (name == "axes") {
    axes();
    return true;
  }
  if (name == "permutation") {
    std::iota(values.begin(), values.end(), 0);
    std::shuffle(values.begin(), values.end(), rng);
  } else if (name == "starts") {
    for (size_t i = 0; i < x.size(); ++i)
      values[i] = drawInt(rng, 0, x[i]);
    first = values;
  } else if (name == "steps") {
    for (int64_t &value : values)
      value = drawInt(rng, 1, 3);
  } else if (name == "low") {
    for (int64_t &value : values)
      value = drawInt(rng, 0, 2);
    first = values;
  } else if (name == "interior") {
    // Fits the shape that was drawn before: see dims().
    values = first;
  } else {
    return false;
  }
  writer.ints(values);
  return true;
}

/// Another shape of as many elements: x flat, reversed, or with some of its
/// axes merged.
Shape AttrDrawer::reshaped() {
  int64_t count = reference::elementCount(x);
  switch (drawInt(rng, 0, 2)) {
  case 0:
    return {count};
  case 1:
    return Shape(x.rbegin(), x.rend());
  default:
    if (x.empty())
      return {1, 1};
    Shape merged(x.begin(), x.end() - 1);
    merged.insert(merged.begin() + drawInt(rng, 0, int64_t(merged.size())),
                  x.back());
    return merged;
  }
}

Shape AttrDrawer::broadcasted() {
  Shape shape = x;
  for (int64_t &extent : shape)
    if (extent == 1)
      extent = drawInt(rng, 1, 5);
  while (shape.size() < 5 && drawBool(rng))
    shape.insert(shape.begin(), drawInt(rng, 1, 3));
  return shape;
}

bool AttrDrawer::dims(std::string_view name) {
  if (name == "limits") {
    Shape limits(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      limits[i] = drawInt(rng, first[i], x[i]);
    writeDims(limits);
    return true;
  }
  if (name != "shape")
    return false;
  Shape shape;
  if (row.shapeRule == "reshape")
    shape = reshaped();
  else if (row.shapeRule == "broadcast")
    shape = broadcasted();
  else if (row.shapeRule == "pad") {
    Shape interior(x.size());
    shape.resize(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      interior[i] = drawInt(rng, 0, 2);
      int64_t used = x[i] == 0 ? 0 : (x[i] - 1) * (interior[i] + 1) + 1;
      shape[i] = first[i] + used + drawInt(rng, 0, 2);
    }
    first = interior;
  } else {
    shape = first = drawShape(rng, Sizes::mixed, 1, 3);
  }
  writeDims(shape);
  return true;
}

void AttrDrawer::choice(const graph::AttrSpec &spec) {
  int64_t last = std::ranges::count(spec.choices, ',');
  writer.choice(drawInt(rng, 0, last));
}

bool AttrDrawer::drawOne(const graph::AttrSpec &spec) {
  using graph::AttrKind;
  switch (spec.kind) {
  case AttrKind::boolean:
    writer.boolean(drawBool(rng));
    return true;
  case AttrKind::integer:
    if (spec.name == "order") {
      writer.integer(drawInt(rng, 0, 3));
      return true;
    }
    return spec.name == "axis" && axis();
  case AttrKind::real:
    writer.real(drawReal(rng, 1e-5, 1e-2));
    return true;
  case AttrKind::number:
    writer.number(drawBool(rng) ? Number(drawInt(rng, -3, 3))
                                : Number(drawReal(rng, -3, 3)));
    return true;
  case AttrKind::dtype: {
    writer.dtype(dtype ? *dtype : drawDType());
    return true;
  }
  case AttrKind::choice:
    choice(spec);
    return true;
  case AttrKind::ints:
    return ints(spec.name);
  case AttrKind::dim:
    dim();
    return true;
  case AttrKind::dims:
    return dims(spec.name);
  case AttrKind::text:
    return false; // no such op is drawn
  }
  return false;
}

std::optional<std::vector<uint64_t>> AttrDrawer::draw() {
  for (const graph::AttrSpec &spec : graph::info(row.op).attrs)
    if (!drawOne(spec))
      return std::nullopt;
  std::span<const uint64_t> words = writer.view();
  return std::vector<uint64_t>(words.begin(), words.end());
}

std::optional<std::vector<uint64_t>>
drawAttrs(const PropertyRow &row, const std::vector<OperandType> &operands,
          Rng &rng, std::optional<DType> dtype) {
  if (isWindowRule(row.shapeRule)) {
    std::vector<Shape> shapes;
    for (const OperandType &operand : operands)
      shapes.push_back(operand.dims);
    return drawWindowAttrs(row.shapeRule, shapes, rng);
  }
  return AttrDrawer(row, operands, rng, dtype).draw();
}

} // namespace sinter::property
