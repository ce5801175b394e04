/// CudaBlock: a block's threads for rows that they work on together.
#include "compiler/target/cuda/CudaBlock.h"

#include "compiler/target/KernelMemory.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/cuda/Ptx.h"
#include "compiler/target/cuda/SharedMemory.h"
#include "compiler/target/cuda/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Of a block: so that some share a multiprocessor.
constexpr int64_t mostBytes = 80 * 1024;

class CudaBlock final : public BlockThreads {
public:
  explicit CudaBlock(const MachineModel &machine) : machine(machine) {}

  int64_t warpThreads() const override { return Warp::threads; }
  int64_t mostThreads() const override { return 1024; }
  int64_t mostNumbers() const override { return mostBytes / 4; }

  Block begin(OpBuilder &builder, Location loc, const KernelEntry &entry,
              int64_t threads, int64_t numbers,
              int64_t registers) const override {
    int64_t blocks = std::min(machine.registers / (registers * threads),
                              machine.threads / threads);
    constexpr int64_t alignment = 64;
    Value start =
        memoryOf(builder, loc, entry, threads, numbers, blocks, alignment);
    start = LLVM::AddrSpaceCastOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), start);
    return {number(builder, loc),
            Ptx(builder, loc).toIndex(readRegister(builder, loc, "tid.x")),
            viewAsMemRef(builder, loc, start, builder.getF32Type())};
  }

  void wait(OpBuilder &builder, Location loc) const override {
    Ptx(builder, loc).syncBlock();
  }

  void fetch(OpBuilder &builder, Location loc, Value buffer,
             Value place) const override {
    Type i64 = builder.getI64Type();
    int64_t bytes =
        cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
    Value start =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    Value offset = arith::MulIOp::create(
        builder, loc, place,
        arith::ConstantIndexOp::create(builder, loc, bytes));
    Value address = arith::IndexCastOp::create(
        builder, loc, i64, arith::AddIOp::create(builder, loc, start, offset));
    Ptx(builder, loc).run("prefetch.L2 [$0];", "l", {address});
  }

  Value exchange(OpBuilder &builder, Location loc, Value number,
                 int64_t distance) const override {
    return Ptx(builder, loc).exchange(number, int32_t(distance));
  }

  Panels beginPanels(OpBuilder &builder, Location loc, const KernelEntry &entry,
                     int64_t threads, int64_t numbers,
                     int64_t blocks) const override {
    Panels panels;
    panels.memory = memoryOf(builder, loc, entry, threads, numbers, blocks,
                             4 * groupOfPlaces);
    panels.start = panels.memory;
    panels.thread = readRegister(builder, loc, "tid.x");
    return panels;
  }

  Value number(OpBuilder &builder, Location loc) const override {
    return Ptx(builder, loc).toIndex(readRegister(builder, loc, "ctaid.x"));
  }

  Value placeAt(OpBuilder &builder, Location loc, Value place,
                Value numbers) const override {
    return LLVM::GEPOp::create(builder, loc, place.getType(),
                               builder.getF32Type(), place,
                               ArrayRef<LLVM::GEPArg>{numbers});
  }

  Value placeAt(OpBuilder &builder, Location loc, Value place,
                int64_t numbers) const override {
    return LLVM::GEPOp::create(builder, loc, place.getType(),
                               builder.getF32Type(), place,
                               ArrayRef<LLVM::GEPArg>{int32_t(numbers)});
  }

  Value load(OpBuilder &builder, Location loc, const Panels &, Value place,
             int64_t numbers, unsigned count) const override {
    Type type = builder.getF32Type();
    if (count > 1)
      type = VectorType::get({count}, type);
    return LLVM::LoadOp::create(
        builder, loc, type, placeAt(builder, loc, place, numbers), 4 * count);
  }

  void store(OpBuilder &builder, Location loc, const Panels &, Value value,
             Value place, int64_t numbers) const override {
    auto vector = dyn_cast<VectorType>(value.getType());
    unsigned count = vector ? unsigned(vector.getNumElements()) : 1;
    LLVM::StoreOp::create(builder, loc, value,
                          placeAt(builder, loc, place, numbers), 4 * count);
  }

private:
  static Value memoryOf(OpBuilder &builder, Location loc,
                        const KernelEntry &entry, int64_t threads,
                        int64_t numbers, int64_t blocks, int64_t alignment) {
    auto function = cast<func::FuncOp>(entry.function);
    function->setAttr(blocksAttr,
                      builder.getI64IntegerAttr(std::max<int64_t>(1, blocks)));
    function->setAttr(warpsAttr,
                      builder.getI64IntegerAttr(threads / Warp::threads));
    LLVM::GlobalOp array = declareShared(function, 4 * numbers, alignment);
    return LLVM::AddressOfOp::create(
        builder, loc,
        LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace),
        array.getSymName());
  }

  const MachineModel machine;
};

} // namespace

std::unique_ptr<const BlockThreads> makeCudaBlock(const MachineModel &machine) {
  return std::make_unique<CudaBlock>(machine);
}

} // namespace sinter::compiler
