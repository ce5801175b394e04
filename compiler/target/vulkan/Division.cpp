/// Division of integers: by reciprocals, and what it leaves.
#include "compiler/target/vulkan/Division.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/DivisionByConstantInfo.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

constexpr unsigned width = 64, half = 32;

/// Makes arithmetic on words.
class Words {
public:
  Words(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc), type(builder.getI64Type()) {}

  Value number(const llvm::APInt &value) {
    return spirv::ConstantOp::create(builder, loc, type,
                                     builder.getIntegerAttr(type, value));
  }
  Value number(uint64_t value) { return number(llvm::APInt(width, value)); }
  template <typename Op> Value make(Value lhs, Value rhs) {
    return Op::create(builder, loc, type, lhs, rhs);
  }
  Value add(Value lhs, Value rhs) { return make<spirv::IAddOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return make<spirv::ISubOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return make<spirv::IMulOp>(lhs, rhs); }
  /// Down by so many bits.
  Value shift(Value word, unsigned bits, bool isSigned) {
    if (bits == 0)
      return word;
    return isSigned ? make<spirv::ShiftRightArithmeticOp>(word, number(bits))
                    : make<spirv::ShiftRightLogicalOp>(word, number(bits));
  }

  /// The upper word of a product of two, from products of their halves.
  Value upper(Value word, const llvm::APInt &factor, bool isSigned) {
    llvm::APInt high = isSigned ? factor.ashr(half) : factor.lshr(half);
    Value low = number(factor.getLoBits(half)), mask = number(~0u);
    auto lowHalf = [&](Value each) {
      return make<spirv::BitwiseAndOp>(each, mask);
    };
    Value wordLow = lowHalf(word), wordHigh = shift(word, half, isSigned);
    Value first =
        add(mul(wordHigh, low), shift(mul(wordLow, low), half, false));
    Value second = add(mul(wordLow, number(high)), lowHalf(first));
    return add(add(mul(wordHigh, number(high)), shift(first, half, isSigned)),
               shift(second, half, isSigned));
  }

  /// Toward zero; the divisor is not 0, 1 or -1.
  Value signedQuotient(Value word, const llvm::APInt &divisor) {
    auto by = llvm::SignedDivisionByConstantInfo::get(divisor);
    Value result = upper(word, by.Magic, true);
    if (divisor.isStrictlyPositive() && by.Magic.isNegative())
      result = add(result, word);
    if (divisor.isNegative() && by.Magic.isStrictlyPositive())
      result = sub(result, word);
    result = shift(result, by.ShiftAmount, true);
    return add(result, shift(result, width - 1, false));
  }

  /// The divisor is not 0 or 1.
  Value unsignedQuotient(Value word, const llvm::APInt &divisor) {
    if (divisor.isPowerOf2())
      return shift(word, divisor.logBase2(), false);
    auto by = llvm::UnsignedDivisionByConstantInfo::get(divisor);
    Value result = upper(shift(word, by.PreShift, false), by.Magic, false);
    if (by.IsAdd)
      result = add(shift(sub(word, result), 1, false), result);
    return shift(result, by.PostShift, false);
  }

private:
  OpBuilder &builder;
  Location loc;
  Type type;
};

template <typename Op, bool isSigned, bool isRest>
struct LowerConstantDivision : OpConversionPattern<Op> {
  LowerConstantDivision(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern<Op>(converter, context, PatternBenefit(3)) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getType());
    llvm::APInt divisor;
    if (!type || !type.isInteger(width) ||
        !matchPattern(op.getRhs(), m_ConstantInt(&divisor)) ||
        divisor.isZero() || divisor.isOne() ||
        (isSigned && divisor.isAllOnes()))
      return failure();
    Words words(rewriter, op.getLoc());
    Value x = adaptor.getLhs();
    Value result = isSigned ? words.signedQuotient(x, divisor)
                            : words.unsignedQuotient(x, divisor);
    if (isRest)
      result = words.sub(x, words.mul(result, words.number(divisor)));
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// x - x / d * d. MLIR's own pattern takes absolute values, and the least
/// integer, which is its own, for a positive one.
struct LowerSignedRest : OpConversionPattern<arith::RemSIOp> {
  LowerSignedRest(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, PatternBenefit(2)) {}

  LogicalResult
  matchAndRewrite(arith::RemSIOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getLhs(), divisor = adaptor.getRhs();
    Value quotient = spirv::SDivOp::create(rewriter, loc, x, divisor);
    Value whole = spirv::IMulOp::create(rewriter, loc, quotient, divisor);
    rewriter.replaceOpWithNewOp<spirv::ISubOp>(op, x, whole);
    return success();
  }
};

} // namespace

void addDivision(const SPIRVTypeConverter &converter,
                 RewritePatternSet &patterns) {
  patterns
      .add<LowerConstantDivision<arith::DivSIOp, true, false>,
           LowerConstantDivision<arith::RemSIOp, true, true>,
           LowerConstantDivision<arith::DivUIOp, false, false>,
           LowerConstantDivision<arith::RemUIOp, false, true>, LowerSignedRest>(
          converter, patterns.getContext());
}

} // namespace sinter::compiler
