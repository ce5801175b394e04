/// maximumf and minimumf: max and min of x86 give their second operand where
/// both are zero or one is NaN.
#include "compiler/math/ExpandExtremum.h"

#include "compiler/math/ElementMath.h"
#include "compiler/math/Nans.h"
#include "compiler/math/WholeVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {
namespace {

class Extremum {
public:
  Extremum(OpBuilder &builder, Operation *op, const MathFeatures &features)
      : m(builder, op->getLoc(), op->getResult(0).getType()),
        isMax(isa<arith::MaximumFOp>(op)), bits(features.vectorBits),
        hasInstruction(features.secondExtremum) {}

  // The instruction: `second` where neither is beyond the other.
  Value beyond(Value first, Value second) {
    return isMax ? m.select(m.lt(second, first), first, second)
                 : m.select(m.lt(first, second), first, second);
  }

  // Of two zeros the one that counts comes second; of another number and NaN,
  // NaN does.
  Value withNumber(Value x, const llvm::APFloat &number) {
    Value c = m.num(number.convertToDouble());
    if (!number.isZero())
      return beyond(c, x);
    bool isLesserZero = number.isNegative() == isMax;
    Value first = isLesserZero ? c : x, second = isLesserZero ? x : c;
    // A choice between x and zero would become a comparison and a mask.
    return hasInstruction && isWhole(m.type, bits) ? instruction(first, second)
                                                   : beyond(first, second);
  }

  Value ofTwo(Value a, Value b) {
    if (bits == 512 && isWhole(m.type, bits))
      return ranged(a, b);
    // Both orders differ in zeros only.
    Value one = m.toBits(beyond(a, b)), other = m.toBits(beyond(b, a));
    return m.fromBits(isMax ? m.andBits(one, other) : m.orBits(one, other));
  }

  // What it gives for NaN does not count.
  Value ofNumbers(Value a, Value b) {
    constexpr auto flags = arith::FastMathFlags::nnan;
    return isMax ? arith::MaximumFOp::create(m.builder, m.loc, a, b, flags)
                       .getResult()
                 : arith::MinimumFOp::create(m.builder, m.loc, a, b, flags)
                       .getResult();
  }

  // By the instruction, whatever is known of `b`, so that all kernels have
  // equal bits. What is such a choice itself is NaN where that was made, and
  // there is no need to choose before the last.
  Value ofNumbersOrNan(Value a, Value b) {
    auto [x, isNan] = parted(a);
    Value y = b;
    if (!knownNumber(b)) {
      auto [number, isNanToo] = parted(b);
      y = number;
      isNan = arith::OrIOp::create(m.builder, m.loc, isNan, isNanToo);
    }
    Value result =
        m.select(isNan, m.num(std::numeric_limits<double>::quiet_NaN()),
                 ofNumbers(x, y));
    result.getDefiningOp()->setDiscardableAttr(
        choosesNanAttr, UnitAttr::get(m.builder.getContext()));
    return result;
  }

  Value nanWhere(Value a, Value b, Value otherwise) {
    Value isNan = arith::CmpFOp::create(m.builder, m.loc,
                                        arith::CmpFPredicate::UNO, a, b);
    return m.select(isNan, m.num(std::numeric_limits<double>::quiet_NaN()),
                    otherwise);
  }

private:
  static constexpr int64_t currentRounding = 4;
  static constexpr StringRef choosesNanAttr = "sinter.chooses_nan";

  // A number, and whether it is NaN.
  std::pair<Value, Value> parted(Value x) {
    auto choice = x.getDefiningOp<arith::SelectOp>();
    if (choice && choice->hasAttr(choosesNanAttr))
      return {choice.getFalseValue(), choice.getCondition()};
    return {x, arith::CmpFOp::create(m.builder, m.loc,
                                     arith::CmpFPredicate::UNO, x, x)};
  }

  Value constant(unsigned width, int64_t value) {
    return LLVM::ConstantOp::create(m.builder, m.loc,
                                    m.builder.getIntegerType(width), value);
  }

  Value instruction(Value a, Value b) {
    const char *level = bits == 512    ? "avx512"
                        : bits == 256  ? "avx"
                        : m.isDouble() ? "sse2"
                                       : "sse";
    std::string name = std::string("llvm.x86.") + level +
                       (isMax ? ".max" : ".min") +
                       (m.isDouble() ? ".pd" : ".ps");
    if (bits > 128)
      name += "." + std::to_string(bits);
    return byWholeVectors(
        m.builder, m.loc, bits, {a, b}, [&](ArrayRef<Value> parts) {
          SmallVector<Value> operands(parts);
          if (bits == 512)
            operands.push_back(constant(32, currentRounding));
          return callIntrinsic(m.builder, m.loc, parts[0].getType(), name,
                               operands);
        });
  }

  // vrangeps orders zeros.
  Value ranged(Value a, Value b) {
    constexpr int64_t comparedSign = 4;
    Value which = constant(32, comparedSign | int64_t(isMax));
    Value mask = constant(m.isDouble() ? 8 : 16, -1);
    Value rounding = constant(32, currentRounding);
    StringRef name = m.isDouble() ? "llvm.x86.avx512.mask.range.pd.512"
                                  : "llvm.x86.avx512.mask.range.ps.512";
    return byWholeVectors(
        m.builder, m.loc, bits, {a, b}, [&](ArrayRef<Value> parts) {
          Value x = parts[0], y = parts[1];
          return callIntrinsic(m.builder, m.loc, x.getType(), name,
                               {x, y, which, x, mask, rounding});
        });
  }

  ElementMath m;
  bool isMax;
  unsigned bits;
  bool hasInstruction;
};

} // namespace

Value expandExtremum(OpBuilder &builder, Operation *op,
                     const MathFeatures &features) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  Type element = getElementTypeOrSelf(a.getType());
  if (!element.isF32() && !element.isF64())
    return {};
  if (knownNumber(a))
    std::swap(a, b);
  Extremum extremum(builder, op, features);
  if (features.extremumOfNumbers)
    return ignoresNan(op) ? extremum.ofNumbers(a, b)
                          : extremum.ofNumbersOrNan(a, b);
  std::optional<llvm::APFloat> number = knownNumber(b);
  Value result =
      number ? extremum.withNumber(a, *number) : extremum.ofTwo(a, b);
  if (ignoresNan(op) || passesNan(op))
    return result;
  return extremum.nanWhere(a, number ? a : b, result);
}

} // namespace sinter::compiler
