/// The bits of NaN.
#include "compiler/lower/element/CanonicalNan.h"

#include "compiler/analysis/OpsBehind.h"
#include "compiler/math/Nans.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

// Arithmetic makes its own NaNs canonical, whatever those that it reads.
static bool isSeen(Value tensor) {
  return llvm::any_of(tensor.getUsers(),
                      [](Operation *user) { return !isArithmetic(user); });
}

// The bits of 16-bit floats are compared as such: no conversion is needed.
static Value canonicalHalf(Emission &emission, Value value, FloatType type) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Type shape = value.getType(), word = builder.getI16Type();
  if (auto vector = dyn_cast<VectorType>(shape))
    word = vector.clone(word);
  auto bitsOf = [&](const llvm::APFloat &number) {
    return emission.integer(word,
                            int64_t(number.bitcastToAPInt().getZExtValue()));
  };
  const llvm::fltSemantics &format = type.getFloatSemantics();
  Value bits = arith::BitcastOp::create(builder, loc, word, value);
  Value magnitude =
      arith::AndIOp::create(builder, loc, bits, emission.integer(word, 0x7fff));
  Value isNan =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, magnitude,
                            bitsOf(llvm::APFloat::getInf(format)));
  Value result = arith::SelectOp::create(
      builder, loc, isNan, bitsOf(llvm::APFloat::getQNaN(format)), bits);
  return arith::BitcastOp::create(builder, loc, shape, result);
}

// Whether a NaN in it can only be the canonical one: targets see to that in an
// extremum.
static bool isCanonical(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op) ||
      ignoresNan(op))
    return false;
  return !passesNan(op) || llvm::any_of(op->getOperands(), isCanonical);
}

Element canonicalNan(Emission &emission, Value tensor, Element element) {
  auto type = dyn_cast<FloatType>(elementOf(tensor));
  if (!type || type.getWidth() <= 8 || !isArithmetic(tensor.getDefiningOp()) ||
      !isSeen(tensor))
    return element;
  Value value = element.value;
  if (isCanonical(value))
    return element;
  if (type.getWidth() < 32)
    return Element{canonicalHalf(emission, value, type)};
  OpBuilder &builder = emission.builder;
  Value isNan = arith::CmpFOp::create(builder, emission.loc,
                                      arith::CmpFPredicate::UNO, value, value);
  Value nan = emission.number(value.getType(),
                              std::numeric_limits<double>::quiet_NaN());
  return Element{
      arith::SelectOp::create(builder, emission.loc, isNan, nan, value)};
}

} // namespace sinter::compiler
