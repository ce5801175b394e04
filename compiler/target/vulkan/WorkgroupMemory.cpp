/// WorkgroupMemory: each array for all subgroups of a workgroup.
#include "compiler/target/vulkan/WorkgroupMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVAttributes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

// Threads of a workgroup: all devices have as many.
static constexpr int64_t mostThreads = 128;

static int64_t bytesOf(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return llvm::alignTo(type.getNumElements() * ((bits + 7) / 8), 16);
}

// The operand of an access that says where it is.
static OpOperand *indexOf(Operation *access) {
  if (auto load = dyn_cast<memref::LoadOp>(access))
    return &load.getIndicesMutable()[0];
  if (auto store = dyn_cast<memref::StoreOp>(access))
    return &store.getIndicesMutable()[0];
  if (auto load = dyn_cast<vector::LoadOp>(access))
    return &load.getIndicesMutable()[0];
  if (auto store = dyn_cast<vector::StoreOp>(access))
    return &store.getIndicesMutable()[0];
  return nullptr;
}

static LogicalResult placeArray(memref::AllocaOp op, int64_t subgroups,
                                Value subgroup) {
  OpBuilder builder(op);
  MemRefType type = op.getType();
  int64_t own = type.getNumElements();
  if (subgroups > 1) {
    Location loc = op.getLoc();
    Value start = arith::MulIOp::create(
        builder, loc, subgroup,
        arith::ConstantIndexOp::create(builder, loc, own));
    for (Operation *user : op->getUsers()) {
      OpOperand *index = indexOf(user);
      if (!index)
        return user->emitOpError("cannot be run on a workgroup's memory");
      builder.setInsertionPoint(user);
      index->set(arith::AddIOp::create(builder, loc, start, index->get()));
    }
  }
  auto space = spirv::StorageClassAttr::get(op.getContext(),
                                            spirv::StorageClass::Workgroup);
  op.getResult().setType(MemRefType::get(
      {own * subgroups}, type.getElementType(), AffineMap(), space));
  return success();
}

LogicalResult placeFrames(func::FuncOp function, unsigned subgroupThreads,
                          int64_t sharedBytes, bool waitsTogether) {
  SmallVector<memref::AllocaOp> arrays;
  int64_t bytes = 0;
  function.walk([&](memref::AllocaOp op) {
    arrays.push_back(op);
    bytes += bytesOf(op.getType());
  });
  if (bytes > sharedBytes)
    return function.emitError("kernel ")
           << function.getName() << " needs " << bytes
           << " bytes of shared memory, a workgroup has " << sharedBytes;
  int64_t subgroups =
      waitsTogether ? 1 : std::max<int64_t>(1, mostThreads / subgroupThreads);
  if (bytes > 0)
    subgroups = std::min(subgroups, sharedBytes / bytes);
  OpBuilder builder(function.getContext());
  function->setAttr(threadsAttr,
                    builder.getI64IntegerAttr(subgroups * subgroupThreads));
  if (arrays.empty())
    return success();
  builder.setInsertionPointToStart(&function.getBody().front());
  Value subgroup = gpu::SubgroupIdOp::create(
      builder, function.getLoc(), builder.getIndexType(), IntegerAttr());
  for (memref::AllocaOp op : arrays) {
    // Where it stands it may be in a loop: a variable of the function.
    op->moveAfter(subgroup.getDefiningOp());
    if (failed(placeArray(op, subgroups, subgroup)))
      return failure();
  }
  return success();
}

} // namespace sinter::compiler
