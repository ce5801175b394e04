/// Arithmetic on one value's type, scalar or vector, in few words.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/bit.h"

namespace sinter::compiler {

/// Builds float and bit arithmetic on values shaped like `type`, a float type
/// of 32 or 64 bits or a vector of one.
class ElementMath {
public:
  using Value = mlir::Value;

  ElementMath(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : builder(builder), loc(loc), type(type) {
    width = mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    bits = shaped(builder.getIntegerType(width));
  }

  bool isDouble() const { return width == 64; }
  /// Whether `mulAdd` rounds once.
  bool fused = false;

  /// `element` with the shape of the values at hand.
  mlir::Type shaped(mlir::Type element) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return vector.clone(element);
    return element;
  }

  Value num(double value) {
    auto element =
        mlir::cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
    return splat(type, builder.getFloatAttr(element, value));
  }
  Value bit(uint64_t value) {
    llvm::APInt number(width, value, /*isSigned=*/false,
                       /*implicitTrunc=*/true);
    return splat(bits,
                 builder.getIntegerAttr(builder.getIntegerType(width), number));
  }

  Value add(Value a, Value b) { return make<mlir::arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<mlir::arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<mlir::arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<mlir::arith::DivFOp>(a, b); }
  /// a / b to within two units in the last place, of an f32 b below 2^126.
  Value nearQuotient(Value a, Value b) {
    return mlir::arith::DivFOp::create(builder, loc, a, b,
                                       mlir::arith::FastMathFlags::afn);
  }
  /// a * b + c.
  Value mulAdd(Value a, Value b, Value c) {
    return fused ? make<mlir::math::FmaOp>(a, b, c) : add(mul(a, b), c);
  }
  Value negated(Value a) { return make<mlir::arith::NegFOp>(a); }
  Value sqrt(Value a) { return make<mlir::math::SqrtOp>(a); }

  Value addBits(Value a, Value b) { return make<mlir::arith::AddIOp>(a, b); }
  Value subBits(Value a, Value b) { return make<mlir::arith::SubIOp>(a, b); }
  Value andBits(Value a, Value b) { return make<mlir::arith::AndIOp>(a, b); }
  Value orBits(Value a, Value b) { return make<mlir::arith::OrIOp>(a, b); }
  Value shl(Value a, unsigned n) {
    return make<mlir::arith::ShLIOp>(a, bit(n));
  }
  Value shrSigned(Value a, unsigned n) {
    return make<mlir::arith::ShRSIOp>(a, bit(n));
  }
  Value shr(Value a, unsigned n) {
    return make<mlir::arith::ShRUIOp>(a, bit(n));
  }

  /// An ordered comparison: false for NaN.
  Value lt(Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc,
                                       mlir::arith::CmpFPredicate::OLT, a, b);
  }
  Value eq(Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc,
                                       mlir::arith::CmpFPredicate::OEQ, a, b);
  }
  Value below(Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc,
                                       mlir::arith::CmpIPredicate::ult, a, b);
  }
  Value same(Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc,
                                       mlir::arith::CmpIPredicate::eq, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return make<mlir::arith::SelectOp>(condition, a, b);
  }

  /// x brought into [low, high]; NaN stays.
  Value bounded(Value x, double low, double high) {
    Value least = num(low), most = num(high);
    x = select(lt(most, x), most, x);
    return select(lt(x, least), least, x);
  }

  Value toBits(Value a) { return convert<mlir::arith::BitcastOp>(bits, a); }
  Value fromBits(Value a) { return convert<mlir::arith::BitcastOp>(type, a); }
  Value toFloat(Value integers) {
    return convert<mlir::arith::SIToFPOp>(type, integers);
  }

  Value abs(Value a) {
    uint64_t keep = isDouble() ? ~uint64_t(0) >> 1 : 0x7fffffffu;
    return fromBits(andBits(toBits(a), bit(keep)));
  }
  /// `magnitude` (not negative) with the sign of `a`.
  Value withSign(Value magnitude, Value a) {
    uint64_t sign = isDouble() ? uint64_t(1) << 63 : 0x80000000u;
    Value signBit = andBits(toBits(a), bit(sign));
    return fromBits(orBits(toBits(magnitude), signBit));
  }
  /// Sum of coefficients[i] * x^i by Horner's rule.
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients) {
    Value sum = num(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = mulAdd(sum, x, num(coefficient));
    return sum;
  }

  template <typename Op, typename... Operands> Value make(Operands... values) {
    return Op::create(builder, loc, values...);
  }
  template <typename Op> Value convert(mlir::Type to, Value value) {
    return Op::create(builder, loc, to, value);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type;
  mlir::Type bits;
  unsigned width;

private:
  Value splat(mlir::Type as, mlir::TypedAttr element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(as))
      return mlir::arith::ConstantOp::create(
          builder, loc, mlir::DenseElementsAttr::get(vector, element));
    return mlir::arith::ConstantOp::create(builder, loc, element);
  }
};

} // namespace sinter::compiler
