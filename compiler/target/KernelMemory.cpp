/// What targets whose kernels are LLVM functions share.
#include "compiler/target/KernelMemory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace sinter::compiler {

Value loadField(OpBuilder &builder, Location loc, Value base, int64_t offset,
                Type type) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value address =
      LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                          ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

Value viewAsMemRef(OpBuilder &builder, Location loc, Value pointer,
                   Type element) {
  auto i64 = builder.getI64Type();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(
      builder.getContext(),
      {pointer.getType(), pointer.getType(), i64, array, array});
  Value zero = LLVM::ConstantOp::create(builder, loc, i64, 0);
  Value one = LLVM::ConstantOp::create(builder, loc, i64, 1);
  Value value = LLVM::PoisonOp::create(builder, loc, descriptor);
  auto insert = [&](Value field, ArrayRef<int64_t> position) {
    value = LLVM::InsertValueOp::create(builder, loc, value, field, position);
  };
  insert(pointer, {0});
  insert(pointer, {1});
  insert(zero, {2});
  insert(zero, {3, 0});
  insert(one, {4, 0});
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

Value addressAt(OpBuilder &builder, Location loc, const KernelEntry &entry,
                Value number) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value position =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
  Value place =
      LLVM::GEPOp::create(builder, loc, pointer, pointer, entry.addresses,
                          ArrayRef<LLVM::GEPArg>{position});
  return LLVM::LoadOp::create(builder, loc, pointer, place);
}

void lowerErrorWord(OpBuilder &builder, Location loc, const KernelEntry &entry,
                    Value index) {
  auto i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64, value);
  };
  Value launch = LLVM::ZExtOp::create(builder, loc, i64, entry.launch);
  Value high = LLVM::ShlOp::create(builder, loc, launch, constant(40));
  Value low = LLVM::UMinOp::create(builder, loc, index,
                                   constant((int64_t(1) << 40) - 1));
  Value word = LLVM::OrOp::create(builder, loc, high, low);
  LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::umin,
                            entry.errorWord, word,
                            LLVM::AtomicOrdering::monotonic);
}

Block *beginFunction(OpBuilder &builder, ModuleOp module, StringRef symbol,
                     TypeRange arguments, KernelEntry &entry) {
  Location loc = builder.getUnknownLoc();
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, loc, symbol,
                                       builder.getFunctionType(arguments, {}));
  entry.function = function;
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  builder.setInsertionPoint(func::ReturnOp::create(builder, loc));
  return body;
}

} // namespace sinter::compiler
