/// Gathers: an index tensor is read, checked and becomes a coordinate.
#include "compiler/lower/element/Inline.h"

#include "compiler/analysis/Marks.h"
#include "compiler/lower/element/MaskedViews.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Gather.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

static Value asType(Emission &emission, Value value, Type scalar) {
  Type type = scalar;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(scalar);
  if (value.getType() == type)
    return value;
  if (getElementTypeOrSelf(value.getType()).isIndex() || scalar.isIndex())
    return arith::IndexCastOp::create(emission.builder, emission.loc, type,
                                      value);
  return arith::ExtSIOp::create(emission.builder, emission.loc, type, value);
}

// Reports the lowest linear position among the lanes in `bad`.
static void reportLanes(Emission &emission, Value bad, const Coord &linear) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value any = bad;
  if (isa<VectorType>(bad.getType()))
    any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR,
                                      bad);
  emission.when(any, [&] {
    Value position =
        asType(emission, emission.perLane(linear), builder.getI64Type());
    if (auto vector = dyn_cast<VectorType>(bad.getType())) {
      position = emission.spread(Element{position}, vector.getNumElements());
      Value none = emission.integer(position.getType(), INT64_MAX);
      Value kept = arith::SelectOp::create(builder, loc, bad, position, none);
      position = vector::ReductionOp::create(
          builder, loc, vector::CombiningKind::MINSI, kept);
    }
    emission.target.reportIndexError(builder, loc, emission.entry, position);
  });
}

static Value clampBelow(Emission &emission, Value position, Value extent) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type type = position.getType();
  Value zero = emission.integer(type, 0), one = emission.integer(type, 1);
  Value last = arith::SubIOp::create(builder, loc, extent, one);
  position = arith::MinSIOp::create(builder, loc, position, last);
  return arith::MaxSIOp::create(builder, loc, position, zero);
}

// Whether a value follows from the kernel's inputs: another kernel may have
// checked it, but which buffer a launch is given is the program's to say, and a
// program is not as trusted as its code.
static bool isRead(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || llvm::any_of(op->getOperands(), isRead);
}

Coord readPositions(Emission &emission, Operation *op, Value indices,
                    const Index &index, const Lanes &lanes,
                    AffineExpr extentExpr) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Element element = emission.at(indices, index, lanes);
  bool isUniform = element.isUniform();
  Value position = asType(emission, element.value, builder.getIndexType());
  auto done = [&](Value at) {
    return isUniform ? emission.uniform(at) : Coord{{}, 0, at, lanes.count};
  };
  bool isChecked = op->hasAttr(checkedAttr);
  if (isChecked && (!emission.target.traits().inProcess || !isRead(indices)))
    return done(position);
  unsigned count = isUniform ? 1 : lanes.count;
  Value extent = emission.spread(Element{emission.extent(extentExpr)}, count);
  if (isChecked)
    return done(clampBelow(emission, position, extent));
  Value bad = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                    position, extent);
  if (lanes.mask && !isUniform)
    bad = arith::AndIOp::create(builder, loc, bad, lanes.mask);
  Coord linear = emission.linearize(index, shapeOf(indices));
  if (isUniform && !linear.isUniform())
    linear = linear.each ? emission.uniform(emission.constant(0))
                         : emission.uniform(linear.base);
  reportLanes(emission, bad, linear);
  return done(clampBelow(emission, position, extent));
}

Value isNotEmpty(Emission &emission, AffineExpr extent) {
  if (constantOf(extent) > 0)
    return {};
  return arith::CmpIOp::create(emission.builder, emission.loc,
                               arith::CmpIPredicate::sgt,
                               emission.extent(extent), emission.constant(0));
}

namespace {

class GatherSource final : public ElementSource {
public:
  explicit GatherSource(ir::GatherOp op)
      : ElementSource(op.getResult()), op(op) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    unsigned axis = op.getAxis();
    Shape shape = shapeOf(tensor);
    Index split = index;
    if (axis + split.tailRank >= shape.size())
      split = emission.withTail(split, shape,
                                std::max<unsigned>(1, shape.size() - axis - 1));
    AffineExpr extent = shapeOf(op.getX())[axis];
    Coord position =
        readPositions(emission, op, op.getIndices(), split, lanes, extent);
    if (axis < split.lead.size())
      split.lead[axis] = position;
    else
      split.tail = position;
    Value hasAny = isNotEmpty(emission, extent);
    return emission.at(op.getX(), split, narrow(emission, lanes, hasAny));
  }

private:
  ir::GatherOp op;
};

} // namespace

std::unique_ptr<ElementSource> makeGather(Value tensor) {
  if (auto op = dyn_cast<ir::GatherOp>(tensor.getDefiningOp()))
    return std::make_unique<GatherSource>(op);
  return nullptr;
}

} // namespace sinter::compiler
