/// What is known of NaNs.
#include "compiler/math/Nans.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace sinter::compiler {

std::optional<llvm::APFloat> knownNumber(Value value) {
  if (auto spread = value.getDefiningOp<vector::BroadcastOp>())
    value = spread.getSource();
  llvm::APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)) || number.isNaN())
    return std::nullopt;
  return number;
}

// Where both are zero, which of them it is matters.
bool passesNan(Operation *extremum) {
  return llvm::any_of(extremum->getOperands(), [](Value operand) {
    std::optional<llvm::APFloat> number = knownNumber(operand);
    return number && !number->isZero();
  });
}

bool ignoresNan(Operation *extremum) {
  auto fast =
      cast<arith::ArithFastMathInterface>(extremum).getFastMathFlagsAttr();
  return fast &&
         arith::bitEnumContainsAny(fast.getValue(), arith::FastMathFlags::nnan);
}

} // namespace sinter::compiler
