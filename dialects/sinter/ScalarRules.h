/// Scalar rules: pointwise ops on elements, beyond what a dag of arith and
/// math ops says.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace sinter::ir {

class CastOp;
class CompareOp;
class CopysignOp;
class DigammaOp;
class DivOp;
class ErfinvOp;
class FmodOp;
class LgammaOp;
class PolygammaOp;
class PowOp;
class ShiftLeftOp;
class ShiftRightOp;
class WhereOp;

/// What an element is; decides which body of a Scalar record is emitted.
enum class ElementKind : uint8_t {
  floating,
  signedInteger,
  unsignedInteger,
  boolean,
};
/// The kind of an element type of the dialect (u8 is `ui8`).
ElementKind kindOf(mlir::Type element);

/// The operands of one emission, on scalars or on vectors. f16 and bf16 are
/// widened to f32 when read and rounded when the result is given.
class ScalarOperands {
public:
  ScalarOperands(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Operation *op, mlir::ValueRange operands);

  /// Of the first operand.
  ElementKind kind() const;
  mlir::Value operand(unsigned index) const;
  /// Of the type that operands are computed in.
  mlir::Value constant(double value) const;
  /// Rounds to the op's result type.
  mlir::Value result(mlir::Value value) const;
  /// Reports an op that has no body for its elements; null.
  mlir::Value unsupported() const;

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Operation *op;
  mlir::ValueRange operands;
};

/// Division: true for floats; for integers it truncates, x / 0 has all bits
/// set, and the least number divided by -1 is itself.
mlir::Value emitDivision(DivOp op, mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ValueRange operands);
/// Comparison by the op's predicate; with NaN all are false but `ne`.
mlir::Value emitComparison(CompareOp op, mlir::OpBuilder &builder,
                           mlir::Location loc, mlir::ValueRange operands);
mlir::Value emitSelection(WhereOp op, mlir::OpBuilder &builder,
                          mlir::Location loc, mlir::ValueRange operands);
/// Conversion: float to integer truncates and saturates, NaN gives 0; integer
/// to a narrower integer keeps the low bits; to bool is "not 0". What becomes
/// a float of fewer bits than f32 does so by way of f32.
mlir::Value emitConversion(CastOp op, mlir::OpBuilder &builder,
                           mlir::Location loc, mlir::ValueRange operands);

/// Magnitude and sign of two numbers; NaN has none, and counts as positive: its
/// sign is canonical in memory only.
mlir::Value emitCopySign(CopysignOp op, mlir::OpBuilder &builder,
                         mlir::Location loc, mlir::ValueRange operands);
/// Power. Of integers it wraps; a negative exponent truncates 1 / lhs^-rhs, and
/// 0 to one is 0.
mlir::Value emitPower(PowOp op, mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::ValueRange operands);
/// Remainder with the dividend's sign: exact; an integer's by 0 is itself.
mlir::Value emitRemainder(FmodOp op, mlir::OpBuilder &builder,
                          mlir::Location loc, mlir::ValueRange operands);
/// Shifts. By a number of bits that is out of range all bits go.
mlir::Value emitShiftLeft(ShiftLeftOp op, mlir::OpBuilder &builder,
                          mlir::Location loc, mlir::ValueRange operands);
mlir::Value emitShiftRight(ShiftRightOp op, mlir::OpBuilder &builder,
                           mlir::Location loc, mlir::ValueRange operands);

/// The logarithm of |gamma|: infinite at 0, -1, -2, ...
mlir::Value emitLogGamma(LgammaOp op, mlir::OpBuilder &builder,
                         mlir::Location loc, mlir::ValueRange operands);
/// Its derivative: NaN at -1, -2, ...; infinite at 0.
mlir::Value emitDigamma(DigammaOp op, mlir::OpBuilder &builder,
                        mlir::Location loc, mlir::ValueRange operands);
/// The op's order's derivative of digamma.
mlir::Value emitPolygamma(PolygammaOp op, mlir::OpBuilder &builder,
                          mlir::Location loc, mlir::ValueRange operands);
/// The inverse of erf: NaN outside of [-1, 1].
mlir::Value emitInverseErf(ErfinvOp op, mlir::OpBuilder &builder,
                           mlir::Location loc, mlir::ValueRange operands);

} // namespace sinter::ir
