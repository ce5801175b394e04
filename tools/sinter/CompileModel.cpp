/// `sinter compile`: a model to a file that runs without the compiler.
#include "runtime/params/ReplaceFile.h"
#include "runtime/program/ModelWriter.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"

#include <algorithm>
#include <fmt/core.h>

namespace sinter::cli {

static constexpr Flag flags[] = {
    {"-o", "FILE", "the file to write"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    tuneFlag,
    tileFlag,
    {"--emit", "FORM",
     "sinter (default), or object: the native image of a static program"},
    {"--strip", nullptr, "leave the source lines out"},
};
static constexpr Interface interface = {
    "compile MODEL -o OUT [--target TARGET[,TARGET]...] [--strip]",
    "Compiles a .mlir model, or strips a .sinter file. Of several targets one\n"
    "file has the programs; a device takes the one that needs the most of "
    "what\n"
    "it has. The same input and compiler give the same bytes, with --tune the\n"
    "same choices of tiles, too.",
    flags,
    1,
    1,
};

// For each of the targets that `request` lists.
static Result<std::vector<std::byte>>
compileForAll(const Model &model, runtime::CompileRequest request) {
  std::string_view targets = request.target;
  std::vector<std::vector<std::byte>> files;
  for (size_t start = 0; start <= targets.size();) {
    size_t end = std::min(targets.find(',', start), targets.size());
    runtime::CompileRequest one = request;
    one.target = targets.substr(start, end - start);
    if (!one.tuneOn.empty())
      one.tuneOn = tuningDevice(one.target);
    SINTER_TRY_ASSIGN(std::vector<std::byte> file, compiledBytes(model, one));
    files.push_back(std::move(file));
    start = end + 1;
  }
  if (files.size() == 1)
    return std::move(files.front());
  return runtime::joinModels(files);
}

static Result<std::vector<std::byte>> compileModel(const Model &model,
                                                   Arguments &arguments) {
  SINTER_TRY_ASSIGN(runtime::CompileRequest request, compileRequest(arguments));
  request.debug = !arguments.has("--strip");
  if (!model.compiled)
    return compileForAll(model, std::move(request));
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                    compiledBytes(model, request));
  if (arguments.has("--strip"))
    return runtime::stripModel(bytes);
  return bytes;
}

// The native code alone. It serves where no dim is unknown.
static Result<std::vector<std::byte>> objectOf(std::vector<std::byte> file) {
  SINTER_TRY_ASSIGN(std::vector<FileParts> all,
                    partsOf(std::make_shared<ModelBytes>(std::move(file))));
  if (all.size() > 1)
    return makeError(ErrorKind::unsupported,
                     "compile: --emit object needs one target");
  const FileParts &parts = all.front();
  if (parts.program.numSymbols > 0)
    return makeError(ErrorKind::unsupported,
                     "compile: --emit object needs a program whose dims are "
                     "all constant");
  return std::vector(parts.image.begin(), parts.image.end());
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
  std::span<const std::byte> content = *bytes;
  Status written = runtime::replaceFile(output, {&content, 1});
  return written ? exitOk : report(written.error());
}

} // namespace sinter::cli
