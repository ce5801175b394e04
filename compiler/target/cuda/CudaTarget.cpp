/// The cuda target: kernel functions over words of parameter memory.
#include "compiler/target/cuda/CudaTarget.h"

#include "compiler/math/ExpandMath.h"
#include "compiler/math/ExpandTrig.h"
#include "compiler/target/KernelMemory.h"
#include "compiler/target/LoweringPasses.h"
#include "compiler/target/cuda/CudaBlock.h"
#include "compiler/target/cuda/NarrowMath.h"
#include "compiler/target/cuda/SharedMemory.h"
#include "compiler/target/cuda/Warp.h"
#include "compiler/target/cuda/WarpgroupAttention.h"
#include "compiler/target/cuda/WarpgroupUnit.h"
#include "compiler/target/llvm/LlvmForm.h"
#include "compiler/target/simt/DistributeLanes.h"
#include "compiler/target/simt/FmaUnit.h"
#include "compiler/target/simt/LaneMemory.h"
#include "compiler/target/simt/MaskedLoads.h"
#include "compiler/target/simt/ReadEarly.h"
#include "compiler/target/simt/attention/FmaAttentionUnit.h"
#include "runtime/device/cuda/CudaImage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

static constexpr int64_t mostWarps = 8;
static constexpr unsigned globalSpace = 1;
// Of a block's memory: two blocks share a multiprocessor of compute capability
// 9.0.
static constexpr int64_t numbersOfAttention = 112 * 1024 / 4;

CudaTarget::CudaTarget(std::string name, const runtime::CudaArchitecture &given,
                       const Machines &machines)
    : Target(machines), targetName(std::move(name)), architecture(given.code),
      unit(makeWarpUnit()), isHopper(given.capability == 90),
      threads(makeCudaBlock(machines.own)) {
  if (isHopper) {
    blocks.push_back(makeWarpgroupUnit(machines));
    blocks.push_back(makeWarpgroupUnitOfPieces(2, machines));
    blocks.push_back(makeWarpgroupUnitOfPieces(3, machines));
    attention.push_back(makeWarpgroupAttentionUnit(machines.own));
  }
  int64_t numbers = frameBytes() / 4;
  blocks.push_back(makeFmaUnit({.threads = *threads,
                                .machines = machines,
                                .mostNumbers = numbers,
                                .widensHalves = true}));
  attention.push_back(makeFmaAttentionUnit(
      {.threads = *threads,
       .registers = machines.own.registers,
       .mostNumbers = std::min(numbersOfAttention, numbers)}));
}

Value CudaTarget::addWords(OpBuilder &, Location, Value, Value, Value, Type,
                           Type) const {
  llvm_unreachable("it multiplies no words");
}

// Buffers are in global memory: said once, so that accesses need not find out.
static Value bufferOf(OpBuilder &builder, Location loc, Value address,
                      Type element) {
  auto generic = LLVM::LLVMPointerType::get(builder.getContext());
  auto global = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
  Value pointer = LLVM::AddrSpaceCastOp::create(builder, loc, global, address);
  pointer = LLVM::AddrSpaceCastOp::create(builder, loc, generic, pointer);
  return viewAsMemRef(builder, loc, pointer, element);
}

KernelEntry CudaTarget::beginKernel(OpBuilder &builder, ModuleOp module,
                                    StringRef symbol, TypeRange elements,
                                    unsigned numDims) const {
  loadLlvmDialects(*module.getContext());
  using runtime::CudaArguments;
  Location loc = builder.getUnknownLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  Type index = builder.getIndexType();
  KernelEntry entry;
  Value block =
      beginFunction(builder, module, symbol, {pointer}, entry)->getArgument(0);
  int64_t words = sizeof(CudaArguments) / 8 + numDims + elements.size();
  auto function = cast<func::FuncOp>(entry.function);
  function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(LLVM::LLVMArrayType::get(i64, words)));
  function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(8));

  auto field = [&](size_t offset, Type type) {
    return loadField(builder, loc, block, int64_t(offset), type);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, index, value);
  };
  size_t dims = sizeof(CudaArguments), buffers = dims + 8 * numDims;
  for (unsigned number = 0; number < numDims; ++number)
    entry.dims.push_back(toIndex(field(dims + 8 * number, i64)));
  for (auto [number, element] : llvm::enumerate(elements))
    entry.buffers.push_back(
        bufferOf(builder, loc, field(buffers + 8 * number, pointer), element));
  entry.addresses =
      LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), block,
                          ArrayRef<LLVM::GEPArg>{int32_t(buffers)});
  entry.errorWord = field(offsetof(CudaArguments, error), pointer);
  entry.launch = field(offsetof(CudaArguments, launch), i32);

  // Blocks of warps in order; each warp has one chunk, or none.
  Value threads = arith::MulIOp::create(
      builder, loc, toIndex(readRegister(builder, loc, "ctaid.x")),
      toIndex(readRegister(builder, loc, "ntid.x")));
  Value thread = arith::AddIOp::create(
      builder, loc, threads, toIndex(readRegister(builder, loc, "tid.x")));
  Value five = arith::ConstantIndexOp::create(builder, loc,
                                              llvm::Log2_64(Warp::threads));
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  entry.firstChunk = arith::ShRUIOp::create(builder, loc, thread, five);
  entry.lastChunk = arith::MinUIOp::create(
      builder, loc, toIndex(field(offsetof(CudaArguments, chunks), i64)),
      arith::AddIOp::create(builder, loc, entry.firstChunk, one));
  return entry;
}

Value CudaTarget::bufferAt(OpBuilder &builder, Location loc,
                           const KernelEntry &entry, Value number,
                           Type element) const {
  return bufferOf(builder, loc, addressAt(builder, loc, entry, number),
                  element);
}

void CudaTarget::reportIndexError(OpBuilder &builder, Location loc,
                                  const KernelEntry &entry, Value index) const {
  lowerErrorWord(builder, loc, entry, index);
}

namespace {

// The frame of a warp as shared memory of its block.
class FrameMemory {
public:
  explicit FrameMemory(func::FuncOp function)
      : function(function), builder(function.getContext()) {
    function.walk([&](memref::AllocaOp op) { arrays.push_back(op); });
    for (memref::AllocaOp op : arrays) {
      offsets.push_back(bytes);
      MemRefType type = op.getType();
      bytes += llvm::alignTo(type.getNumElements() *
                                 ((type.getElementTypeBitWidth() + 7) / 8),
                             alignment);
    }
  }

  int64_t bytesOfWarp() const { return bytes; }

  // Warps of a block.
  int64_t warps() const {
    if (bytes == 0)
      return mostWarps;
    return std::clamp<int64_t>(declaredBytes / bytes, 1, mostWarps);
  }

  void replace() {
    if (arrays.empty())
      return;
    Location loc = function.getLoc();
    Value base = frameOfWarp(loc);
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    for (auto [op, offset] : llvm::zip(arrays, offsets)) {
      builder.setInsertionPoint(op);
      Value address =
          LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                              ArrayRef<LLVM::GEPArg>{int32_t(offset)});
      Value view =
          viewAsMemRef(builder, loc, address, op.getType().getElementType());
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
        use.set(view);
      op.erase();
    }
  }

private:
  static constexpr int64_t alignment = 64;

  Value frameOfWarp(Location loc) {
    LLVM::GlobalOp global = declareShared(function, bytes * warps(), alignment);
    builder.setInsertionPointToStart(&function.getBody().front());
    MLIRContext *context = builder.getContext();
    auto shared = LLVM::LLVMPointerType::get(context, sharedSpace);
    Value start =
        LLVM::AddressOfOp::create(builder, loc, shared, global.getSymName());
    Value warp = arith::ShRUIOp::create(
        builder, loc, readRegister(builder, loc, "tid.x"),
        arith::ConstantOp::create(
            builder, loc,
            builder.getI32IntegerAttr(llvm::Log2_64(Warp::threads))));
    Value offset = arith::MulIOp::create(
        builder, loc, warp,
        arith::ConstantOp::create(builder, loc,
                                  builder.getI32IntegerAttr(int32_t(bytes))));
    Value place = LLVM::GEPOp::create(builder, loc, shared, builder.getI8Type(),
                                      start, ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::AddrSpaceCastOp::create(
        builder, loc, LLVM::LLVMPointerType::get(context), place);
  }

  func::FuncOp function;
  OpBuilder builder;
  SmallVector<memref::AllocaOp> arrays;
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

} // namespace

// Lanes that read far from each other, of what is no frame: the lines that one
// vector touches have what the next ones want.
static bool gathers(func::FuncOp function) {
  return function
      .walk([](vector::GatherOp op) {
        return op.getBase().getDefiningOp<memref::AllocaOp>()
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

static LogicalResult distribute(func::FuncOp function, StringRef target,
                                int64_t frameBytes) {
  if (gathers(function))
    function->setAttr(gathersAttr, UnitAttr::get(function.getContext()));
  llvm::DenseSet<Value> onlyWritten = writtenOnly(function);
  FrameMemory frame(function);
  if (frame.bytesOfWarp() > frameBytes)
    return function.emitError("the kernel needs ")
           << frame.bytesOfWarp() << " bytes of shared memory, a block of "
           << target << " has " << frameBytes;
  frame.replace();
  function->setAttr(
      warpsAttr,
      OpBuilder(function.getContext()).getI64IntegerAttr(frame.warps()));
  return distributeLanes(function, Warp(), [&](Value buffer) {
    return onlyWritten.contains(buffer);
  });
}

// Threads that run for themselves move what is a vector of theirs at once.
static void alignAccesses(func::FuncOp function) {
  auto align = [](auto access) {
    if (auto known =
            alignmentAt(access.getIndices().front(), access.getVectorType()))
      access.setAlignment(known->value());
  };
  function.walk([&](Operation *op) {
    if (auto load = dyn_cast<vector::LoadOp>(op))
      align(load);
    if (auto store = dyn_cast<vector::StoreOp>(op))
      align(store);
  });
}

void CudaTarget::buildLowering(OpPassManager &passes) const {
  passes.addPass(createExpandMath(*this));
  passes.addPass(createClusterLoads(*this));
  passes.addPass(createDistributeLanes(*this));
  passes.addPass(createNarrowMath(*this));
  passes.addPass(createCallFarTrig(*this));
  passes.addPass(createLowerAbi(*this));
}

MathFeatures CudaTarget::mathFeatures(ModuleOp module) const {
  return {.fma = true,
          .rounds = true,
          .nativeF16 = true,
          .nativeBf16 = true,
          .vectorBits = 128,
          .alike = module->hasAttr(alikeAttr),
          .approximates = module->hasAttr(approximatesAttr),
          .extremum = true,
          .powerOfTwo = true};
}

FarOptions CudaTarget::farTrig() const { return {.fma = true}; }

void CudaTarget::clusterLoads(func::FuncOp function) const {
  if (!function->hasAttr(blocksAttr))
    return readEarly(function);
  loadBehindConditions(function);
  alignAccesses(function);
}

// Threads of blocks run for themselves, and share no frame.
LogicalResult CudaTarget::distributeLanes(func::FuncOp function) const {
  return function->hasAttr(blocksAttr)
             ? checkFrameless(function)
             : distribute(function, targetName, frameBytes());
}

LogicalResult CudaTarget::lowerAbi(ModuleOp module, RunPasses run) const {
  return convertToLlvm(module, run);
}

FailureOr<TargetCode> CudaTarget::translate(ModuleOp module,
                                            bool keepText) const {
  bool hasMaps = llvm::any_of(*module.getBody(), [](Operation &function) {
    return function.hasAttr(linesAttr);
  });
  return emitPtx(module, hasMaps ? hopperArchitecture : architecture, keepText);
}

Result<std::vector<std::byte>>
CudaTarget::link(std::span<const std::string> objects) const {
  std::vector<std::byte> image;
  for (const std::string &text : objects) {
    auto *first = reinterpret_cast<const std::byte *>(text.c_str());
    image.insert(image.end(), first, first + text.size() + 1);
  }
  return image;
}

} // namespace sinter::compiler
