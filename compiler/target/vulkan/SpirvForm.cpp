/// From scalars, loops and memory to SPIR-V.
#include "compiler/target/vulkan/Division.h"
#include "compiler/target/vulkan/SpirvPatterns.h"
#include "compiler/target/vulkan/VulkanTarget.h"
#include "compiler/target/vulkan/WorkgroupMemory.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/FuncToSPIRV/FuncToSPIRV.h"
#include "mlir/Conversion/GPUToSPIRV/GPUToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/UBToSPIRV/UBToSPIRV.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Capabilities = llvm::SetVector<spirv::Capability>;

// What the device's profile allows, by which MLIR decides what types there are.
spirv::TargetEnvAttr environmentOf(MLIRContext *context,
                                   const VulkanProfile &profile) {
  using spirv::Capability;
  SmallVector<Capability> all{Capability::Shader,
                              Capability::PhysicalStorageBufferAddresses};
  auto add = [&](bool has, std::initializer_list<Capability> those) {
    if (has)
      all.append(those);
  };
  add(profile.knowsSubgroup,
      {Capability::GroupNonUniformShuffle, Capability::GroupNonUniformVote});
  add(profile.hasInt8, {Capability::Int8, Capability::StorageBuffer8BitAccess});
  add(profile.hasInt16,
      {Capability::Int16, Capability::StorageBuffer16BitAccess});
  add(profile.hasInt64, {Capability::Int64});
  add(profile.hasFloat64, {Capability::Float64});
  add(profile.hasAtomic64, {Capability::Int64Atomics});
  auto version = spirv::VerCapExtAttr::get(
      spirv::Version::V_1_6, all, ArrayRef<spirv::Extension>(), context);
  return spirv::TargetEnvAttr::get(
      version, spirv::getDefaultResourceLimits(context),
      spirv::ClientAPI::Vulkan, spirv::Vendor::Unknown,
      spirv::DeviceType::Unknown, spirv::TargetEnvAttr::kUnknownDeviceID);
}

// The one argument of a kernel, the address of its argument block or that as
// memory, is the push constant.
void pushArgument(func::FuncOp function, spirv::GlobalVariableOp constants) {
  Location loc = function.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Value block = spirv::AddressOfOp::create(builder, loc, constants);
  Value zero = spirv::ConstantOp::getZero(builder.getI32Type(), loc, builder);
  Value place =
      spirv::AccessChainOp::create(builder, loc, block, ValueRange(zero));
  Value address = spirv::LoadOp::create(builder, loc, place);
  Type type = function.getArgument(0).getType();
  if (address.getType() != type)
    address = UnrealizedConversionCastOp::create(builder, loc, type, address)
                  .getResult(0);
  function.getArgument(0).replaceAllUsesWith(address);
  (void)function.eraseArgument(0);
}

spirv::ModuleOp wrapKernels(ModuleOp module, const VulkanProfile &profile) {
  MLIRContext *context = module.getContext();
  Location loc = module.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto kernels = spirv::ModuleOp::create(
      builder, loc, spirv::AddressingModel::PhysicalStorageBuffer64,
      spirv::MemoryModel::GLSL450);
  builder.setInsertionPointToStart(kernels.getBody());
  SmallVector<spirv::StructType::StructDecorationInfo> decorations{
      {spirv::Decoration::Block, UnitAttr::get(context)}};
  Type words = VectorType::get({2}, builder.getI32Type());
  Type address = profile.hasInt64 ? Type(builder.getI64Type())
                                  : Type(bufferPointer(words));
  Type block = spirv::StructType::get({address}, {0}, {}, decorations);
  auto constants = spirv::GlobalVariableOp::create(
      builder, loc,
      spirv::PointerType::get(block, spirv::StorageClass::PushConstant),
      "arguments", nullptr);
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    function->moveBefore(kernels.getBody(), kernels.getBody()->end());
    if (!function.isPrivate()) // those are called
      pushArgument(function, constants);
  }
  // Their arrays are variables of the module or of a function, or tables.
  auto constant =
      spirv::StorageClassAttr::get(context, spirv::StorageClass::Function);
  kernels.walk([&](memref::GetGlobalOp op) {
    auto type = cast<MemRefType>(op.getType());
    op->moveBefore(
        &op->getParentOfType<func::FuncOp>().getBody().front(),
        op->getParentOfType<func::FuncOp>().getBody().front().begin());
    op.getResult().setType(MemRefType::get(
        type.getShape(), type.getElementType(), AffineMap(), constant));
  });
  return kernels;
}

// The loop in one branch, what it would begin with in the other: no choice
// between matrices is known to MLIR 22.
void branchAround(scf::ForOp loop, Value hasRounds) {
  OpBuilder builder(loop);
  auto branch = scf::IfOp::create(builder, loop.getLoc(), loop.getResultTypes(),
                                  hasRounds, /*withElseRegion=*/true);
  loop->replaceAllUsesWith(branch);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loop.getLoc(), loop.getInitArgs());
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loop.getLoc(), loop.getResults());
  loop->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
}

// Results of a loop are written by its rounds alone (MLIR 22's conversion), so
// one without rounds would have none: it gives what it began with.
void guardEmptyLoops(spirv::ModuleOp kernels) {
  kernels.walk([](scf::ForOp loop) {
    std::optional<llvm::APInt> rounds = loop.getStaticTripCount();
    if (loop.getNumResults() == 0 || (rounds && !rounds->isZero()))
      return;
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    Value hasRounds =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                              loop.getLowerBound(), loop.getUpperBound());
    if (llvm::any_of(loop.getResultTypes(),
                     llvm::IsaPred<spirv::CooperativeMatrixType>))
      return branchAround(loop, hasRounds);
    builder.setInsertionPointAfter(loop);
    for (auto [result, start] :
         llvm::zip(loop.getResults(), loop.getInitArgs())) {
      auto choice =
          arith::SelectOp::create(builder, loc, hasRounds, result, start);
      result.replaceAllUsesExcept(choice, choice);
    }
  });
}

LogicalResult convert(spirv::ModuleOp kernels, const VulkanProfile &profile,
                      bool hasWideIndices) {
  MLIRContext *context = kernels.getContext();
  SPIRVConversionOptions options;
  // Types that the device lacks were refused: none gets another size here.
  options.emulateUnsupportedFloatTypes = false;
  options.emulateLT32BitScalarTypes = false;
  options.use64bitIndex = hasWideIndices;
  SPIRVTypeConverter converter(environmentOf(context, profile), options);
  addMemoryTypes(converter);
  RewritePatternSet patterns(context);
  ScfToSPIRVContext loops;
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToSPIRVPatterns(converter, patterns);
  populateMathToSPIRVPatterns(converter, patterns);
  populateSCFToSPIRVPatterns(converter, loops, patterns);
  populateGPUToSPIRVPatterns(converter, patterns);
  ub::populateUBToSPIRVConversionPatterns(converter, patterns);
  populateBuiltinFuncToSPIRVPatterns(converter, patterns);
  populateFuncToSPIRVPatterns(converter, patterns);
  addMemoryPatterns(converter, patterns);
  addDivision(converter, patterns);
  ConversionTarget target(*context);
  // MLIR's patterns know what is of OpenCL alone, too.
  target.addDynamicallyLegalDialect<spirv::SPIRVDialect>([](Operation *op) {
    return !op->getName().getStringRef().starts_with("spirv.CL.") &&
           !isa<spirv::OrderedOp, spirv::UnorderedOp>(op);
  });
  if (failed(applyFullConversion(kernels.getOperation(), target,
                                 std::move(patterns))))
    return failure();
  // Words that are addresses have been loaded as pointers.
  kernels.walk([&](spirv::LoadOp load) {
    if (!profile.hasInt64 && load->use_empty())
      load.erase();
  });
  return success();
}

// MLIR's own pass that does this forgets those of built-in variables.
void addCapabilities(Type type, Capabilities &all) {
  using spirv::Capability;
  if (auto matrix = dyn_cast<spirv::CooperativeMatrixType>(type)) {
    all.insert(Capability::CooperativeMatrixKHR);
    all.insert(Capability::VulkanMemoryModel);
    if (matrix.getElementType().isF16())
      all.insert(Capability::Float16);
    if (matrix.getElementType().isBF16()) {
      all.insert(Capability::BFloat16TypeKHR);
      all.insert(Capability::BFloat16CooperativeMatrixKHR);
    }
    return;
  }
  if (auto pointer = dyn_cast<spirv::PointerType>(type)) {
    Type element = pointer.getPointeeType();
    if (auto block = dyn_cast<spirv::StructType>(element))
      element = block.getElementType(0);
    if (auto array = dyn_cast<spirv::RuntimeArrayType>(element))
      element = array.getElementType();
    element = getElementTypeOrSelf(element);
    if (pointer.getStorageClass() ==
        spirv::StorageClass::PhysicalStorageBuffer) {
      if (element.isInteger(8))
        all.insert(Capability::StorageBuffer8BitAccess);
      if (element.isInteger(16))
        all.insert(Capability::StorageBuffer16BitAccess);
    }
    type = element;
  }
  if (auto array = dyn_cast<spirv::ArrayType>(type))
    type = array.getElementType();
  type = getElementTypeOrSelf(type);
  if (type.isInteger(8))
    all.insert(Capability::Int8);
  if (type.isInteger(16))
    all.insert(Capability::Int16);
  if (type.isInteger(64))
    all.insert(Capability::Int64);
  if (type.isF64())
    all.insert(Capability::Float64);
}

Capabilities capabilitiesOf(spirv::ModuleOp kernels,
                            const VulkanProfile &profile) {
  using spirv::Capability;
  Capabilities all;
  all.insert(Capability::Shader);
  all.insert(Capability::PhysicalStorageBufferAddresses);
  if (profile.hasInt64)
    all.insert(Capability::Int64);
  kernels.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      addCapabilities(type, all);
    if (auto variable = dyn_cast<spirv::GlobalVariableOp>(op))
      addCapabilities(variable.getType(), all);
    if (profile.knowsSubgroup && isa<spirv::GlobalVariableOp>(op) &&
        op->hasAttr("built_in"))
      all.insert(Capability::GroupNonUniform);
    if (isa<spirv::GroupNonUniformShuffleOp,
            spirv::GroupNonUniformShuffleXorOp>(op))
      all.insert(Capability::GroupNonUniformShuffle);
    if (isa<spirv::GroupNonUniformAnyOp>(op))
      all.insert(Capability::GroupNonUniformVote);
    if (isa<spirv::AtomicUMinOp>(op))
      all.insert(Capability::Int64Atomics);
  });
  return all;
}

// A number that was widened is compared with a constant before it is: that is
// cheaper, and Mesa 22.3 compares wrongly what it then narrows by itself.
void narrowComparisons(spirv::ModuleOp kernels) {
  kernels.walk([](Operation *op) {
    if (!isa<spirv::SLessThanOp, spirv::SLessThanEqualOp, spirv::SGreaterThanOp,
             spirv::SGreaterThanEqualOp, spirv::IEqualOp, spirv::INotEqualOp>(
            op))
      return;
    for (unsigned side : {0u, 1u}) {
      auto wide = op->getOperand(side).getDefiningOp<spirv::SConvertOp>();
      llvm::APInt number;
      if (!wide ||
          !matchPattern(op->getOperand(1 - side), m_ConstantInt(&number)))
        continue;
      Type type = wide.getOperand().getType();
      unsigned width = type.getIntOrFloatBitWidth();
      if (width >= number.getBitWidth() || !number.isSignedIntN(width))
        continue;
      OpBuilder builder(op);
      Value narrow = spirv::ConstantOp::create(
          builder, op->getLoc(), type,
          builder.getIntegerAttr(type, number.trunc(width)));
      op->setOperand(side, wide.getOperand());
      op->setOperand(1 - side, narrow);
      return;
    }
  });
}

// x + 0 is +0 where x is -0. llvmpipe takes it for x, also in modules that
// preserve signed zeros: a sum of one product would have the product's zero
// where the sum of more has not.
void addZeroByChoice(spirv::ModuleOp kernels) {
  kernels.walk([](spirv::FAddOp add) {
    for (unsigned side : {0u, 1u}) {
      if (!matchPattern(add.getOperand(side), m_PosZeroFloat()))
        continue;
      OpBuilder builder(add);
      Value zero = add.getOperand(side), x = add.getOperand(1 - side);
      Value isZero = spirv::FOrdEqualOp::create(builder, add.getLoc(), x, zero);
      add.replaceAllUsesWith(
          spirv::SelectOp::create(builder, add.getLoc(), isZero, zero, x)
              .getResult());
      add.erase();
      return;
    }
  });
}

// Each operation rounds by itself, in every kernel in the same way.
void forbidContraction(spirv::ModuleOp kernels) {
  kernels.walk([](Operation *op) {
    if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp,
            spirv::FNegateOp, spirv::FRemOp, spirv::GLFmaOp>(op))
      op->setAttr("no_contraction", UnitAttr::get(op->getContext()));
  });
}

// In Vulkan's memory model an access is the thread's own unless it says that it
// is not, and barriers make none known unless they say so.
void shareMemory(spirv::FuncOp function) {
  using spirv::MemorySemantics;
  bool sharesBuffers = false;
  function.walk([&](spirv::ControlBarrierOp barrier) {
    MemorySemantics semantics = barrier.getMemorySemantics();
    sharesBuffers |=
        bitEnumContainsAny(semantics, MemorySemantics::UniformMemory);
    barrier.setMemorySemantics(semantics | MemorySemantics::MakeAvailable |
                               MemorySemantics::MakeVisible);
  });
  auto share = [&](Value pointer, auto access) {
    spirv::StorageClass space =
        cast<spirv::PointerType>(pointer.getType()).getStorageClass();
    bool isShared =
        space == spirv::StorageClass::Workgroup ||
        (sharesBuffers && space == spirv::StorageClass::PhysicalStorageBuffer);
    auto kind = access.value_or(spirv::MemoryAccess::None);
    if (isShared)
      kind = kind | spirv::MemoryAccess::NonPrivatePointer;
    return kind == spirv::MemoryAccess::None
               ? spirv::MemoryAccessAttr()
               : spirv::MemoryAccessAttr::get(function.getContext(), kind);
  };
  function.walk([&](Operation *op) {
    if (auto load = dyn_cast<spirv::LoadOp>(op))
      load.setMemoryAccessAttr(share(load.getPtr(), load.getMemoryAccess()));
    if (auto store = dyn_cast<spirv::StoreOp>(op))
      store.setMemoryAccessAttr(share(store.getPtr(), store.getMemoryAccess()));
    if (auto load = dyn_cast<spirv::KHRCooperativeMatrixLoadOp>(op))
      load.setMemoryOperandAttr(
          share(load.getPointer(), load.getMemoryOperand()));
    if (auto store = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op))
      store.setMemoryOperandAttr(
          share(store.getPointer(), store.getMemoryOperand()));
  });
}

// MLIR's conversion writes what a loop carries to variables in every round, and
// reads them behind it, whoever uses what they have.
void dropUnread(spirv::ModuleOp kernels) {
  kernels.walk([](spirv::LoadOp load) {
    if (load->use_empty() && load.getPtr().getDefiningOp<spirv::VariableOp>())
      load.erase();
  });
  kernels.walk([](spirv::VariableOp variable) {
    if (!llvm::all_of(variable->getUsers(), llvm::IsaPred<spirv::StoreOp>))
      return;
    for (Operation *store : llvm::make_early_inc_range(variable->getUsers()))
      store->erase();
    variable.erase();
  });
}

// Loops of many rounds stay loops: drivers unroll them for long, and lose.
void keepLoops(spirv::ModuleOp kernels) {
  kernels.walk([](spirv::LoopOp loop) {
    loop.setLoopControl(spirv::LoopControl::DontUnroll);
  });
}

void declareEntry(spirv::FuncOp function, int32_t threads,
                  const VulkanProfile &profile, Capabilities &all) {
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  Location loc = function.getLoc();
  SmallVector<Attribute> variables;
  function.walk([&](spirv::AddressOfOp op) {
    Attribute name = op.getVariableAttr();
    if (!llvm::is_contained(variables, name))
      variables.push_back(name);
  });
  spirv::EntryPointOp::create(builder, loc, spirv::ExecutionModel::GLCompute,
                              function, variables);
  using spirv::ExecutionMode;
  spirv::ExecutionModeOp::create(builder, loc, function,
                                 ExecutionMode::LocalSize, {threads, 1, 1});
  if (profile.keepsNan) {
    spirv::ExecutionModeOp::create(
        builder, loc, function, ExecutionMode::SignedZeroInfNanPreserve, {32});
    all.insert(spirv::Capability::SignedZeroInfNanPreserve);
  }
  if (profile.keepsDenormals) {
    spirv::ExecutionModeOp::create(builder, loc, function,
                                   ExecutionMode::DenormPreserve, {32});
    all.insert(spirv::Capability::DenormPreserve);
  }
}

} // namespace

LogicalResult convertToSpirv(ModuleOp module, const VulkanProfile &profile,
                             Target::RunPasses run) {
  MLIRContext *context = module.getContext();
  OpPassManager passes(ModuleOp::getOperationName());
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  if (failed(run(passes)))
    return failure();
  bool hasWideIndices = !module->hasAttr(sizesAttr);
  llvm::StringMap<int32_t> threads;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate())
      threads[function.getName()] =
          int32_t(function->getAttrOfType<IntegerAttr>(threadsAttr).getInt());
  spirv::ModuleOp kernels = wrapKernels(module, profile);
  guardEmptyLoops(kernels);
  if (failed(convert(kernels, profile, hasWideIndices)))
    return failure();
  dropUnread(kernels);
  narrowComparisons(kernels);
  keepLoops(kernels);
  addZeroByChoice(kernels);
  forbidContraction(kernels);
  Capabilities all = capabilitiesOf(kernels, profile);
  for (auto function :
       llvm::to_vector(kernels.getBody()->getOps<spirv::FuncOp>()))
    if (threads.contains(function.getName()))
      declareEntry(function, threads.lookup(function.getName()), profile, all);
  SmallVector<spirv::Extension> extensions;
  if (all.contains(spirv::Capability::CooperativeMatrixKHR)) {
    // What a device's scope is has to be said there.
    if (all.contains(spirv::Capability::Int64Atomics))
      all.insert(spirv::Capability::VulkanMemoryModelDeviceScope);
    extensions.push_back(spirv::Extension::SPV_KHR_cooperative_matrix);
    kernels.setMemoryModelAttr(
        spirv::MemoryModelAttr::get(context, spirv::MemoryModel::Vulkan));
    for (auto function : kernels.getBody()->getOps<spirv::FuncOp>())
      shareMemory(function);
  }
  if (all.contains(spirv::Capability::BFloat16TypeKHR))
    extensions.push_back(spirv::Extension::SPV_KHR_bfloat16);
  kernels.setVceTripleAttr(spirv::VerCapExtAttr::get(
      spirv::Version::V_1_6, all.getArrayRef(), extensions, context));
  return success();
}

} // namespace sinter::compiler
