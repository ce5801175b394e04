/// The vulkan target: kernels over words of an argument block.
#include "compiler/target/vulkan/VulkanTarget.h"

#include "compiler/math/ExpandMath.h"
#include "compiler/math/ExpandTrig.h"
#include "compiler/target/KernelMemory.h"
#include "compiler/target/LoweringPasses.h"
#include "compiler/target/simt/DistributeLanes.h"
#include "compiler/target/simt/FmaUnit.h"
#include "compiler/target/simt/OneThread.h"
#include "compiler/target/simt/ReadEarly.h"
#include "compiler/target/simt/attention/FmaAttentionUnit.h"
#include "compiler/target/vulkan/FragmentUnit.h"
#include "compiler/target/vulkan/MissingTypes.h"
#include "compiler/target/vulkan/SharedGroup.h"
#include "compiler/target/vulkan/Subgroup.h"
#include "compiler/target/vulkan/Workgroup.h"
#include "compiler/target/vulkan/WorkgroupMemory.h"
#include "runtime/device/vulkan/IndexLimit.h"
#include "runtime/device/vulkan/VulkanArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"

#include <cstring>

using namespace mlir;

namespace sinter::compiler {

// A device does not say how many processors it has.
static const Machines measured = {measuredMachine(), measuredMachine()};

VulkanTarget::VulkanTarget(std::string name, VulkanProfile given)
    : Target(measured), targetName(std::move(name)), profile(std::move(given)),
      threads(makeWorkgroup(profile)) {
  if (profile.hasMatrices || profile.emulatesMatrices)
    blocks.push_back(makeFragmentUnit(profile, *threads));
  blocks.push_back(makeFmaUnit({.threads = *threads,
                                .machines = measured,
                                .mostThreads = threads->mostThreads(),
                                .mostNumbers = threads->mostNumbers(),
                                .hasFma = hasFma(),
                                .widensHalves = true}));
  attention.push_back(
      makeFmaAttentionUnit({.threads = *threads,
                            .registers = measured.own.registers,
                            .mostThreads = threads->mostThreads(),
                            .mostNumbers = threads->mostNumbers()}));
}

// Where threads exchange in memory, one word for each is left.
int64_t VulkanTarget::frameBytes() const {
  return profile.sharedBytes -
         (profile.knowsSubgroup ? 0 : 4 * profile.subgroup);
}

Value VulkanTarget::addWords(OpBuilder &, Location, Value, Value, Value, Type,
                             Type) const {
  llvm_unreachable("it multiplies no words");
}

static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

KernelEntry VulkanTarget::beginKernel(OpBuilder &builder, ModuleOp module,
                                      StringRef symbol, TypeRange elements,
                                      unsigned numDims) const {
  MLIRContext *context = module.getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect,
                       math::MathDialect, memref::MemRefDialect,
                       scf::SCFDialect, spirv::SPIRVDialect, ub::UBDialect,
                       vector::VectorDialect>();
  using runtime::VulkanArguments;
  Location loc = builder.getUnknownLoc();
  Type i64 = builder.getI64Type(), index = builder.getIndexType();
  KernelEntry entry;
  // Without i64 the block's address is never a number.
  Type words = MemRefType::get({ShapedType::kDynamic}, i64);
  Value block = beginFunction(builder, module, symbol,
                              {profile.hasInt64 ? i64 : words}, entry)
                    ->getArgument(0);
  auto word = [&](int64_t number) {
    return argumentWord(builder, loc, entry.function, number);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, index, value);
  };
  int64_t dims = sizeof(VulkanArguments) / 8, buffers = dims + numDims;
  for (unsigned number = 0; number < numDims; ++number)
    entry.dims.push_back(toIndex(word(dims + number)));
  for (auto [number, element] : llvm::enumerate(elements))
    entry.buffers.push_back(
        memoryAt(builder, loc, word(buffers + int64_t(number)), element));
  entry.addresses = block;
  if (profile.hasInt64) {
    Value offset = arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(8 * buffers));
    entry.addresses = memoryAt(
        builder, loc, arith::AddIOp::create(builder, loc, block, offset), i64);
  }
  entry.errorWord = word(offsetof(VulkanArguments, error) / 8);
  entry.launch = word(offsetof(VulkanArguments, launch) / 8);

  // Workgroups in order; each subgroup has one chunk, or none.
  Value group = workgroupNumber(builder, loc);
  Value subgroups =
      gpu::NumSubgroupsOp::create(builder, loc, index, IntegerAttr());
  Value subgroup =
      gpu::SubgroupIdOp::create(builder, loc, index, IntegerAttr());
  entry.firstChunk = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, group, subgroups),
      subgroup);
  entry.lastChunk = arith::MinUIOp::create(
      builder, loc, toIndex(word(offsetof(VulkanArguments, chunks) / 8)),
      arith::AddIOp::create(builder, loc, entry.firstChunk,
                            constantIndex(builder, loc, 1)));
  return entry;
}

Value VulkanTarget::bufferAt(OpBuilder &builder, Location loc,
                             const KernelEntry &entry, Value number,
                             Type element) const {
  if (!profile.hasInt64) {
    int64_t before = sizeof(runtime::VulkanArguments) / 8;
    number = arith::AddIOp::create(
        builder, loc, number,
        constantIndex(builder, loc, before + int64_t(entry.dims.size())));
  }
  Value address = memref::LoadOp::create(builder, loc, entry.addresses, number);
  return memoryAt(builder, loc, address, element);
}

void VulkanTarget::reportIndexError(OpBuilder &builder, Location loc,
                                    const KernelEntry &entry,
                                    Value index) const {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(value));
  };
  Value high = arith::ShLIOp::create(builder, loc, entry.launch, constant(40));
  Value low = arith::MinUIOp::create(builder, loc, index,
                                     constant((int64_t(1) << 40) - 1));
  Value word = arith::OrIOp::create(builder, loc, high, low);
  Value memory = memoryAt(builder, loc, entry.errorWord, i64);
  memref::AtomicRMWOp::create(builder, loc, arith::AtomicRMWKind::minu, word,
                              memory,
                              ValueRange(constantIndex(builder, loc, 0)));
}

const char *missingFor(Type type, const VulkanProfile &profile) {
  if (type.isF64() && !profile.hasFloat64)
    return "f64 (shaderFloat64)";
  if (!type.isIntOrFloat())
    return nullptr;
  if (type.getIntOrFloatBitWidth() == 16 && !profile.hasInt16)
    return "values of 16 bits (shaderInt16, storageBuffer16BitAccess)";
  bool isByte = type.getIntOrFloatBitWidth() <= 8 && !type.isInteger(1);
  if (isByte && !profile.hasInt8)
    return "values of 8 bits (shaderInt8, storageBuffer8BitAccess)";
  return nullptr;
}

LogicalResult VulkanTarget::check(Operation *op) const {
  auto checkTensor = [&](Value value, bool isStored) -> LogicalResult {
    auto type = cast<RankedTensorType>(value.getType());
    Type element = type.getElementType();
    // Truth values are bytes in memory.
    if (element.isInteger(1) && isStored)
      element = IntegerType::get(op->getContext(), 8);
    if (const char *missing = missingFor(element, profile))
      return op->emitOpError("of ") << type << " needs " << missing
                                    << ", which the device's profile lacks";
    if (!hasWideIndices() && type.hasStaticShape() &&
        type.getNumElements() > mostElements())
      return op->emitOpError("of ")
             << type << " needs indices of 64 bits (shaderInt64), which the "
             << "device's profile lacks: it has more than " << mostElements()
             << " elements";
    return success();
  };
  for (Value operand : op->getOperands())
    if (failed(checkTensor(operand, isa<BlockArgument>(operand))))
      return failure();
  for (Value result : op->getResults()) {
    bool isStored = llvm::any_of(result.getUsers(), [](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>();
    });
    if (failed(checkTensor(result, isStored)))
      return failure();
  }
  return success();
}

int64_t VulkanTarget::mostElements() const { return runtime::mostElements32; }

bool VulkanTarget::hasWideIndices() const { return profile.hasInt64; }

void VulkanTarget::buildLowering(OpPassManager &passes) const {
  passes.addPass(createExpandMath(*this));
  passes.addPass(createClusterLoads(*this));
  passes.addPass(createDistributeLanes(*this));
  passes.addPass(createSplitVectors(*this));
  passes.addPass(createCallFarTrig(*this));
  passes.addPass(createFitTypes(*this));
  passes.addPass(createLowerAbi(*this));
}

MathFeatures VulkanTarget::mathFeatures(ModuleOp module) const {
  // Vectors are no registers: none is as long as this. Roots are within a unit
  // in the last place, and quotients within some, from which Fma makes rounded
  // ones; of devices without, Mesa's are rounded. Of a quotient by a number
  // that is 0 Mesa (seen in 22.3) makes NaN, of f64 that are rounded to -0, +0.
  constexpr unsigned noVectorBits = 1u << 20;
  return {.fma = profile.hasFma,
          .rounds = true,
          .roundsDoubles = false,
          .vectorBits = noVectorBits,
          .alike = module->hasAttr(alikeAttr),
          .approximates = module->hasAttr(approximatesAttr),
          .denormals = profile.keepsDenormals,
          .roundedRoots = !profile.hasFma,
          .roundedQuotients = !profile.hasFma,
          .quotientsByZero = false,
          .extremumOfNumbers = profile.ordersZeros,
          .powerOfTwo = profile.hasPowerOfTwo};
}

FarOptions VulkanTarget::farTrig() const { return {.fma = profile.hasFma}; }

void VulkanTarget::clusterLoads(func::FuncOp function) const {
  if (!function->hasAttr(threadsAttr))
    readEarly(function);
}

// Where all threads of a workgroup work together each has vectors of its own.
static LogicalResult distributeOwn(func::FuncOp function) {
  auto isOwn = [](Value) { return true; };
  if (failed(checkFrameless(function)))
    return failure();
  return distributeLanes(function, OneThread(), isOwn);
}

// Elsewhere lanes are those of a subgroup's threads.
static LogicalResult distribute(func::FuncOp function,
                                const VulkanProfile &profile) {
  llvm::DenseSet<Value> onlyWritten = writtenOnly(function);
  auto isOnlyWritten = [&](Value buffer) {
    return onlyWritten.contains(buffer);
  };
  const Subgroup subgroup(profile.subgroup);
  const SharedGroup shared(profile.subgroup);
  const ThreadGroup &group = profile.knowsSubgroup
                                 ? static_cast<const ThreadGroup &>(subgroup)
                                 : shared;
  if (failed(distributeLanes(function, group, isOnlyWritten)))
    return failure();
  return placeFrames(function, profile.subgroup, profile.sharedBytes,
                     !profile.knowsSubgroup && hasBarriers(function));
}

LogicalResult VulkanTarget::distributeLanes(func::FuncOp function) const {
  if (failed(function->hasAttr(threadsAttr) ? distributeOwn(function)
                                            : distribute(function, profile)))
    return failure();
  if (!profile.knowsSubgroup)
    numberGroups(function, profile.subgroup);
  return success();
}

LogicalResult VulkanTarget::lowerAbi(ModuleOp module, RunPasses run) const {
  return convertToSpirv(module, profile, run);
}

FailureOr<TargetCode> VulkanTarget::translate(ModuleOp module,
                                              bool keepText) const {
  return emitSpirv(module, profile, keepText);
}

// Modules one after the other, each behind its length.
Result<std::vector<std::byte>>
VulkanTarget::link(std::span<const std::string> objects) const {
  std::vector<std::byte> image;
  auto append = [&](const void *from, size_t bytes) {
    auto *first = static_cast<const std::byte *>(from);
    image.insert(image.end(), first, first + bytes);
  };
  for (const std::string &object : objects) {
    uint32_t words = uint32_t(object.size() / 4);
    append(&words, sizeof(words));
    append(object.data(), object.size());
  }
  return image;
}

} // namespace sinter::compiler
