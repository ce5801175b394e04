/// Sources that end a chain of views: buffers, numbers, positions; and
/// pointwise ops.
#include "compiler/lower/element/ElementSource.h"

#include "compiler/lower/element/Inline.h"
#include "compiler/lower/element/MaskedViews.h"
#include "compiler/lower/element/MultiplyAdd.h"
#include "compiler/lower/element/SharedDivision.h"
#include "compiler/lower/element/Views.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace sinter::compiler {

Value toMemory(Emission &emission, Value value, Type element) {
  Type memory = memoryType(element);
  Type type = value.getType();
  Type to = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(memory))
                                  : memory;
  if (type == to)
    return value;
  if (element.isInteger(1))
    return arith::ExtUIOp::create(emission.builder, emission.loc, to, value);
  return arith::BitcastOp::create(emission.builder, emission.loc, to, value);
}

Value fromMemory(Emission &emission, Value value, Type element) {
  Type type = value.getType();
  Type scalar = valueType(element);
  Type to = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(scalar))
                                  : scalar;
  if (type == to)
    return value;
  if (element.isInteger(1))
    return arith::CmpIOp::create(emission.builder, emission.loc,
                                 arith::CmpIPredicate::ne, value,
                                 emission.integer(type, 0));
  return arith::BitcastOp::create(emission.builder, emission.loc, to, value);
}

// Splits a coordinate that no vector load serves into a scalar base and the
// lanes' offsets from it. In an empty tensor the lanes' step may be 0.
static std::pair<Value, Value>
gatherOffsets(Emission &emission, const Coord &linear, unsigned count) {
  OpBuilder &builder = emission.builder;
  if (linear.each)
    return {emission.constant(0), linear.each};
  return {linear.base,
          emission.laneOffsets(linear.step, count, builder.getIndexType())};
}

static Value reverseLanes(Emission &emission, Value vector, unsigned count) {
  SmallVector<int64_t> order;
  for (unsigned lane = count; lane-- > 0;)
    order.push_back(lane);
  return vector::ShuffleOp::create(emission.builder, emission.loc, vector,
                                   vector, order);
}

// A scalar without which no lane is loaded, if the mask says one.
static Value conditionOfAll(Emission &emission, Value mask) {
  Operation *op = mask.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<vector::BroadcastOp>(op))
    return isa<VectorType>(broadcast.getSource().getType())
               ? Value()
               : broadcast.getSource();
  auto both = dyn_cast_or_null<arith::AndIOp>(op);
  if (!both)
    return {};
  Value left = conditionOfAll(emission, both.getLhs());
  Value right = conditionOfAll(emission, both.getRhs());
  if (!left || !right)
    return left ? left : right;
  return arith::AndIOp::create(emission.builder, emission.loc, left, right);
}

// Where a run is loaded from. Without any lane that may be far outside of the
// buffer: no fault, but where no memory is, a processor takes hundreds of
// cycles to find that out. It is the buffer's begin then.
static Value placeOfRun(Emission &emission, Value base, Value mask) {
  Value condition = emission.target.traits().leaveOut
                        ? Value()
                        : conditionOfAll(emission, mask);
  if (!condition)
    return base;
  return arith::SelectOp::create(emission.builder, emission.loc, condition,
                                 base, emission.constant(0));
}

// Lanes that run backwards, from `linear` down: one load of the run.
static Value loadReversed(Emission &emission, Value buffer, const Coord &linear,
                          const Lanes &lanes) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  VectorType type = emission.vectorType(memory, lanes.count);
  Value first =
      emission.sub(linear.base, emission.constant(int64_t(lanes.count) - 1));
  Value run;
  if (lanes.mask) {
    Value mask = reverseLanes(emission, lanes.mask, lanes.count);
    first = placeOfRun(emission, first, lanes.mask);
    run = vector::MaskedLoadOp::create(builder, loc, type, buffer, first, mask,
                                       emission.number(type, 0));
  } else {
    run = vector::LoadOp::create(builder, loc, type, buffer, first);
  }
  return reverseLanes(emission, run, lanes.count);
}

Value loadLanes(Emission &emission, Value buffer, const Coord &linear,
                const Lanes &lanes) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  if (lanes.count == 1)
    return memref::LoadOp::create(builder, loc, buffer, linear.base);
  VectorType type = emission.vectorType(memory, lanes.count);
  if (!linear.each && linear.step == 1 && !lanes.mask)
    return vector::LoadOp::create(builder, loc, type, buffer, linear.base);
  Value zero = emission.number(type, 0);
  if (!linear.each && linear.step == 1)
    return vector::MaskedLoadOp::create(
        builder, loc, type, buffer,
        placeOfRun(emission, linear.base, lanes.mask), lanes.mask, zero);
  if (!linear.each && linear.step == -1)
    return loadReversed(emission, buffer, linear, lanes);
  auto [base, offsets] = gatherOffsets(emission, linear, lanes.count);
  Value mask = lanes.mask ? lanes.mask : emission.fullMask(lanes.count);
  return vector::GatherOp::create(builder, loc, type, buffer, base, offsets,
                                  mask, zero);
}

// Whether the mask is the constant that leaves only the first lane.
static bool isFirstLaneOnly(Value mask) {
  DenseElementsAttr bits;
  if (!mask || !matchPattern(mask, m_Constant(&bits)))
    return false;
  auto values = bits.getValues<bool>();
  return values[0] && llvm::count(values, true) == 1;
}

// Of one vector of the machine.
static uint64_t vectorBytes(Emission &emission, Value tensor,
                            const Lanes &lanes) {
  Type memory = memoryType(elementOf(tensor));
  return uint64_t(memory.getIntOrFloatBitWidth()) / 8 *
         std::min(lanes.count, emission.target.lanes());
}

void storeElements(Emission &emission, Value buffer, Value tensor,
                   const Index &index, const Lanes &lanes, Element element,
                   bool streamed) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Coord linear = emission.linearize(index, shapeOf(tensor));
  Value value = emission.spread(element, lanes.count);
  value = toMemory(emission, value, elementOf(tensor));
  if (lanes.count == 1) {
    memref::StoreOp::create(builder, loc, value, buffer, linear.base);
  } else if (!linear.each && isFirstLaneOnly(lanes.mask)) {
    // LLVM 22 stores too many bytes for a truncated vector of one lane.
    value = vector::ExtractOp::create(builder, loc, value, 0);
    memref::StoreOp::create(builder, loc, value, buffer, linear.base);
  } else if (!linear.each && linear.step == 1) {
    if (lanes.mask)
      vector::MaskedStoreOp::create(builder, loc, buffer, linear.base,
                                    lanes.mask, value);
    else if (streamed)
      vector::StoreOp::create(
          builder, loc, value, buffer, linear.base,
          /*nontemporal=*/true,
          llvm::MaybeAlign(vectorBytes(emission, tensor, lanes)));
    else
      vector::StoreOp::create(builder, loc, value, buffer, linear.base);
  } else {
    auto [base, offsets] = gatherOffsets(emission, linear, lanes.count);
    Value mask = lanes.mask ? lanes.mask : emission.fullMask(lanes.count);
    vector::ScatterOp::create(builder, loc, Type(), buffer, base, offsets, mask,
                              value);
  }
}

Value loadElements(Emission &emission, Value buffer, Value tensor,
                   const Index &index, const Lanes &lanes) {
  Coord linear = emission.linearize(index, shapeOf(tensor));
  if (linear.isUniform() && lanes.count > 1) {
    Value value = loadLanes(emission, buffer, linear, Lanes{});
    value = fromMemory(emission, value, elementOf(tensor));
    return emission.spread(Element{value}, lanes.count);
  }
  return fromMemory(emission, loadLanes(emission, buffer, linear, lanes),
                    elementOf(tensor));
}

namespace {

class BufferSource final : public ElementSource {
public:
  explicit BufferSource(BlockArgument argument)
      : ElementSource(argument), number(argument.getArgNumber()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    // Nobody reads it in the end, but what depends on no loop is read before,
    // and an empty buffer has no memory.
    if (llvm::any_of(shapeOf(tensor),
                     [](AffineExpr dim) { return constantOf(dim) == 0; }))
      return Element{emission.number(valueType(elementOf(tensor)), 0)};
    Coord linear = emission.linearize(index, shapeOf(tensor));
    Value value = loadLanes(emission, emission.buffers[number], linear, lanes);
    return Element{fromMemory(emission, value, elementOf(tensor))};
  }

private:
  unsigned number;
};

class PointwiseSource final : public ElementSource {
public:
  PointwiseSource(Value tensor, ir::PointwiseOpInterface op)
      : ElementSource(tensor), op(op) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    SmallVector<Element> elements;
    bool isUniform = true;
    for (Value operand : op->getOperands()) {
      elements.push_back(emission.at(operand, index, lanes));
      isUniform &= elements.back().isUniform();
    }
    SmallVector<Value> values;
    for (Element element : elements)
      values.push_back(emission.spread(element, isUniform ? 1 : lanes.count));
    Value result = op.emitScalar(emission.builder, emission.loc, values,
                                 elementOf(tensor));
    if (!result)
      return emission.fail(tensor, "cannot be computed in this element type");
    return Element{result};
  }

private:
  ir::PointwiseOpInterface op;
};

class FullSource final : public ElementSource {
public:
  explicit FullSource(ir::FullOp op) : ElementSource(op.getResult()), op(op) {}
  Element at(Emission &emission, const Index &, const Lanes &) override {
    return Element{numberValue(emission, op.getValue(), elementOf(tensor))};
  }

private:
  ir::FullOp op;
};

// A signed i64 (scalar or vector) in the element type of a tensor.
Value fromInteger(Emission &emission, Value number, Type element) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type scalar = valueType(element);
  auto shaped = [&](Type type) -> Type {
    auto vector = dyn_cast<VectorType>(number.getType());
    return vector ? Type(vector.clone(type)) : type;
  };
  if (auto floating = dyn_cast<FloatType>(scalar)) {
    bool isNarrow = floating.getWidth() < 32;
    Type wide = isNarrow ? builder.getF32Type() : scalar;
    Value value = arith::SIToFPOp::create(builder, loc, shaped(wide), number);
    if (isNarrow)
      value = arith::TruncFOp::create(builder, loc, shaped(scalar), value);
    return value;
  }
  if (scalar.isInteger(64))
    return number;
  if (scalar.isInteger(1))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, number,
                                 emission.integer(number.getType(), 0));
  return arith::TruncIOp::create(builder, loc, shaped(scalar), number);
}

Value toI64(Emission &emission, Value index) {
  Type i64 = emission.builder.getI64Type();
  if (auto vector = dyn_cast<VectorType>(index.getType()))
    i64 = vector.clone(i64);
  return arith::IndexCastOp::create(emission.builder, emission.loc, i64, index);
}

class IotaSource final : public ElementSource {
public:
  explicit IotaSource(ir::IotaOp op) : ElementSource(op.getResult()), op(op) {}
  Element at(Emission &emission, const Index &index, const Lanes &) override {
    unsigned axis = op.getAxis();
    Coord coord = axis < index.lead.size()
                      ? index.lead[axis]
                      : emission.coordinates(index, shapeOf(tensor))[axis];
    Value number = toI64(emission, emission.perLane(coord));
    return Element{fromInteger(emission, number, elementOf(tensor))};
  }

private:
  ir::IotaOp op;
};

class ExtentSource final : public ElementSource {
public:
  explicit ExtentSource(ir::ExtentOp op)
      : ElementSource(op.getResult()), op(op) {}
  Element at(Emission &emission, const Index &, const Lanes &) override {
    Value extent = emission.extent(op.getSize().getResult(0));
    return Element{
        fromInteger(emission, toI64(emission, extent), elementOf(tensor))};
  }

private:
  ir::ExtentOp op;
};

class FailingSource final : public ElementSource {
public:
  using ElementSource::ElementSource;
  Element at(Emission &emission, const Index &, const Lanes &) override {
    return emission.fail(tensor, "cannot be read inside a kernel");
  }
};

class KnownSource final : public ElementSource {
public:
  KnownSource(Value tensor, Element element)
      : ElementSource(tensor), element(element) {}
  Element at(Emission &, const Index &, const Lanes &) override {
    return element;
  }

private:
  Element element;
};

} // namespace

std::unique_ptr<ElementSource> makeKnown(Value tensor, Element element) {
  return std::make_unique<KnownSource>(tensor, element);
}

std::unique_ptr<ElementSource> makeSource(Emission &emission, Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return std::make_unique<BufferSource>(argument);
  if (auto contracted = makeMultiplyAdd(emission, tensor))
    return contracted;
  if (auto division = makeSharedDivision(tensor))
    return division;
  Operation *op = tensor.getDefiningOp();
  if (auto pointwise = dyn_cast<ir::PointwiseOpInterface>(op))
    return std::make_unique<PointwiseSource>(tensor, pointwise);
  if (auto full = dyn_cast<ir::FullOp>(op))
    return std::make_unique<FullSource>(full);
  if (auto iota = dyn_cast<ir::IotaOp>(op))
    return std::make_unique<IotaSource>(iota);
  if (auto extent = dyn_cast<ir::ExtentOp>(op))
    return std::make_unique<ExtentSource>(extent);
  if (auto view = makeView(tensor))
    return view;
  if (auto computed = makeInlineSource(tensor))
    return computed;
  return std::make_unique<FailingSource>(tensor);
}

} // namespace sinter::compiler
