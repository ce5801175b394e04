/// MatrixAccess: elements of a contraction's operands.
#include "compiler/lower/MatrixAccess.h"

#include "compiler/lower/MatrixProduct.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

MatrixAccess::MatrixAccess(Emission &emission, ir::MatmulOp op,
                           const TileShape &tile, SmallVector<Coord> batch)
    : emission(emission), lhs(op.getLhs()), rhs(op.getRhs()),
      result(op.getResult()), batch(std::move(batch)),
      element(elementOf(result)), accumulator(accumulatorType(element)),
      depth(depthOf(op, tile)), inPairs(tile.inPairs) {}

Index MatrixAccess::indexOf(const Coord &row, const Coord &column) const {
  SmallVector<Coord> coordinates(batch);
  coordinates.push_back(row);
  coordinates.push_back(column);
  return emission.fromCoordinates(coordinates);
}

Value MatrixAccess::leftAt(const Coord &row, const Coord &k,
                           const Lanes &lanes) const {
  auto at = [&](const Coord &k, const Lanes &lanes) {
    Value value = emission.vectorAt(lhs, indexOf(row, k), lanes);
    return toAccumulator(emission, value, element);
  };
  if (!inPairs)
    return at(k, lanes);
  return k.step ? pairsAlong(k.base, lanes, at) : pairsAt(k.base, lanes, at);
}

Value MatrixAccess::rightAt(const Coord &k, const Coord &column,
                            const Lanes &lanes) const {
  auto at = [&](const Coord &k, const Lanes &lanes) {
    Value value = emission.vectorAt(rhs, indexOf(k, column), lanes);
    return toAccumulator(emission, value, element);
  };
  if (!inPairs)
    return at(k, lanes);
  return k.step ? pairsAlong(k.base, lanes, at) : pairsAt(k.base, lanes, at);
}

//===- Pairs --------------------------------------------------------------===//

bool MatrixAccess::isEven() const {
  int64_t length = constantOf(shapeOf(lhs).back());
  return length >= 0 && length % 2 == 0;
}

Value MatrixAccess::endOfPairs(Value end) const {
  if (!inPairs || isEven())
    return end;
  Value length = emission.extent(shapeOf(lhs).back());
  return emission.min(end, emission.floorDiv(length, emission.constant(2)));
}

// The half that the last word of an odd k has too many is zero.
Value MatrixAccess::pairsAt(Value k, const Lanes &lanes, At at) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value first = emission.mul(k, emission.constant(2));
  Value second = emission.add(first, emission.constant(1));
  Value length = emission.extent(shapeOf(lhs).back());
  Value last = emission.sub(length, emission.constant(1));
  Value low = at(emission.uniform(first), lanes);
  Value high = at(
      emission.uniform(isEven() ? second : emission.min(second, last)), lanes);
  Type type = low.getType();
  if (!isEven()) {
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, second, length);
    high = arith::SelectOp::create(builder, loc, exists, high,
                                   emission.integer(type, 0));
  }
  low =
      arith::AndIOp::create(builder, loc, low, emission.integer(type, 0xffff));
  high = arith::ShLIOp::create(builder, loc, high, emission.integer(type, 16));
  return arith::OrIOp::create(builder, loc, low, high);
}

Value MatrixAccess::pairsAlong(Value k, const Lanes &lanes, At at) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  unsigned count = 2 * lanes.count;
  Value first = emission.mul(k, emission.constant(2)), mask;
  if (lanes.mask) {
    Value length = emission.extent(shapeOf(lhs).back());
    mask = emission.tailMask(emission.sub(length, first), count);
  }
  Value value = at(emission.along(first, count), Lanes{count, mask, false});
  if (mask)
    value = arith::SelectOp::create(builder, loc, mask, value,
                                    emission.integer(value.getType(), 0));
  auto halves = emission.vectorType(builder.getI16Type(), count);
  value = arith::TruncIOp::create(builder, loc, halves, value);
  auto words = emission.vectorType(accumulator, lanes.count);
  return vector::BitCastOp::create(builder, loc, words, value);
}

// Written as what processors do in one step: products of halves, neighbours
// added.
Value MatrixAccess::addProduct(Value a, Value b, Value sum) const {
  if (!inPairs)
    return multiplyAdd(emission, a, b, sum);
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  int64_t count = cast<VectorType>(sum.getType()).getNumElements();
  auto widen = [&](Value words) -> Value {
    auto halves = emission.vectorType(builder.getI16Type(), 2 * count);
    auto wide = emission.vectorType(accumulator, 2 * count);
    words = vector::BitCastOp::create(builder, loc, halves, words);
    return arith::ExtSIOp::create(builder, loc, wide, words);
  };
  Value products = arith::MulIOp::create(builder, loc, widen(a), widen(b));
  auto every = [&](int64_t from) -> Value {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < count; ++lane)
      order.push_back(2 * lane + from);
    return vector::ShuffleOp::create(builder, loc, products, products, order);
  };
  Value both = arith::AddIOp::create(builder, loc, every(0), every(1));
  return arith::AddIOp::create(builder, loc, sum, both);
}

//===- Buffers ------------------------------------------------------------===//

Value MatrixAccess::load(Value buffer, Value place, unsigned lanes) const {
  auto type = emission.vectorType(accumulator, lanes);
  return vector::LoadOp::create(emission.builder, emission.loc, type, buffer,
                                place);
}

void MatrixAccess::storeOne(Value value, Value buffer, Value place) const {
  memref::StoreOp::create(emission.builder, emission.loc, value, buffer, place);
}

void MatrixAccess::store(Value value, Value buffer, Value place) const {
  vector::StoreOp::create(emission.builder, emission.loc, value, buffer, place);
}

SmallVector<Value> MatrixAccess::masksOf(unsigned vectors, unsigned lanes,
                                         Value valid) const {
  SmallVector<Value> masks(vectors);
  for (unsigned v = 0; valid && v < vectors; ++v) {
    Value left = emission.sub(valid, emission.constant(int64_t(v) * lanes));
    auto known = left.getDefiningOp<arith::ConstantIndexOp>();
    if (!known || known.value() < int64_t(lanes))
      masks[v] = emission.tailMask(left, lanes);
  }
  return masks;
}

} // namespace sinter::compiler
