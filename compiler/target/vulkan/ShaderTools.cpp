/// Calls the programs and reads what they say.
#include "compiler/target/vulkan/ShaderTools.h"

#include "compiler/target/RunProgram.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace sinter::compiler {
namespace {

/// What the program says: the lines that are about the source, with the name
/// in the place of the file.
std::string messages(StringRef said, StringRef file, StringRef name) {
  std::string text;
  for (StringRef line : split(said, '\n')) {
    // glslangValidator: `ERROR: FILE:3: why`; spirv-as: `error: 3: 1: why`.
    bool isError = line.consume_front(("ERROR: " + file + ":").str()) ||
                   line.consume_front("ERROR: 0:") ||
                   line.consume_front("error: ");
    if (isError && !line.contains("'' : compilation terminated"))
      text += (text.empty() ? "" : "\n") + (name + ":" + line.rtrim()).str();
  }
  return text.empty() ? said.trim().str() : text;
}

Result<std::vector<uint32_t>> run(const OuterProgram &program,
                                  const std::string &source,
                                  const std::string &name) {
  SINTER_TRY_ASSIGN(ProgramResult result, runProgram(program, source));
  if (result.code != 0)
    return makeError(ErrorKind::compile,
                     messages(result.said, result.input, name));
  std::vector<uint32_t> words(result.output.size() / sizeof(uint32_t));
  std::memcpy(words.data(), result.output.data(),
              words.size() * sizeof(uint32_t));
  return words;
}

} // namespace

Result<std::vector<uint32_t>> compileGlsl(const std::string &source,
                                          const std::string &name) {
  // For 1.3 it writes local sizes as constants (LocalSizeId, which is a feature
  // of its own).
  return run({.name = "glslangValidator",
              .purpose = "GLSL is compiled by",
              .origin = "Debian's package glslang-tools",
              .arguments = {"-V", "--target-env", "vulkan1.2", "-S", "comp"},
              .inputSuffix = "comp",
              .outputSuffix = "spv"},
             source, name);
}

Result<std::vector<uint32_t>> assembleSpirv(const std::string &source,
                                            const std::string &name) {
  return run({.name = "spirv-as",
              .purpose = "an assembly of SPIR-V is compiled by",
              .origin = "Debian's package spirv-tools",
              .arguments = {"--target-env", "vulkan1.3"},
              .inputSuffix = "spvasm",
              .outputSuffix = "spv"},
             source, name);
}

} // namespace sinter::compiler
