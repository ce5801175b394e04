/// Text of stages.
#include "compiler/InspectStage.h"
#include "compiler/import/ImportGraph.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sinter::compiler {

Result<InspectForm> parseInspectForm(std::string_view name) {
  InspectForm form;
  form.name = name;
  if (name == "llvm" || name == "asm" || name == "ptx") {
    form.until = Stage::lower;
    form.needsTexts = true;
    return form;
  }
  std::optional<Stage> stage = parseStage(name);
  if (!stage)
    return makeError(ErrorKind::invalid_argument,
                     "inspect: no stage is named '" + std::string(name) +
                         "'; it is one of import, simplify, fuse, plan, lower, "
                         "target, package, llvm, asm, ptx, sass, spirv");
  form.until = *stage;
  form.needsTexts = form.lowerOnly = *stage == Stage::lower;
  return form;
}

Status checkForm(const InspectForm &form, std::string_view target) {
  std::string_view kind = target.substr(0, target.find(':'));
  if (form.name == "ptx" && kind != "cuda")
    return makeError(ErrorKind::invalid_argument,
                     "inspect: target " + std::string(target) +
                         " has no PTX; name one with --target cuda:sm_90");
  if (form.name == "llvm" && kind == "vulkan")
    return makeError(ErrorKind::invalid_argument,
                     "inspect: target " + std::string(target) +
                         " has no LLVM IR: its kernels become SPIR-V, which "
                         "--stage asm shows in MLIR's form and --stage spirv "
                         "as assembly");
  return {};
}

// Each kernel's lowered form, and how many ops it is of.
static std::string loweredTexts(const Compilation &state) {
  std::string all;
  for (auto kernel : state.module.get().getOps<program::KernelOp>()) {
    const KernelCode &code = *state.codes.lookup(kernel.getSymName());
    auto ops = kernel.getBlock().without_terminator();
    all += llvm::formatv("// ---- kernel {0}\n// of {1} ops\n{2}\n",
                         kernel.getSymName(), llvm::range_size(ops),
                         code.loweredText);
  }
  return all;
}

// One part per kernel, in the module's order.
static std::string kernelTexts(const Compilation &state,
                               const std::string KernelCode::*text) {
  std::string all;
  for (auto kernel : state.module.get().getOps<program::KernelOp>()) {
    const KernelCode &code = *state.codes.lookup(kernel.getSymName());
    all += llvm::formatv("// ---- kernel {0}\n{1}\n", kernel.getSymName(),
                         code.*text);
  }
  return all;
}

static std::string targetText(const Compilation &state) {
  std::string all;
  llvm::raw_string_ostream out(all);
  out << llvm::formatv("target {0}, needs {1}\n",
                       std::string(state.target->name()),
                       std::string(state.target->requirements()));
  for (auto kernel : state.module.get().getOps<program::KernelOp>()) {
    const KernelCode &code = *state.codes.lookup(kernel.getSymName());
    out << llvm::formatv("kernel {0}: {1} bytes of object, {2} phases, "
                         "{3} workspaces\n",
                         kernel.getSymName(), code.object.size(),
                         code.phases.size(), code.workspaces.size());
    for (const std::string &tile : code.tiles)
      out << llvm::formatv("tile {0}={1}\n", kernel.getSymName(), tile);
  }
  out << llvm::formatv("image: {0} bytes\n", state.image.size());
  return all;
}

// A line for each operand of contractions that kernels decode: what is stored,
// and at which of the contraction's loops.
static std::string decodingTexts(ModuleOp module) {
  std::string all;
  llvm::raw_string_ostream out(all);
  for (auto kernel : module.getOps<program::KernelOp>())
    for (auto op : kernel.getBlock().getOps<ir::ContractionOpInterface>()) {
      auto print = [&](llvm::StringRef operand,
                       const std::optional<ir::OperandDecoding> &decoding) {
        if (!decoding)
          return;
        out << "// decodes " << operand << " of " << kernel.getSymName() << ": "
            << getElementTypeOrSelf(decoding->codes.getType()) << " at "
            << decoding->codesMap;
        if (decoding->scale)
          out << ", scale at " << decoding->scaleMap;
        out << "\n";
      };
      print("lhs", op.getLhsDecoding());
      print("rhs", op.getRhsDecoding());
    }
  return all;
}

// The module, and the decisions and what is decoded as lines after it.
static std::string moduleText(const Compilation &state) {
  ModuleOp module = state.module.get();
  std::vector<FusionDecision> decisions = decisionsOf(module);
  module->removeAttr(decisionsAttr);
  std::string text = exportText(module);
  for (const FusionDecision &decision : decisions)
    text += llvm::formatv("// {0} {1}: {2} ({3} bytes)\n",
                          decision.accepted ? "accepted" : "rejected",
                          decision.rule, decision.detail, decision.bytes);
  return text + decodingTexts(module);
}

std::string inspectText(const Compilation &state, const InspectForm &form) {
  if (form.name == "llvm")
    return kernelTexts(state, &KernelCode::llvmText);
  if (form.name == "asm" || form.name == "ptx")
    return kernelTexts(state, &KernelCode::asmText);
  switch (form.until) {
  case Stage::lower:
    return loweredTexts(state);
  case Stage::target:
    return targetText(state);
  case Stage::package:
    return llvm::formatv("model file: {0} bytes\n{1}", state.bytes.size(),
                         targetText(state));
  default:
    return moduleText(state);
  }
}

} // namespace sinter::compiler
