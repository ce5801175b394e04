/// Decoding and encoding of floats of a byte and less.
#include "dialects/sinter/SmallFloats.h"

#include "dialects/sinter/Types.h"
#include "runtime/support/SmallFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace sinter::ir {

bool isStoredFloat(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8;
}

namespace {

constexpr int64_t nanBits = 0x7fc00000, infinityBits = 0x7f800000;
constexpr int64_t hiddenBit = 1 << 23;

/// Arithmetic on the bits of f32s, in few words.
class Words {
public:
  Words(OpBuilder &builder, Location loc, Type like)
      : builder(builder), loc(loc), i32(shaped(builder.getI32Type(), like)),
        i8(shaped(builder.getI8Type(), like)),
        f32(shaped(builder.getF32Type(), like)) {}

  template <typename Op> Value make(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  template <typename Op> Value make(Value a, int64_t b) {
    return Op::create(builder, loc, a, number(b));
  }
  template <typename Op> Value convert(Type type, Value a) {
    return Op::create(builder, loc, type, a);
  }
  Value number(int64_t value) {
    return constant(i32, builder.getI32IntegerAttr(int32_t(value)));
  }
  Value real(double value) {
    return constant(f32, builder.getF32FloatAttr(float(value)));
  }
  Value is(arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, number(b));
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value select(Value condition, int64_t a, Value b) {
    return select(condition, number(a), b);
  }

private:
  static Type shaped(Type scalar, Type like) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(scalar)) : scalar;
  }
  Value constant(Type type, TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(type))
      element = DenseElementsAttr::get(vector, element);
    return arith::ConstantOp::create(builder, loc, element);
  }

  OpBuilder &builder;
  Location loc;

public:
  const Type i32, i8, f32;
};

using P = arith::CmpIPredicate;

} // namespace

static Value decodePower(Words &m, Value code) {
  // Code 0 is half the least normal f32.
  Value bits = m.select(m.is(P::eq, code, 0), hiddenBit / 2,
                        m.make<arith::ShLIOp>(code, 23));
  return m.select(m.is(P::eq, code, 0xff), nanBits, bits);
}

static Value decode(Words &m, const SmallFloat &format, Value code) {
  int64_t signBit = int64_t(1) << format.signShift();
  Value rest = m.make<arith::AndIOp>(code, signBit - 1);
  Value normal = m.make<arith::AddIOp>(
      m.make<arith::ShLIOp>(rest, 23 - format.mantissaBits),
      int64_t(127 - format.bias) << 23);
  double step = std::ldexp(1.0, 1 - format.bias - format.mantissaBits);
  Value denormal = m.convert<arith::BitcastOp>(
      m.i32, m.make<arith::MulFOp>(m.convert<arith::UIToFPOp>(m.f32, rest),
                                   m.real(step)));
  Value bits = m.select(m.is(P::ult, rest, int64_t(1) << format.mantissaBits),
                        denormal, normal);
  if (format.hasInfinity)
    bits = m.select(m.is(P::eq, rest, format.beyond), infinityBits, bits);
  Value sign = m.make<arith::ShLIOp>(m.make<arith::AndIOp>(code, signBit),
                                     int64_t(31 - format.signShift()));
  bits = m.make<arith::OrIOp>(bits, sign);
  if (!format.hasMinusZero)
    return m.select(m.is(P::eq, code, signBit), nanBits, bits);
  int64_t last = format.hasInfinity ? format.beyond : format.largest;
  if (last == signBit - 1)
    return bits;
  return m.select(m.is(P::ugt, rest, last), nanBits, bits);
}

Value emitDecoding(OpBuilder &builder, Location loc, Type element,
                   Value codes) {
  Words m(builder, loc, codes.getType());
  Value code = m.convert<arith::ExtUIOp>(m.i32, codes);
  auto format = smallFloat(*dtypeOf(element));
  Value bits = format ? decode(m, *format, code) : decodePower(m, code);
  return m.convert<arith::BitcastOp>(m.f32, bits);
}

static Value encodePower(Words &m, Value bits) {
  Value one = m.number(1), zero = m.number(0);
  Value small = m.select(m.is(P::sgt, bits, hiddenBit / 2), one, zero);
  Value normal =
      m.make<arith::ShRUIOp>(m.make<arith::AddIOp>(bits, hiddenBit / 2), 23);
  normal = m.make<arith::MinUIOp>(normal, 0xff);
  Value code = m.select(m.is(P::slt, bits, hiddenBit), small, normal);
  return m.select(m.is(P::sle, bits, 0), 0xff, code);
}

// As toSmallFloat, step by step.
static Value encode(Words &m, const SmallFloat &format, Value bits) {
  Value magnitude = m.make<arith::AndIOp>(bits, 0x7fffffff);
  Value exponent = m.make<arith::ShRUIOp>(magnitude, 23);
  Value mantissa = m.make<arith::OrIOp>(
      m.make<arith::AndIOp>(bits, hiddenBit - 1), hiddenBit);
  Value least = m.number(format.leastExponent());
  Value below =
      m.make<arith::MaxSIOp>(m.make<arith::SubIOp>(least, exponent), 0);
  Value shift = m.make<arith::MinSIOp>(
      m.make<arith::AddIOp>(below, 23 - format.mantissaBits), 25);
  Value odd = m.make<arith::AndIOp>(m.make<arith::ShRUIOp>(mantissa, shift), 1);
  Value half =
      m.make<arith::ShLIOp>(m.number(1), m.make<arith::SubIOp>(shift, 1));
  Value added = m.make<arith::AddIOp>(m.make<arith::SubIOp>(half, 1), odd);
  Value rounded =
      m.make<arith::ShRUIOp>(m.make<arith::AddIOp>(mantissa, added), shift);
  Value above =
      m.make<arith::MaxSIOp>(m.make<arith::SubIOp>(exponent, least), 0);
  Value code = m.make<arith::AddIOp>(
      rounded, m.make<arith::ShLIOp>(above, format.mantissaBits));
  code = m.select(m.is(P::ugt, code, format.largest), format.beyond, code);
  Value sign = m.make<arith::ShLIOp>(m.make<arith::ShRUIOp>(bits, 31),
                                     int64_t(format.signShift()));
  if (!format.hasMinusZero)
    sign = m.select(m.is(P::eq, code, 0), 0, sign);
  code = m.make<arith::OrIOp>(code, sign);
  return m.select(m.is(P::ugt, magnitude, infinityBits), format.nan, code);
}

Value emitEncoding(OpBuilder &builder, Location loc, Type element,
                   Value numbers) {
  Words m(builder, loc, numbers.getType());
  Value bits = m.convert<arith::BitcastOp>(m.i32, numbers);
  auto format = smallFloat(*dtypeOf(element));
  Value code = format ? encode(m, *format, bits) : encodePower(m, bits);
  return m.convert<arith::TruncIOp>(m.i8, code);
}

} // namespace sinter::ir
