/// DisassembleSpirv: modules as assembly, by SPIRV-Tools.
#include "compiler/target/vulkan/DisassembleSpirv.h"

#include "runtime/device/vulkan/IndexLimit.h"
#include "runtime/device/vulkan/SpirvModule.h"
#include "runtime/device/vulkan/VulkanArguments.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Deserialization.h"

#include <array>
#include <cstring>
#include <spirv-tools/libspirv.hpp>

using namespace mlir;

namespace sinter::compiler {

bool isSpirv(std::span<const std::byte> image) {
  std::array<uint32_t, 2> first{}; // a module's length and its magic number
  if (image.size() < sizeof(first))
    return false;
  std::memcpy(first.data(), image.data(), sizeof(first));
  return first[1] == runtime::spirvMagic;
}

/// What SPIRV-Tools here does not know MLIR may: then its form stands there,
/// and why.
static Result<std::string> inMlirsForm(llvm::ArrayRef<uint32_t> words,
                                       const std::string &why) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<spirv::SPIRVDialect>();
  std::string problem;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (problem.empty())
      problem = diagnostic.str();
    return success();
  });
  OwningOpRef<spirv::ModuleOp> kernels = spirv::deserialize(words, &context);
  if (!kernels)
    return makeError(ErrorKind::io, "disassemble: " + problem);
  std::string text = "// in MLIR's form: " + why + "\n";
  llvm::raw_string_ostream(text) << **kernels << "\n";
  return text;
}

static Result<std::string> assemblyOf(llvm::ArrayRef<uint32_t> words) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string why = "SPIRV-Tools does not know it";
  tools.SetMessageConsumer([&](spv_message_level_t, const char *,
                               const spv_position_t &,
                               const char *message) { why = message; });
  std::string text;
  if (tools.Disassemble(words.data(), words.size(), &text,
                        SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
                            SPV_BINARY_TO_TEXT_OPTION_INDENT))
    return text;
  return inMlirsForm(words, why);
}

Result<std::string> disassembleSpirv(std::span<const std::byte> image) {
  SINTER_TRY_ASSIGN(std::vector<runtime::SpirvModule> modules,
                    runtime::readSpirv(image));
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const runtime::SpirvModule &module : modules) {
    // MLIR need not know what a user's module has.
    if (module.entries.front().given) {
      out << "// ---- kernel " << module.entries.front().name
          << ": a user's, of " << module.words.size() << " words\n";
      continue;
    }
    SINTER_TRY_ASSIGN(std::string assembly, assemblyOf(module.words));
    out << "// ---- kernel " << module.entries.front().name << "\n";
    if (module.groups > 0)
      out << "// " << runtime::groupsKeyword << module.groups << "\n";
    if (module.sizes)
      out << "// " << runtime::sizesKeyword << *module.sizes << "\n";
    out << assembly << "\n";
  }
  return text;
}

} // namespace sinter::compiler
