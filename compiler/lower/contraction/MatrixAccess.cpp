/// MatrixAccess: elements of a contraction's operands.
#include "compiler/lower/contraction/MatrixAccess.h"

#include "compiler/lower/element/MatrixProduct.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

MatrixAccess::MatrixAccess(Emission &emission, ir::ContractionOpInterface op,
                           const TileShape &tile, SmallVector<Coord> batch)
    : emission(emission),
      lhs(tile.takesZero ? lessNumber(op.getLhs())->codes : op.getLhs()),
      rhs(op.getRhs()), result(op.getResult()), maps(op.getIndexingMaps()),
      batch(std::move(batch)), element(elementOf(result)),
      accumulator(op.getSumType()), copied(copiedType(op, tile)),
      length(depthOf(op)), depth(depthOf(op, tile)), tile(tile) {}

Index MatrixAccess::indexOf(const Coord &row, const Coord &column) const {
  SmallVector<Coord> coordinates(batch);
  coordinates.push_back(row);
  coordinates.push_back(column);
  return emission.fromCoordinates(coordinates);
}

Index MatrixAccess::leftIndex(const Coord &row, const Coord &k) const {
  SmallVector<Coord> loops(batch);
  loops.append({row, Coord(), k});
  return emission.fromCoordinates(coordinatesAt(maps.lhs, loops));
}

Index MatrixAccess::rightIndex(const Coord &k, const Coord &column) const {
  SmallVector<Coord> loops(batch);
  loops.append({Coord(), column, k});
  return emission.fromCoordinates(coordinatesAt(maps.rhs, loops));
}

Value MatrixAccess::leftAt(const Coord &row, const Coord &k,
                           const Lanes &lanes) const {
  auto at = [&](const Coord &k, const Lanes &lanes) {
    return emission.vectorAt(lhs, leftIndex(row, k), lanes);
  };
  Value value = read(k, lanes, tile.leftPart, at);
  if (!tile.shiftsLeft)
    return value;
  return arith::XOrIOp::create(
      emission.builder, emission.loc, value,
      emission.integer(value.getType(), int32_t(0x80808080)));
}

Value MatrixAccess::leftZeros(Type words) const {
  return emission.integer(words, int32_t(0x01010101U * tile.leftZero));
}

Value MatrixAccess::rightAt(const Coord &k, const Coord &column,
                            const Lanes &lanes) const {
  return read(k, lanes, tile.rightPart,
              [&](const Coord &k, const Lanes &lanes) {
                return emission.vectorAt(rhs, rightIndex(k, column), lanes);
              });
}

Value MatrixAccess::read(const Coord &k, const Lanes &lanes, Type part,
                         At at) const {
  if (tile.perWord == 1)
    return toSumType(emission, at(k, lanes), accumulator);
  return k.step ? wordsAlong(k.base, lanes, part, at)
                : wordsAt(k.base, lanes, part, at);
}

//===- Words --------------------------------------------------------------===//

// Whether no word has parts past the end of k.
bool MatrixAccess::isWhole() const {
  int64_t known = constantOf(length);
  return known >= 0 && known % (tile.perWord * tile.depthStep) == 0;
}

Value MatrixAccess::endOfWords(Value end) const {
  if (tile.perWord == 1 || isWhole())
    return end;
  Value elements = emission.extent(length);
  return emission.min(
      end, emission.floorDiv(elements, emission.constant(tile.perWord)));
}

// The bits of elements, or of one.
static Value bitsOf(Emission &emission, Value value, unsigned width) {
  Type bits = emission.builder.getIntegerType(width);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    bits = vector.clone(bits);
  if (isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return arith::BitcastOp::create(emission.builder, emission.loc, bits,
                                    value);
  return arith::TruncIOp::create(emission.builder, emission.loc, bits, value);
}

// Parts past the end of k are zero.
Value MatrixAccess::wordsAt(Value k, const Lanes &lanes, Type part,
                            At at) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  unsigned width = part.getIntOrFloatBitWidth();
  Value first = emission.mul(k, emission.constant(tile.perWord));
  Value length = emission.extent(shapeOf(lhs).back()), word;
  for (unsigned number = 0; number < tile.perWord; ++number) {
    Value place = emission.add(first, emission.constant(number)), there = place;
    if (!isWhole())
      there = emission.max(
          emission.min(place, emission.sub(length, emission.constant(1))),
          emission.constant(0));
    Value bits = bitsOf(emission, at(emission.uniform(there), lanes), width);
    Type type = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(bits.getType()))
      type = vector.clone(type);
    bits = arith::ExtUIOp::create(builder, loc, type, bits);
    if (!isWhole()) {
      Value exists = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, place, length);
      bits = arith::SelectOp::create(builder, loc, exists, bits,
                                     emission.integer(type, 0));
    }
    if (number > 0)
      bits = arith::ShLIOp::create(builder, loc, bits,
                                   emission.integer(type, number * width));
    word = word ? arith::OrIOp::create(builder, loc, word, bits) : bits;
  }
  return word;
}

// Of the elements of words; null where there is none.
Value MatrixAccess::maskOfParts(const Lanes &lanes) const {
  if (!lanes.mask)
    return {};
  SmallVector<int64_t> order;
  for (unsigned part = 0; part < tile.perWord * lanes.count; ++part)
    order.push_back(part / tile.perWord);
  return vector::ShuffleOp::create(emission.builder, emission.loc, lanes.mask,
                                   lanes.mask, order);
}

Value MatrixAccess::wordsAlong(Value k, const Lanes &lanes, Type part,
                               At at) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  unsigned count = tile.perWord * lanes.count;
  Value first = emission.mul(k, emission.constant(tile.perWord)), mask;
  MLIRContext *context = builder.getContext();
  if (tile.leftRun &&
      emission.isKeptInRow(k, getAffineConstantExpr(tile.leftRun, context))) {
    // A run is of whole words.
    emission.keepInRow(
        first, getAffineConstantExpr(tile.leftRun * tile.perWord, context));
    mask = maskOfParts(lanes);
  } else if (lanes.mask) {
    Value length = emission.extent(shapeOf(lhs).back());
    mask = emission.tailMask(emission.sub(length, first), count);
  }
  Value bits = bitsOf(
      emission, at(emission.along(first, count), Lanes{count, mask, false}),
      part.getIntOrFloatBitWidth());
  if (mask)
    bits = arith::SelectOp::create(builder, loc, mask, bits,
                                   emission.integer(bits.getType(), 0));
  auto words = emission.vectorType(builder.getI32Type(), lanes.count);
  return vector::BitCastOp::create(builder, loc, words, bits);
}

Value MatrixAccess::addProduct(Value a, Value b, Value sum) const {
  if (tile.perWord == 1)
    return multiplyAdd(emission, a, b, sum);
  if (tile.perWord == 2 && accumulator.isInteger())
    return addIntegerPairs(a, b, sum);
  return emission.target.addWords(emission.builder, emission.loc, a, b, sum,
                                  tile.leftPart, tile.rightPart);
}

// Written as what processors do in one step: products of halves, neighbours
// added.
Value MatrixAccess::addIntegerPairs(Value a, Value b, Value sum) const {
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
  Type held = cast<MemRefType>(buffer.getType()).getElementType();
  auto type = emission.vectorType(held, lanes);
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
