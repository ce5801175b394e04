/// `sinter compile`: a model to a file that runs without the compiler.
#include "runtime/program/ModelWriter.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"

#include <fmt/core.h>

namespace sinter::cli {

static constexpr Flag flags[] = {
    {"-o", "FILE", "the file to write"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    {"--emit", "FORM",
     "sinter (default), or object: the native image of a static program"},
    {"--strip", nullptr, "leave the source lines out"},
};
static constexpr Interface interface = {
    "compile MODEL -o OUT [--target TARGET] [--strip]",
    "Compiles a .mlir model, or strips a .sinter file. The same input and\n"
    "compiler give the same bytes.",
    flags,
    1,
    1,
};

static Result<std::vector<std::byte>> compileModel(const Model &model,
                                                   Arguments &arguments) {
  SINTER_TRY_ASSIGN(runtime::CompileRequest request, compileRequest(arguments));
  request.debug = !arguments.has("--strip");
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                    compiledBytes(model, request));
  if (model.compiled && arguments.has("--strip"))
    return runtime::stripModel(bytes);
  return bytes;
}

// The native code alone. It serves where no dim is unknown.
static Result<std::vector<std::byte>>
objectOf(std::span<const std::byte> file) {
  SINTER_TRY_ASSIGN(FileParts parts, partsOf(file));
  if (parts.program.numSymbols > 0)
    return makeError(ErrorKind::unsupported,
                     "compile: --emit object needs a program whose dims are "
                     "all constant");
  return std::move(parts.image);
}

int runCompile(int argc, char **argv) {
  Arguments arguments(argc, argv, interface);
  if (arguments.exit)
    return *arguments.exit;
  std::string output = arguments.get("-o");
  std::string form = arguments.get("--emit", "sinter");
  if (output.empty() || (form != "sinter" && form != "object")) {
    fmt::print(stderr, "error: compile: {}\n",
               output.empty() ? "-o FILE is missing"
                              : "--emit is sinter or object");
    return exitUsage;
  }
  Result<Model> model = readModelFile(arguments.positional()[0]);
  if (!model)
    return report(model.error());
  Result<std::vector<std::byte>> bytes = compileModel(*model, arguments);
  if (bytes && form == "object")
    bytes = objectOf(*bytes);
  if (!bytes)
    return report(bytes.error());
  Status written = writeBytes(output, *bytes);
  return written ? exitOk : report(written.error());
}

} // namespace sinter::cli
