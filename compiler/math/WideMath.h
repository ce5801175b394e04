/// Arithmetic on vectors of 16 floats, with the instructions that only these
/// have.
#pragma once

#include "compiler/math/ElementMath.h"
#include "compiler/math/WholeVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace sinter::compiler {

/// ElementMath on vectors of 16 x f32.
class WideMath : public ElementMath {
public:
  WideMath(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : ElementMath(builder, loc, type) {
    fused = true;
  }

  /// The elements whose numbers are in the low bits of `positions`: four for
  /// 16 of them, five for 32.
  Value lookUp(llvm::ArrayRef<double> numbers, Value positions) {
    if (numbers.size() == 16)
      return call("llvm.x86.avx512.permvar.sf.512",
                  {table(numbers), positions});
    return call("llvm.x86.avx512.vpermi2var.ps.512",
                {table(numbers.take_front(16)), positions,
                 table(numbers.drop_front(16))});
  }

  /// x * 2^floor(exponent), rounded once.
  Value scale(Value x, Value exponent) {
    return call("llvm.x86.avx512.mask.scalef.ps.512",
                {x, exponent, x, allLanes(), currentRounding()});
  }

  /// `x`, or if that is NaN or larger in magnitude, `most` with x's sign.
  Value bounded(Value x, double most) {
    constexpr int64_t least = 2; // of magnitudes, with the first one's sign
    return call("llvm.x86.avx512.mask.range.ps.512",
                {x, num(most), i32(least), x, allLanes(), currentRounding()});
  }

  /// The smaller of the two; `x` where that is NaN.
  Value atMost(double most, Value x) {
    return call("llvm.x86.avx512.min.ps.512",
                {num(most), x, currentRounding()});
  }

  /// floor(log2 |x|) as a float: -inf of 0, inf of an infinity, NaN of NaN.
  Value exponentOf(Value x) {
    return call("llvm.x86.avx512.mask.getexp.ps.512",
                {x, x, allLanes(), currentRounding()});
  }
  /// x by a power of two, in [3/4, 3/2): 1 of zeros and infinity, NaN of what
  /// is below 0.
  Value positiveMantissa(Value x) {
    constexpr int64_t from34To32 = 3, isPositive = 3 << 2;
    return call(
        "llvm.x86.avx512.mask.getmant.ps.512",
        {x, i32(from34To32 | isPositive), x, allLanes(), currentRounding()});
  }

  /// 1 / sqrt(x) to 14 bits, of denormals too.
  Value reciprocalRoot14(Value x) {
    return call("llvm.x86.avx512.rsqrt14.ps.512", {x, x, allLanes()});
  }

  /// What an operand that is one of the special numbers makes of a result.
  enum class Special : uint32_t {
    operand = 1,
    infinity = 5,
    signedInfinity = 6,
    zero = 8
  };
  /// `result`, but what is said of operands that are 0 or +inf.
  Value fixed(Value result, Value operand, Special ofZero, Special ofInfinity) {
    constexpr unsigned zeros = 2 * 4, infinities = 5 * 4; // bits
    uint32_t responses = uint32_t(ofZero) << zeros | uint32_t(ofInfinity)
                                                         << infinities;
    return call("llvm.x86.avx512.mask.fixupimm.ps.512",
                {result, operand, bit(responses), i32(0), allLanes(),
                 currentRounding()});
  }

private:
  Value call(llvm::StringRef name, llvm::ArrayRef<Value> operands) {
    return callIntrinsic(builder, loc, type, name, operands);
  }
  Value table(llvm::ArrayRef<double> numbers) {
    llvm::SmallVector<float> elements(numbers.begin(), numbers.end());
    return mlir::arith::ConstantOp::create(
        builder, loc,
        mlir::DenseElementsAttr::get(mlir::cast<mlir::VectorType>(type),
                                     llvm::ArrayRef<float>(elements)));
  }
  Value i32(int64_t value) {
    return mlir::LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                          value);
  }
  Value currentRounding() { return i32(4); }
  Value allLanes() {
    return mlir::LLVM::ConstantOp::create(builder, loc, builder.getI16Type(),
                                          -1);
  }
};

} // namespace sinter::compiler
