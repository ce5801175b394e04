/// From the LLVM dialect to PTX.
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/llvm/LlvmForm.h"

#include "compiler/target/cuda/Ptx.h"
#include "compiler/target/cuda/Warp.h"
#include "runtime/device/cuda/CudaImage.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;

namespace sinter::compiler {

// What drivers of CUDA 12 know, and 32,764 bytes of parameters need.
static constexpr const char *ptxVersion = "+ptx81";

static std::unique_ptr<llvm::TargetMachine>
makeTargetMachine(StringRef architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, architecture, ptxVersion, options, std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

static void markKernels(ModuleOp module, llvm::Module &llvmModule) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto warps = function->getAttrOfType<IntegerAttr>(warpsAttr);
    llvm::Function *kernel = llvmModule.getFunction(function.getName());
    if (!warps || !kernel)
      continue;
    kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
    kernel->addFnAttr("nvvm.reqntid",
                      std::to_string(warps.getInt() * Warp::threads) + ",1,1");
    kernel->addFnAttr(llvm::Attribute::NoUnwind);
    if (auto blocks = function->getAttrOfType<IntegerAttr>(blocksAttr))
      kernel->addFnAttr("nvvm.minctasm", std::to_string(blocks.getInt()));
    // Read where it is, not copied for each thread.
    kernel->addParamAttr(
        0, llvm::Attribute::get(kernel->getContext(), "nvvm.grid_constant"));
  }
}

static bool waitsItself(LLVM::LLVMFuncOp function) {
  return function
      .walk([](LLVM::InlineAsmOp op) {
        return op.getAsmString() == waitForKernelsText ? WalkResult::interrupt()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

// Kernels of a graph start while those before them still run; where one does
// not say when it waits, at its start.
static void waitForKernels(ModuleOp module, llvm::Module &llvmModule) {
  auto *type = llvm::FunctionType::get(
      llvm::Type::getVoidTy(llvmModule.getContext()), /*isVarArg=*/false);
  auto *wait = llvm::InlineAsm::get(type, waitForKernelsText, "~{memory}",
                                    /*hasSideEffects=*/true);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    llvm::Function *kernel = llvmModule.getFunction(function.getName());
    if (!function->hasAttr(warpsAttr) || !kernel || waitsItself(function))
      continue;
    llvm::BasicBlock &entry = kernel->getEntryBlock();
    llvm::IRBuilder<>(&entry, entry.getFirstNonPHIOrDbgOrAlloca())
        .CreateCall(wait);
  }
}

// Assembly that acts on more than its thread (barriers, products of a
// warpgroup) is run by all threads of a warp at once: copies of it, in branches
// that some of them take, would wait for the others forever.
static void keepThreadsTogether(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && call->isInlineAsm() &&
          llvm::cast<llvm::InlineAsm>(call->getCalledOperand())
              ->hasSideEffects())
        call->setConvergent();
    }
}

static void optimize(llvm::TargetMachine &machine, llvm::Module &module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

// A square root by the machine's instruction. The code generator would take
// that of less than zero for the NaN that is selected in its place, whose bits
// are others.
static llvm::Value *machineRoot(llvm::IRBuilder<> &builder,
                                llvm::Value *value) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!vector)
    return builder.CreateIntrinsic(value->getType()->isDoubleTy()
                                       ? llvm::Intrinsic::nvvm_sqrt_rn_d
                                       : llvm::Intrinsic::nvvm_sqrt_rn_f,
                                   {}, {value});
  llvm::Value *result = llvm::PoisonValue::get(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
    result = builder.CreateInsertElement(
        result, machineRoot(builder, builder.CreateExtractElement(value, lane)),
        lane);
  return result;
}

static void useMachineRoots(llvm::Module &module) {
  auto isOfMachine = [](llvm::Type *type) {
    return type->getScalarType()->isFloatTy() ||
           type->getScalarType()->isDoubleTy();
  };
  llvm::SmallVector<llvm::IntrinsicInst *> roots;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::sqrt &&
          isOfMachine(call->getType()) && !call->hasApproxFunc())
        roots.push_back(call);
  for (llvm::IntrinsicInst *root : roots) {
    llvm::IRBuilder<> builder(root);
    root->replaceAllUsesWith(machineRoot(builder, root->getArgOperand(0)));
    root->eraseFromParent();
  }
}

// Sums of vectors of whole numbers, number by number, as the machine makes them
// but for two small ones, which the code generator would put into a word: of
// those ptxas 13.0 takes the lower sum (add.s16x2) for the upper one where that
// alone is used.
static void splitSums(llvm::Module &module) {
  auto isSumOfVectors = [](llvm::Instruction &instruction) {
    return instruction.getOpcode() == llvm::Instruction::Add &&
           llvm::isa<llvm::FixedVectorType>(instruction.getType());
  };
  llvm::SmallVector<llvm::Instruction *> sums;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (isSumOfVectors(instruction))
        sums.push_back(&instruction);
  for (llvm::Instruction *sum : sums) {
    llvm::IRBuilder<> builder(sum);
    auto *type = llvm::cast<llvm::FixedVectorType>(sum->getType());
    llvm::Value *result = llvm::PoisonValue::get(type);
    for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
      auto *a = builder.CreateExtractElement(sum->getOperand(0), lane);
      auto *b = builder.CreateExtractElement(sum->getOperand(1), lane);
      result =
          builder.CreateInsertElement(result, builder.CreateAdd(a, b), lane);
    }
    sum->replaceAllUsesWith(result);
    sum->eraseFromParent();
  }
}

FailureOr<TargetCode> emitPtx(ModuleOp module, StringRef architecture,
                              bool keepText) {
  auto machine = makeTargetMachine(architecture);
  if (!machine)
    return module.emitError("this build of LLVM cannot generate PTX");
  llvm::LLVMContext context;
  setDataLayout(module, *machine);
  auto llvmModule = translateModuleToLLVMIR(module, context, "kernel",
                                            /*disableVerification=*/true);
  if (!llvmModule)
    return failure();
  llvmModule->setTargetTriple(machine->getTargetTriple());
  markKernels(module, *llvmModule);
  if (architecture != oldestArchitecture)
    waitForKernels(module, *llvmModule);
  keepThreadsTogether(*llvmModule);
  keepCalls(*llvmModule);
  TargetCode code;
  optimize(*machine, *llvmModule);
  useMachineRoots(*llvmModule);
  splitSums(*llvmModule);
  if (keepText)
    llvm::raw_string_ostream(code.llvmText) << *llvmModule;
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return module.emitError("the code generator cannot write PTX");
  passes.run(*llvmModule);
  code.object.assign(bytes.begin(), bytes.end());
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (auto lines = function->getAttrOfType<StringAttr>(linesAttr))
      code.object += lines.getValue();
    if (function->hasAttr(gathersAttr))
      code.object += runtime::gathersLine(function.getName().str());
  }
  if (keepText)
    code.asmText = code.object;
  return code;
}

} // namespace sinter::compiler
