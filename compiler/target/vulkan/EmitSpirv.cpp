/// From a module of SPIR-V to its words.
#include "compiler/target/vulkan/NoteSizes.h"
#include "compiler/target/vulkan/SpirvWords.h"
#include "compiler/target/vulkan/VulkanTarget.h"
#include "runtime/device/vulkan/VulkanArguments.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::compiler {

// What a launch has to know of the code.
static SmallVector<std::string> notesOf(ModuleOp module,
                                        const VulkanProfile &profile) {
  SmallVector<std::string> notes;
  if (!profile.knowsSubgroup)
    notes.push_back(std::string(runtime::groupsKeyword) +
                    std::to_string(profile.subgroup));
  if (auto sizes = module->getAttrOfType<AffineMapAttr>(sizesAttr))
    notes.push_back(sizesText(sizes.getValue()));
  return notes;
}

FailureOr<TargetCode> emitSpirv(ModuleOp module, const VulkanProfile &profile,
                                bool keepText) {
  spirv::ModuleOp kernels = *module.getOps<spirv::ModuleOp>().begin();
  SmallVector<uint32_t, 0> words;
  if (failed(spirv::serialize(kernels, words)))
    return failure();
  SmallVector<std::string> notes = notesOf(module, profile);
  for (const std::string &note : notes)
    words = withText(words, note);
  TargetCode code;
  code.object.assign(reinterpret_cast<const char *>(words.data()),
                     words.size() * sizeof(uint32_t));
  if (keepText)
    llvm::raw_string_ostream(code.asmText)
        << (notes.empty() ? "" : "// " + llvm::join(notes, "\n// ") + "\n")
        << kernels;
  return code;
}

} // namespace sinter::compiler
