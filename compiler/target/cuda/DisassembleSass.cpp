/// Calls the toolkit's assembler and disassembler.
#include "compiler/target/cuda/DisassembleSass.h"

#include "compiler/target/RunProgram.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace sinter::compiler {

static StringRef textOf(std::span<const std::byte> image) {
  return {reinterpret_cast<const char *>(image.data()), image.size()};
}

bool isPtx(std::span<const std::byte> image) {
  StringRef first = textOf(image).split('\0').first;
  return first.contains(".version") && first.contains(".target");
}

// `sm_90a` of `.target sm_90a`, or of several words there the first.
static StringRef architectureOf(StringRef module) {
  StringRef rest = module.split(".target").second.ltrim();
  return rest.take_while(
      [](char each) { return isAlnum(each) || each == '_'; });
}

static Result<ProgramResult>
runOfToolkit(const char *name, std::vector<std::string> arguments,
             StringRef inputSuffix, StringRef outputSuffix, StringRef input) {
  SINTER_TRY_ASSIGN(ProgramResult result,
                    runProgram({.name = name,
                                .purpose = "SASS is made and read by",
                                .origin = "of the CUDA toolkit",
                                .arguments = std::move(arguments),
                                .inputSuffix = inputSuffix,
                                .outputSuffix = outputSuffix},
                               input));
  if (result.code != 0)
    return makeError(ErrorKind::compile,
                     name + (": " + StringRef(result.said).trim()).str());
  return result;
}

Result<std::string> disassembleSass(std::span<const std::byte> image) {
  std::string text;
  for (StringRef module : split(textOf(image), '\0')) {
    if (module.empty())
      continue;
    SINTER_TRY_ASSIGN(ProgramResult made,
                      runOfToolkit("ptxas",
                                   {"-arch=" + architectureOf(module).str()},
                                   "ptx", "cubin", module));
    SINTER_TRY_ASSIGN(
        ProgramResult read,
        runOfToolkit("nvdisasm", {"-c"}, "cubin", "", made.output));
    text += read.said;
  }
  return text;
}

} // namespace sinter::compiler
