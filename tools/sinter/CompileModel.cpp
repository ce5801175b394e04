/// `sinter compile`: a model to a file that runs without the compiler.
#include "runtime/files/ReplaceFile.h"
#include "runtime/program/Bind.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/VerifyProgram.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/Retarget.h"
#include "tools/sinter/embed/Embed.h"
#include "tools/sinter/help/Terminal.h"
#include "tools/sinter/import/ImportModel.h"
#include "tools/sinter/trust/Trust.h"

#include <fmt/core.h>
#include <memory>
#include <optional>
#include <string_view>

namespace sinter::cli {

static constexpr Flag flags[] = {
    {"-o", "FILE", "the file to write"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    sizeFlag,
    constantFlag,
    tuneFlag,
    tileFlag,
    {"--emit", "FORM",
     "sinter (default); object, library or header: what sinter embed makes; "
     "cpp: a module in C++ of an .onnx or .pt2 model, with its parameters "
     "beside it",
     "sinter object library header cpp"},
    nameFlag,
    trustFlag,
    trustedKeysFlag,
    {"--strip", nullptr, "leave the source lines out"},
};
const Interface compileInterface = {
    "compile MODEL -o OUT [--target TARGET[,TARGET]...] [--strip]",
    "Compiles a .mlir or .onnx model, strips a .sinter file, or, with "
    "--target, makes\n"
    "another of it with programs for these targets, out of its portable "
    "graph.\n"
    "Of several targets one file has the programs; a device takes the one "
    "that\n"
    "needs the most of what it has. The same input and compiler give the same\n"
    "bytes, with --tune the same choices of tiles, too.",
    "sinter compile net.onnx -o net.sinter\n"
    "sinter compile net.sinter -o gpu.sinter --target cpu,cuda:sm_90\n"
    "sinter compile net.onnx -o net.o --emit object --target cpu:aarch64",
    flags,
    1,
    1,
};

// What would be refused where it is used is no result: a text may say more than
// its ops' verifiers see.
static Status checkLoads(const Model &model, std::span<const std::byte> bytes) {
  auto check = [&]() -> Status {
    SINTER_TRY_ASSIGN(runtime::ModelFile file,
                      readModel(bytes, runtime::ModelCheck::untilUse));
    runtime::CopyBudget budget(bytes.size());
    uint32_t count = file.count(runtime::SectionKind::program);
    for (uint32_t i = 0; i < count; ++i) {
      SINTER_TRY_ASSIGN(runtime::ProgramData program,
                        verifyProgram(file, i, budget));
      SINTER_TRY(runtime::DimBinder::make(program));
    }
    return {};
  };
  Status checked = check();
  if (checked)
    return checked;
  ErrorInfo error = checked.takeError();
  error.message =
      model.path + ": what it says cannot be loaded: " + error.message;
  return error;
}

static Result<std::vector<std::byte>>
compileForAll(const Model &model, const runtime::CompileRequest &request) {
  std::vector<std::vector<std::byte>> files;
  for (const runtime::CompileRequest &one : requestsOf(request)) {
    SINTER_TRY_ASSIGN(std::vector<std::byte> file, compiledBytes(model, one));
    SINTER_TRY(checkLoads(model, file));
    files.push_back(std::move(file));
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
    return compileForAll(model, request);
  if (arguments.has("--target") && !model.imported)
    return retargeted(model.path, requestsOf(request), arguments);
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                    compiledBytes(model, request));
  if (arguments.has("--strip"))
    return runtime::stripModel(bytes);
  return bytes;
}

/// An object, archive or header out of what was compiled.
static std::optional<EmbedForm> embedFormOf(std::string_view form) {
  if (form == "object")
    return EmbedForm::object;
  if (form == "library")
    return EmbedForm::library;
  if (form == "header")
    return EmbedForm::header;
  return std::nullopt;
}

// Of an .onnx model --size has fixed axes where it was read.
static Status embedCompiled(const Model &model, std::vector<std::byte> bytes,
                            EmbedForm form, const std::string &output,
                            const Arguments &arguments) {
  std::map<std::string, int64_t> sizes;
  // The code of a file that was not compiled just now.
  bool isCopied =
      model.compiled && !model.imported && !arguments.has("--target");
  SINTER_TRY_ASSIGN(TrustChoice trust, trustOf(arguments));
  if (isCopied && trust.trust == runtime::ModelTrust::graph)
    return makeError(ErrorKind::invalid_argument,
                     model.path + ": the graph alone is trusted; give --target "
                                  "to have an object compiled of it");
  if (isCopied)
    SINTER_TRY(checkFile(bytes, model.path, trust));
  if (!model.imported) {
    SINTER_TRY_ASSIGN(sizes, sizesOf(arguments));
  }
  return embedFile(std::make_shared<ModelBytes>(std::move(bytes)),
                   arguments.positional()[0], sizes, form, output, arguments);
}

// A header, of a model that has not been compiled. Flags of programs say
// nothing about one.
static Status writeCpp(const Arguments &arguments, const std::string &output) {
  const std::string &path = arguments.positional()[0];
  if (!path.ends_with(".onnx") && !path.ends_with(".pt2"))
    return makeError(ErrorKind::invalid_argument,
                     "compile: --emit cpp is for .onnx and .pt2 models");
  for (const Flag &flag : flags) {
    std::string_view name = flag.name;
    if (arguments.has(name) && name != "-o" && name != "--emit" &&
        name != "--size" && name != "--constant")
      return makeError(ErrorKind::invalid_argument,
                       "compile: --emit cpp takes no " + std::string(name));
  }
  return writeModelAsCpp(path, arguments, output);
}

int runCompile(int argc, char **argv) {
  Arguments arguments(argc, argv, compileInterface);
  if (arguments.exit)
    return *arguments.exit;
  std::string output = arguments.get("-o");
  std::string form = arguments.get("--emit", "sinter");
  auto embedForm = embedFormOf(form);
  bool isForm = form == "sinter" || form == "cpp" || embedForm;
  if (output.empty() || !isForm) {
    fmt::print(stderr, "{}compile: {}\n", errorPrefix(),
               output.empty()
                   ? "-o FILE is missing"
                   : "--emit is sinter, object, library, header or cpp");
    return exitUsage;
  }
  if (form == "cpp") {
    Status written = writeCpp(arguments, output);
    return written ? exitOk : report(written.error());
  }
  if (embedForm && !output.ends_with(extensionOf(*embedForm))) {
    fmt::print(stderr, "{}compile: --emit {} writes a file that ends with {}\n",
               errorPrefix(), form, extensionOf(*embedForm));
    return exitUsage;
  }
  Result<Model> model = readModelFile(arguments.positional()[0], arguments);
  if (!model)
    return report(model.error());
  Result<std::vector<std::byte>> bytes = compileModel(*model, arguments);
  if (!bytes)
    return report(bytes.error());
  if (embedForm) {
    Status written =
        embedCompiled(*model, *std::move(bytes), *embedForm, output, arguments);
    return written ? exitOk : report(written.error());
  }
  std::span<const std::byte> content = *bytes;
  Status written = runtime::replaceFile(output, {&content, 1});
  return written ? exitOk : report(written.error());
}

} // namespace sinter::cli
