/// SortKeys: elements as integers in the order in which a sort puts them.
#include "compiler/lower/fiber/SortKeys.h"

#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace sinter::compiler {

static Type shapedLike(Value value, Type scalar) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.clone(scalar)) : scalar;
}

SortKeys::SortKeys(Type element, bool descending, MLIRContext *context)
    : element(element), descending(descending) {
  width = std::max(8u, element.getIntOrFloatBitWidth());
  key = IntegerType::get(context, width == 64 ? 64 : 32);
}

bool SortKeys::isUnsigned() const {
  return element.isUnsignedInteger() || element.isInteger(1);
}

static int64_t largestKey(unsigned width) {
  return int64_t((uint64_t(1) << (width - 1)) - 1);
}

// What is between an unsigned number and its key.
static int64_t keyOffset(unsigned width) {
  return int64_t(uint64_t(1) << (width - 1));
}

// ~x of a key is the key in the opposite order.
Value SortKeys::flip(Emission &emission, Value value) const {
  if (!descending)
    return value;
  return arith::XOrIOp::create(emission.builder, emission.loc, value,
                               emission.integer(value.getType(), -1));
}

// Sign and magnitude as two's complement, and back: numbers below zero turn
// their magnitude's bits.
Value SortKeys::foldSign(Emission &emission, Value bits) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type type = bits.getType();
  unsigned size = key.getIntOrFloatBitWidth();
  Value sign = arith::ShRSIOp::create(builder, loc, bits,
                                      emission.integer(type, size - 1));
  Value mask = arith::AndIOp::create(builder, loc, sign,
                                     emission.integer(type, largestKey(width)));
  return arith::XOrIOp::create(builder, loc, bits, mask);
}

Value SortKeys::keyOf(Emission &emission, Value value) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type type = shapedLike(value, key);
  auto floating = dyn_cast<FloatType>(element);
  if (floating)
    value = arith::BitcastOp::create(
        builder, loc, shapedLike(value, builder.getIntegerType(width)), value);
  if (value.getType() != type) {
    if (isUnsigned())
      value = arith::ExtUIOp::create(builder, loc, type, value);
    else
      value = arith::ExtSIOp::create(builder, loc, type, value);
  }
  if (isUnsigned())
    value = arith::SubIOp::create(builder, loc, value,
                                  emission.integer(type, keyOffset(width)));
  if (!floating)
    return flip(emission, value);
  Value largest = emission.integer(type, largestKey(width));
  Value infinity = emission.integer(
      type, int64_t(llvm::APFloat::getInf(floating.getFloatSemantics())
                        .bitcastToAPInt()
                        .getZExtValue()));
  Value magnitude = arith::AndIOp::create(builder, loc, value, largest);
  Value isNan = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                      magnitude, infinity);
  Value folded = foldSign(emission, value);
  // -0 has become -1.
  Value isMinusZero =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, folded,
                            emission.integer(type, -1));
  folded = arith::SelectOp::create(builder, loc, isMinusZero,
                                   emission.integer(type, 0), folded);
  folded = arith::SelectOp::create(builder, loc, isNan, largest, folded);
  return flip(emission, folded);
}

Value SortKeys::elementOf(Emission &emission, Value value) const {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  value = flip(emission, value);
  if (isUnsigned())
    value = arith::AddIOp::create(
        builder, loc, value,
        emission.integer(value.getType(), keyOffset(width)));
  if (element.isInteger(1))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 emission.integer(value.getType(), 0));
  bool isFloat = isa<FloatType>(element);
  if (isFloat)
    value = foldSign(emission, value);
  Type narrow = shapedLike(value, builder.getIntegerType(width));
  if (value.getType() != narrow)
    value = arith::TruncIOp::create(builder, loc, narrow, value);
  if (isFloat)
    value = arith::BitcastOp::create(builder, loc, shapedLike(value, element),
                                     value);
  return value;
}

Value SortKeys::isShared(Emission &emission, Value value) const {
  if (!isa<FloatType>(element))
    return {};
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  value = flip(emission, value);
  auto is = [&](int64_t number) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 emission.integer(value.getType(), number));
  };
  return arith::OrIOp::create(builder, loc, is(0), is(largestKey(width)));
}

} // namespace sinter::compiler
