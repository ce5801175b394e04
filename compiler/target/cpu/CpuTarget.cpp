/// The cpu target: kernel functions over the argument block.
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/llvm/LlvmForm.h"

#include "compiler/link/LinkImage.h"
#include "compiler/math/ExpandMath.h"
#include "compiler/math/ExpandTrig.h"
#include "compiler/math/WholeVectors.h"
#include "compiler/target/KernelMemory.h"
#include "compiler/target/LoweringPasses.h"
#include "compiler/target/cpu/TileUnit.h"
#include "runtime/device/KernelAbi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace sinter::compiler {

static bool hasLongVectors(const CpuFeatures &features) {
  return features.has("avx512f") && features.has("avx512bw") &&
         features.has("avx512dq") && features.has("avx512vl");
}

static unsigned vectorRegistersOf(const CpuFeatures &features) {
  return hasLongVectors(features) || features.isArm() ? 32 : 16;
}

// Of a core with such registers, not the one at hand: code depends on nothing
// but the target's features.
static Machines machinesOf(const CpuFeatures &features) {
  MachineModel machine = coreMachine();
  if (vectorRegistersOf(features) < 32)
    machine.level2Bytes = 512 << 10;
  return {machine, machine};
}

CpuTarget::CpuTarget(std::string name, CpuFeatures given)
    : Target(machinesOf(given)), targetName(std::move(name)),
      features(std::move(given)), registers(vectorRegistersOf(features)) {
  if (hasLongVectors(features))
    vectorLanes = 16;
  else if (features.has("avx2"))
    vectorLanes = 8;
  fma = features.has("fma") || features.isArm();
  unit = makeTileUnit(features);
}

// One byte has a sign, the other none.
bool CpuTarget::multipliesWords(Type left, Type right) const {
  if (vectorLanes < 16)
    return false;
  if (left.isBF16() && right.isBF16())
    return features.has("avx512bf16");
  return left.isInteger(8) && right.isInteger(8) &&
         left.isUnsignedInteger() != right.isUnsignedInteger() &&
         features.has("avx512vnni");
}

Value CpuTarget::addWords(OpBuilder &builder, Location loc, Value a, Value b,
                          Value sum, Type leftPart, Type rightPart) const {
  int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  bool isFloat = leftPart.isBF16();
  // The bytes without a sign come first.
  if (!isFloat && rightPart.isUnsignedInteger())
    std::swap(a, b);
  Type part = isFloat ? leftPart : builder.getI8Type();
  auto parts =
      VectorType::get({32 / part.getIntOrFloatBitWidth() * lanes}, part);
  auto partsOf = [&](Value words) -> Value {
    return LLVM::BitcastOp::create(builder, loc, parts, words);
  };
  std::string name = isFloat ? "avx512bf16.dpbf16ps." : "avx512.vpdpbusd.";
  return callIntrinsic(builder, loc, sum.getType(),
                       "llvm.x86." + name + std::to_string(32 * lanes),
                       {sum, partsOf(a), partsOf(b)});
}

KernelEntry CpuTarget::beginKernel(OpBuilder &builder, ModuleOp module,
                                   StringRef symbol, TypeRange elements,
                                   unsigned numDims) const {
  loadLlvmDialects(*module.getContext());
  Location loc = builder.getUnknownLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto i64 = builder.getI64Type();
  auto index = builder.getIndexType();
  KernelEntry entry;
  Block *body = beginFunction(builder, module, symbol,
                              {pointer, pointer, i64, i64}, entry);

  using runtime::KernelBlock;
  Value block = body->getArgument(0);
  auto field = [&](size_t offset, Type fieldType) {
    return loadField(builder, loc, block, int64_t(offset), fieldType);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, index, value);
  };
  entry.addresses = field(offsetof(KernelBlock, buffers), pointer);
  for (auto [number, element] : llvm::enumerate(elements)) {
    Value address =
        loadField(builder, loc, entry.addresses, 8 * number, pointer);
    entry.buffers.push_back(viewAsMemRef(builder, loc, address, element));
  }
  if (numDims) {
    Value dims = field(offsetof(KernelBlock, dims), pointer);
    for (unsigned number = 0; number < numDims; ++number)
      entry.dims.push_back(
          toIndex(loadField(builder, loc, dims, 8 * number, i64)));
  }
  entry.errorWord = field(offsetof(KernelBlock, error), pointer);
  entry.launch = field(offsetof(KernelBlock, launch), builder.getI32Type());
  entry.firstChunk = toIndex(body->getArgument(2));
  entry.lastChunk = toIndex(body->getArgument(3));
  return entry;
}

Value CpuTarget::bufferAt(OpBuilder &builder, Location loc,
                          const KernelEntry &entry, Value number,
                          Type element) const {
  return viewAsMemRef(builder, loc, addressAt(builder, loc, entry, number),
                      element);
}

void CpuTarget::reportIndexError(OpBuilder &builder, Location loc,
                                 const KernelEntry &entry, Value index) const {
  lowerErrorWord(builder, loc, entry, index);
}

void CpuTarget::endStreaming(OpBuilder &builder, Location loc) const {
  if (features.isArm()) // such stores are seen as others are
    return;
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.x86.sse.sfence"), ValueRange{});
}

void CpuTarget::buildLowering(OpPassManager &passes) const {
  passes.addPass(createExpandMath(*this));
  passes.addPass(createCallFarTrig(*this));
  passes.addPass(createLowerAbi(*this));
}

MathFeatures CpuTarget::mathFeatures(ModuleOp module) const {
  return {.fma = fma,
          .rounds = features.has("sse4.1") || features.isArm(),
          .nativeF16 = features.has("f16c") || features.isArm(),
          .vectorBits = 32 * vectorLanes,
          .alike = module->hasAttr(alikeAttr),
          .approximates = module->hasAttr(approximatesAttr),
          .secondExtremum = !features.isArm()};
}

FarOptions CpuTarget::farTrig() const { return {.fma = fma, .oneByOne = true}; }

LogicalResult CpuTarget::lowerAbi(ModuleOp module, RunPasses run) const {
  return convertToLlvm(module, run);
}

FailureOr<TargetCode> CpuTarget::translate(ModuleOp module,
                                           bool keepText) const {
  return emitObject(module, features, keepText);
}

Result<std::vector<std::byte>>
CpuTarget::link(std::span<const std::string> objects) const {
  return linkImage(objects, features.isArm());
}

} // namespace sinter::compiler
