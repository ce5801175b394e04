/// Instructions on whole vectors.
#include "compiler/math/WholeVectors.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

bool isWhole(Type type, unsigned bits) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 &&
         vector.getNumElements() * vector.getElementTypeBitWidth() % bits == 0;
}

static Value part(OpBuilder &builder, Location loc, Value value, int64_t from,
                  int64_t count) {
  auto type = cast<VectorType>(value.getType());
  if (type.getNumElements() == count)
    return value;
  return vector::ExtractStridedSliceOp::create(
      builder, loc, value, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{count},
      ArrayRef<int64_t>{1});
}

// Fewer lanes than a vector has: those beyond repeat the first.
static Value widen(OpBuilder &builder, Location loc, Value value,
                   int64_t lanes) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return vector::BroadcastOp::create(
        builder, loc, VectorType::get({lanes}, value.getType()), value);
  SmallVector<int64_t> order(lanes, 0);
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    order[lane] = lane;
  return vector::ShuffleOp::create(builder, loc, value, value, order);
}

Value byWholeVectors(OpBuilder &builder, Location loc, unsigned bits,
                     ArrayRef<Value> operands,
                     llvm::function_ref<Value(ArrayRef<Value>)> emit) {
  Type type = operands.front().getType();
  auto vector = dyn_cast<VectorType>(type);
  int64_t lanes = bits / getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  int64_t count = vector ? vector.getNumElements() : 1;
  if (count < lanes) {
    SmallVector<Value> wide;
    for (Value operand : operands)
      wide.push_back(widen(builder, loc, operand, lanes));
    Value result = emit(wide);
    return vector ? part(builder, loc, result, 0, count)
                  : Value(vector::ExtractOp::create(builder, loc, result, 0));
  }
  Value all;
  for (int64_t from = 0; from < count; from += lanes) {
    SmallVector<Value> parts;
    for (Value operand : operands)
      parts.push_back(part(builder, loc, operand, from, lanes));
    Value result = emit(parts);
    if (count == lanes)
      return result;
    if (!all)
      all = ub::PoisonOp::create(
          builder, loc, vector.clone(getElementTypeOrSelf(result.getType())));
    all = vector::InsertStridedSliceOp::create(builder, loc, result, all,
                                               ArrayRef<int64_t>{from},
                                               ArrayRef<int64_t>{1});
  }
  return all;
}

Value callIntrinsic(OpBuilder &builder, Location loc, Type result,
                    StringRef name, ArrayRef<Value> operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, result,
                                       builder.getStringAttr(name), operands)
      .getResult(0);
}

} // namespace sinter::compiler
