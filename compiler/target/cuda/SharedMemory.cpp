/// SharedMemory: arrays that a block's threads share.
#include "compiler/target/cuda/SharedMemory.h"

#include "runtime/device/cuda/CudaImage.h"

using namespace mlir;

namespace sinter::compiler {

LLVM::GlobalOp declareShared(func::FuncOp function, int64_t bytes,
                             int64_t alignment) {
  Location loc = function.getLoc();
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  std::string name = function.getName().str();
  if (bytes > declaredBytes)
    return LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
        /*isConstant=*/false, LLVM::Linkage::External,
        runtime::launchedMemoryName(name, uint64_t(bytes)), Attribute(),
        alignment, sharedSpace);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                                       LLVM::Linkage::Internal, name + "_frame",
                                       Attribute(), alignment, sharedSpace);
  Block *body = builder.createBlock(&global.getInitializer());
  builder.setInsertionPointToStart(body);
  Value undefined = LLVM::UndefOp::create(builder, loc, type);
  LLVM::ReturnOp::create(builder, loc, undefined);
  return global;
}

} // namespace sinter::compiler
