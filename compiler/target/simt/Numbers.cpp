/// Numbers: by arith's ops.
#include "compiler/target/simt/Numbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

Value Numbers::number(int32_t value) const {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}
Value Numbers::add(Value a, Value b) const {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value Numbers::mul(Value a, int32_t b) const {
  return arith::MulIOp::create(builder, loc, a, number(b));
}
Value Numbers::sub(Value a, Value b) const {
  return arith::SubIOp::create(builder, loc, a, b);
}
Value Numbers::divide(Value a, int32_t b) const {
  return arith::DivUIOp::create(builder, loc, a, number(b));
}
Value Numbers::smaller(Value a, Value b) const {
  return arith::MinSIOp::create(builder, loc, a, b);
}
Value Numbers::bitAnd(Value a, int32_t b) const {
  return arith::AndIOp::create(builder, loc, a, number(b));
}
Value Numbers::bitXor(Value a, Value b) const {
  return arith::XOrIOp::create(builder, loc, a, b);
}
Value Numbers::shiftRight(Value a, int32_t b) const {
  return arith::ShRUIOp::create(builder, loc, a, number(b));
}
std::pair<Value, Value> Numbers::split(Value a, int64_t by) const {
  return {shiftRight(a, int32_t(llvm::Log2_64(by))),
          bitAnd(a, int32_t(by - 1))};
}
Value Numbers::equals(Value a, int32_t b) const {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                               number(b));
}
Value Numbers::less(Value a, Value b) const {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}
Value Numbers::orWide(Value a, int64_t b) const {
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), a);
  Value bits =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(b));
  return arith::OrIOp::create(builder, loc, wide, bits);
}
Value Numbers::select(Value condition, Value a, Value b) const {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value Numbers::toI32(Value index) const {
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}
Value Numbers::toIndex(Value number) const {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      number);
}

Value Numbers::toF32(Value value) const {
  Type type = builder.getF32Type();
  if (getElementTypeOrSelf(value.getType()) == type)
    return value;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return arith::ExtFOp::create(builder, loc, type, value);
}

} // namespace sinter::compiler
