/// DisassembleSpirv: modules are read back by MLIR.
#include "compiler/target/vulkan/DisassembleSpirv.h"

#include "runtime/device/vulkan/IndexLimit.h"
#include "runtime/device/vulkan/SpirvModule.h"
#include "runtime/device/vulkan/VulkanArguments.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Deserialization.h"

#include <array>
#include <cstring>

using namespace mlir;

namespace sinter::compiler {

bool isSpirv(std::span<const std::byte> image) {
  std::array<uint32_t, 2> first{}; // a module's length and its magic number
  if (image.size() < sizeof(first))
    return false;
  std::memcpy(first.data(), image.data(), sizeof(first));
  return first[1] == runtime::spirvMagic;
}

Result<std::string> disassembleSpirv(std::span<const std::byte> image) {
  SINTER_TRY_ASSIGN(std::vector<runtime::SpirvModule> modules,
                    runtime::readSpirv(image));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<spirv::SPIRVDialect>();
  std::string problem;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (problem.empty())
      problem = diagnostic.str();
    return success();
  });
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const runtime::SpirvModule &module : modules) {
    // MLIR need not know what a user's module has.
    if (module.entries.front().given) {
      out << "// ---- kernel " << module.entries.front().name
          << ": a user's, of " << module.words.size() << " words\n";
      continue;
    }
    OwningOpRef<spirv::ModuleOp> kernels =
        spirv::deserialize(module.words, &context);
    if (!kernels)
      return makeError(ErrorKind::io, "disassemble: " + problem);
    out << "// ---- kernel " << module.entries.front().name << "\n";
    if (module.groups > 0)
      out << "// " << runtime::groupsKeyword << module.groups << "\n";
    if (module.sizes)
      out << "// " << runtime::sizesKeyword << *module.sizes << "\n";
    out << **kernels << "\n";
  }
  return text;
}

} // namespace sinter::compiler
