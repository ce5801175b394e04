/// From the LLVM dialect to LLVM IR and an object.
#include "compiler/target/cpu/CpuTarget.h"

#include "compiler/target/llvm/LlvmForm.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;

namespace sinter::compiler {

static std::unique_ptr<llvm::TargetMachine>
makeTargetMachine(const CpuFeatures &features) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  llvm::Triple triple(features.isArm() ? "aarch64-unknown-linux-gnu"
                                       : "x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  SmallVector<StringRef> names;
  StringRef(features.list).split(names, ',', -1, /*KeepEmpty=*/false);
  std::string enabled;
  for (StringRef name : names)
    if (name != "aarch64") // what it is, not what it has
      enabled += (enabled.empty() ? "+" : ",+") + name.str();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, features.isArm() ? "generic" : "x86-64", enabled, options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Less));
}

// Runs code generation; `module` is used up.
static bool generate(llvm::TargetMachine &machine, llvm::Module &module,
                     llvm::CodeGenFileType type, std::string &out) {
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return false;
  passes.run(module);
  out.assign(bytes.begin(), bytes.end());
  return true;
}

FailureOr<TargetCode> emitObject(ModuleOp module, const CpuFeatures &features,
                                 bool keepText) {
  auto machine = makeTargetMachine(features);
  if (!machine)
    return module.emitError(
        "this build of LLVM cannot generate code for " +
        std::string(features.isArm() ? "aarch64" : "x86-64"));
  llvm::LLVMContext context;
  setDataLayout(module, *machine);
  auto llvmModule = translateModuleToLLVMIR(module, context, "kernel",
                                            /*disableVerification=*/true);
  if (!llvmModule)
    return failure();
  llvmModule->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function &function : *llvmModule)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  keepCalls(*llvmModule);

  TargetCode code;
  if (keepText) {
    llvm::raw_string_ostream(code.llvmText) << *llvmModule;
    auto copy = llvm::CloneModule(*llvmModule);
    if (!generate(*machine, *copy, llvm::CodeGenFileType::AssemblyFile,
                  code.asmText))
      return module.emitError("the code generator cannot write assembly");
  }
  if (!generate(*machine, *llvmModule, llvm::CodeGenFileType::ObjectFile,
                code.object))
    return module.emitError("the code generator cannot write objects");
  return code;
}

} // namespace sinter::compiler
