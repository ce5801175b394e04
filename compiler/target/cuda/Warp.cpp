/// Warp: shuffles, votes and barriers by LLVM's intrinsics.
#include "compiler/target/cuda/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace sinter::compiler {

static Value number32(OpBuilder &builder, Location loc, int32_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

// Of all threads.
static Value members(OpBuilder &builder, Location loc) {
  return number32(builder, loc, -1);
}

static Value call(OpBuilder &builder, Location loc, Type result, StringRef name,
                  ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, result,
             builder.getStringAttr("llvm.nvvm." + name.str()), operands)
      .getResult(0);
}

Value readRegister(OpBuilder &builder, Location loc, StringRef name) {
  return call(builder, loc, builder.getI32Type(), "read.ptx.sreg." + name.str(),
              {});
}

Value Warp::number(OpBuilder &builder, Location loc) const {
  return arith::AndIOp::create(builder, loc,
                               readRegister(builder, loc, "tid.x"),
                               number32(builder, loc, threads - 1));
}

Value Warp::from(OpBuilder &builder, Location loc, Value value,
                 Value thread) const {
  return call(builder, loc, builder.getI32Type(), "shfl.sync.idx.i32",
              {members(builder, loc), value, thread,
               number32(builder, loc, threads - 1)});
}

Value Warp::any(OpBuilder &builder, Location loc, Value flag) const {
  return call(builder, loc, builder.getI1Type(), "vote.any.sync",
              {members(builder, loc), flag});
}

void Warp::wait(OpBuilder &builder, Location loc) const {
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.nvvm.bar.warp.sync"),
      ValueRange(members(builder, loc)));
}

} // namespace sinter::compiler
