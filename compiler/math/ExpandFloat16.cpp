/// Conversions between f32 and the 16-bit floats as bit arithmetic.
#include "compiler/math/ExpandFloat16.h"

#include "compiler/math/ElementMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace sinter::compiler {

// The bits of 16-bit floats, zero-extended to 32.
static Value widenBits(ElementMath &m, Value narrow) {
  Type i16 = m.shaped(m.builder.getIntegerType(16));
  Value word = m.convert<arith::BitcastOp>(i16, narrow);
  return m.convert<arith::ExtUIOp>(m.bits, word);
}

static Value narrowBits(ElementMath &m, Value word, Type type) {
  Type i16 = m.shaped(m.builder.getIntegerType(16));
  return m.convert<arith::BitcastOp>(type,
                                     m.convert<arith::TruncIOp>(i16, word));
}

static Value extendBf16(ElementMath &m, Value narrow) {
  return m.fromBits(m.shl(widenBits(m, narrow), 16));
}

// To nearest, ties to even; NaN stays NaN and becomes quiet.
static Value truncateBf16(ElementMath &m, Value x, Type type) {
  Value word = m.toBits(x);
  Value odd = m.andBits(m.shr(word, 16), m.bit(1));
  Value rounded = m.addBits(m.addBits(word, m.bit(0x7fff)), odd);
  Value quiet = m.orBits(word, m.bit(0x400000));
  Value result = m.select(m.eq(x, x), rounded, quiet);
  return narrowBits(m, m.shr(result, 16), type);
}

// Of a subnormal number, by numbers that are none: beside the least normal one.
static Value small(ElementMath &m, Value magnitude) {
  Value beside = m.fromBits(m.addBits(magnitude, m.bit(113 << 23)));
  return m.sub(beside, m.num(0x1p-14));
}

// Shifting the exponent field into place and multiplying by 2^112 is exact for
// normal and subnormal numbers.
static Value extendF16(ElementMath &m, Value narrow, bool hasDenormals) {
  Value word = widenBits(m, narrow);
  Value magnitude = m.shl(m.andBits(word, m.bit(0x7fff)), 13);
  Value exponent = m.andBits(word, m.bit(0x7c00));
  Value scaled =
      hasDenormals
          ? m.toBits(m.mul(m.fromBits(magnitude), m.num(0x1p112)))
          : m.select(m.same(exponent, m.bit(0)), m.toBits(small(m, magnitude)),
                     m.addBits(magnitude, m.bit(112 << 23)));
  Value special = m.orBits(magnitude, m.bit(0x7f800000));
  Value value = m.select(m.same(exponent, m.bit(0x7c00)), special, scaled);
  Value sign = m.shl(m.andBits(word, m.bit(0x8000)), 16);
  return m.fromBits(m.orBits(value, sign));
}

// Adding a power of two that matches the result's last place lets the f32
// addition do the rounding.
static Value truncateF16(ElementMath &m, Value x, Type type) {
  Value base = m.mul(m.mul(m.abs(x), m.num(0x1p112)), m.num(0x1p-110));
  Value word = m.toBits(x);
  Value doubled = m.addBits(word, word);
  Value bias = m.andBits(doubled, m.bit(0xff000000));
  Value least = m.bit(0x71000000);
  bias = m.select(m.below(bias, least), least, bias);
  Value anchor = m.fromBits(m.addBits(m.shr(bias, 1), m.bit(0x07800000)));
  Value sum = m.toBits(m.add(anchor, base));
  Value exponent = m.andBits(m.shr(sum, 13), m.bit(0x7c00));
  Value value = m.addBits(exponent, m.andBits(sum, m.bit(0x0fff)));
  value = m.select(m.eq(x, x), value, m.bit(0x7e00));
  Value sign = m.shr(m.andBits(word, m.bit(0x80000000)), 16);
  return narrowBits(m, m.orBits(value, sign), type);
}

static Value throughF32(OpBuilder &builder, Operation *op,
                        const MathFeatures &features) {
  Value x = op->getOperand(0);
  Type to = op->getResult(0).getType(), middle = builder.getF32Type();
  if (auto vector = dyn_cast<VectorType>(to))
    middle = vector.clone(middle);
  Operation *first, *second;
  if (isa<arith::ExtFOp>(op)) {
    first = arith::ExtFOp::create(builder, op->getLoc(), middle, x);
    second =
        arith::ExtFOp::create(builder, op->getLoc(), to, first->getResult(0));
  } else {
    first = arith::TruncFOp::create(builder, op->getLoc(), middle, x);
    second =
        arith::TruncFOp::create(builder, op->getLoc(), to, first->getResult(0));
  }
  Operation *narrow = isa<arith::ExtFOp>(op) ? first : second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(narrow);
  if (Value expanded = expandFloat16(builder, narrow, features)) {
    narrow->getResult(0).replaceAllUsesWith(expanded);
    bool isLast = narrow == second;
    narrow->erase();
    if (isLast)
      return expanded;
  }
  return second->getResult(0);
}

Value expandFloat16(OpBuilder &builder, Operation *op,
                    const MathFeatures &features) {
  Value x = op->getOperand(0);
  Type to = op->getResult(0).getType();
  bool extends = isa<arith::ExtFOp>(op);
  Type wide = extends ? to : x.getType();
  Type narrow = getElementTypeOrSelf(extends ? x.getType() : to);
  if (!narrow.isBF16() && !narrow.isF16())
    return {};
  // f64 goes through f32: each step rounds to nearest even.
  if (getElementTypeOrSelf(wide).isF64())
    return throughF32(builder, op, features);
  ElementMath m(builder, op->getLoc(), wide);
  if (narrow.isBF16() && !features.nativeBf16)
    return extends ? extendBf16(m, x) : truncateBf16(m, x, to);
  if (narrow.isF16() && !features.nativeF16)
    return extends ? extendF16(m, x, features.denormals)
                   : truncateF16(m, x, to);
  return {};
}

// Numbers and vectors of them: what else has such elements is the machine's.
static bool isFloat16(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  return type.isF16() || type.isBF16();
}

static Type asBits(Type type) {
  Type i16 = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(i16)) : i16;
}

static void holdConstant(arith::ConstantOp op) {
  Type type = asBits(op.getType());
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    op.setValueAttr(IntegerAttr::get(type, number.getValue().bitcastToAPInt()));
  else if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue()))
    op.setValueAttr(DenseElementsAttr::get(
        cast<ShapedType>(type),
        splat.getSplatValue<llvm::APFloat>().bitcastToAPInt()));
}

// The machine converts values of a `narrow` type: bits become one, or one
// becomes bits.
static void holdConversion(Operation *op, Type narrow) {
  OpBuilder builder(op);
  if (isa<arith::ExtFOp>(op)) {
    Value bits = op->getOperand(0);
    op->setOperand(
        0, arith::BitcastOp::create(builder, op->getLoc(), narrow, bits));
    return;
  }
  Value half = op->getResult(0);
  builder.setInsertionPointAfter(op);
  auto bits = arith::BitcastOp::create(builder, op->getLoc(),
                                       asBits(half.getType()), half);
  half.replaceAllUsesExcept(bits, bits);
}

void holdFloat16AsBits(ModuleOp module) {
  SmallVector<std::pair<Operation *, Type>> conversions;
  SmallVector<Operation *> casts;
  module.walk([&](Operation *op) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      return;
    for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
      if (isFloat16(type))
        conversions.push_back({op, type});
  });
  module.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isFloat16(argument.getType()))
            argument.setType(asBits(argument.getType()));
    if (isa<arith::BitcastOp>(op))
      casts.push_back(op);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (isFloat16(constant.getType()))
        holdConstant(constant);
    // What the machine's own instructions take stays as it is.
    if (isa<arith::TruncFOp>(op) ||
        isa_and_present<LLVM::LLVMDialect>(op->getDialect()))
      return;
    for (Value result : op->getResults())
      if (isFloat16(result.getType()))
        result.setType(asBits(result.getType()));
  });
  for (auto [op, narrow] : conversions)
    holdConversion(op, narrow);
  for (Operation *op : casts) {
    if (op->getOperand(0).getType() != op->getResult(0).getType())
      continue;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
}

} // namespace sinter::compiler
