/// `sinter compile`: a model to a file that runs without the compiler.
#include "runtime/params/ReplaceFile.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/ProgramMover.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/tune/Tuner.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Model.h"
#include "tools/sinter/onnx/ImportOnnx.h"

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
    sizeFlag,
    constantFlag,
    tuneFlag,
    tileFlag,
    {"--emit", "FORM",
     "sinter (default); object: the native image of a static program; cpp: a "
     "module in C++ of an .onnx model, with its parameters beside it"},
    {"--strip", nullptr, "leave the source lines out"},
};
static constexpr Interface interface = {
    "compile MODEL -o OUT [--target TARGET[,TARGET]...] [--strip]",
    "Compiles a .mlir or .onnx model, strips a .sinter file, or, with "
    "--target, makes\n"
    "another of it with programs for these targets, out of its portable "
    "graph.\n"
    "Of several targets one file has the programs; a device takes the one "
    "that\n"
    "needs the most of what it has. The same input and compiler give the same\n"
    "bytes, with --tune the same choices of tiles, too.",
    flags,
    1,
    1,
};

// For each of the targets that `request` lists.
static std::vector<runtime::CompileRequest>
requestsOf(const runtime::CompileRequest &request) {
  std::string_view targets = request.target;
  std::vector<runtime::CompileRequest> requests;
  for (size_t start = 0; start <= targets.size();) {
    size_t end = std::min(targets.find(',', start), targets.size());
    runtime::CompileRequest one = request;
    one.target = targets.substr(start, end - start);
    if (!one.tuneOn.empty())
      one.tuneOn = tuningDevice(one.target);
    requests.push_back(std::move(one));
    start = end + 1;
  }
  return requests;
}

static Result<std::vector<std::byte>>
compileForAll(const Model &model, const runtime::CompileRequest &request) {
  std::vector<std::vector<std::byte>> files;
  for (const runtime::CompileRequest &one : requestsOf(request)) {
    SINTER_TRY_ASSIGN(std::vector<std::byte> file, compiledBytes(model, one));
    files.push_back(std::move(file));
  }
  if (files.size() == 1)
    return std::move(files.front());
  return runtime::joinModels(files);
}

namespace {
// A file's entries for other targets; weights, state and lines stay.
class Retargeting {
public:
  Retargeting(const runtime::ModelFile &file, runtime::ModelInfo info)
      : file(file), info(std::move(info)) {}

  Result<std::vector<std::byte>>
  make(std::span<const runtime::CompileRequest> requests, bool keepsNumerics) {
    for (uint32_t entry = 0; entry < info.entries.size(); ++entry)
      for (runtime::CompileRequest request : requests) {
        if (keepsNumerics) {
          SINTER_TRY_ASSIGN(request.numerics, numericsOf(entry));
        }
        SINTER_TRY(addProgram(entry, request));
      }
    mover.finish();
    for (size_t i = 0; i < info.entries.size(); ++i)
      info.entries[i].programs = std::move(programs[i]);
    for (uint32_t i = 0; i < info.entries.size(); ++i)
      writer.setGraph(graphOf(i), i);
    bool isWhole = file.find(runtime::SectionKind::model);
    auto data =
        tensorData(info, runtime::bytesOf(file, runtime::SectionKind::weights));
    if (isWhole)
      writer.setModel(std::move(info), std::move(data));
    return writer.finish();
  }

private:
  std::string graphOf(uint32_t entry) const {
    auto text = runtime::bytesOf(file, runtime::SectionKind::graph, entry);
    return {reinterpret_cast<const char *>(text.data()), text.size()};
  }

  Result<uint8_t> numericsOf(uint32_t entry) const {
    auto constants = runtime::bytesOf(file, runtime::SectionKind::constants);
    SINTER_TRY_ASSIGN(runtime::ProgramData program,
                      runtime::verifyProgram(
                          runtime::bytesOf(file, runtime::SectionKind::program,
                                           info.entries[entry].programs[0]),
                          constants.size()));
    return program.numerics;
  }

  Status addProgram(uint32_t entry, const runtime::CompileRequest &request) {
    std::string graph = graphOf(entry);
    if (graph.empty())
      return makeError(ErrorKind::invalid_argument,
                       "compile: the file has no portable graph");
    runtime::Tunable tunable{request,
                             [&](const runtime::CompileRequest &asked)
                                 -> Result<std::vector<std::byte>> {
                               SINTER_TRY_ASSIGN(
                                   const runtime::CompilerHook *hook,
                                   runtime::compilerHook());
                               return hook->compileText(graph, asked);
                             }};
    SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                      runtime::compileTuned(tunable));
    SINTER_TRY_ASSIGN(runtime::ModelFile compiled, runtime::readModel(bytes));
    SINTER_TRY_ASSIGN(uint32_t number, mover.add(compiled, 0));
    programs[entry].push_back(number);
    if (!request.debug || !file.find(runtime::SectionKind::debug, entry))
      return {};
    SINTER_TRY_ASSIGN(std::vector<std::string> sites,
                      runtime::readSites(runtime::bytesOf(
                          file, runtime::SectionKind::debug, entry)));
    writer.setSites(std::move(sites), entry);
    return {};
  }

  const runtime::ModelFile &file;
  runtime::ModelInfo info;
  std::vector<std::vector<uint32_t>> programs =
      std::vector<std::vector<uint32_t>>(info.entries.size());
  runtime::ModelWriter writer;
  runtime::ProgramMover mover{writer};
};
} // namespace

static Result<std::vector<std::byte>>
retargeted(const Model &model,
           std::span<const runtime::CompileRequest> requests,
           const Arguments &arguments) {
  if (arguments.has("--dynamic"))
    return makeError(
        ErrorKind::invalid_argument,
        "compile: --dynamic is for texts; a file's dims are given");
  SINTER_TRY_ASSIGN(runtime::MappedFile mapped,
                    runtime::MappedFile::open(model.path));
  SINTER_TRY_ASSIGN(runtime::ModelFile file,
                    runtime::readModel(mapped.bytes()));
  SINTER_TRY_ASSIGN(runtime::ModelInfo info, runtime::readModelInfo(file));
  return Retargeting(file, std::move(info))
      .make(requests, !arguments.has("--numerics"));
}

static Result<std::vector<std::byte>> compileModel(const Model &model,
                                                   Arguments &arguments) {
  SINTER_TRY_ASSIGN(runtime::CompileRequest request, compileRequest(arguments));
  request.debug = !arguments.has("--strip");
  if (!model.compiled)
    return compileForAll(model, request);
  // What an .onnx model became was compiled as it is by default.
  bool isChanged = model.imported &&
                   (arguments.has("--numerics") || arguments.has("--fusion") ||
                    arguments.has("--memory-limit"));
  if (arguments.has("--target") || isChanged)
    return retargeted(model, requestsOf(request), arguments);
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

// A header, of a model that has not been compiled. Flags of programs say
// nothing about one.
static Status writeCpp(const Arguments &arguments, const std::string &output) {
  const std::string &path = arguments.positional()[0];
  if (!path.ends_with(".onnx"))
    return makeError(ErrorKind::invalid_argument,
                     "compile: --emit cpp is for .onnx models");
  for (const Flag &flag : flags) {
    std::string_view name = flag.name;
    if (arguments.has(name) && name != "-o" && name != "--emit" &&
        name != "--size" && name != "--constant")
      return makeError(ErrorKind::invalid_argument,
                       "compile: --emit cpp takes no " + std::string(name));
  }
  return writeOnnxAsCpp(path, arguments, output);
}

int runCompile(int argc, char **argv) {
  Arguments arguments(argc, argv, interface);
  if (arguments.exit)
    return *arguments.exit;
  std::string output = arguments.get("-o");
  std::string form = arguments.get("--emit", "sinter");
  bool isForm = form == "sinter" || form == "object" || form == "cpp";
  if (output.empty() || !isForm) {
    fmt::print(stderr, "error: compile: {}\n",
               output.empty() ? "-o FILE is missing"
                              : "--emit is sinter, object or cpp");
    return exitUsage;
  }
  if (form == "cpp") {
    Status written = writeCpp(arguments, output);
    return written ? exitOk : report(written.error());
  }
  Result<Model> model = readModelFile(arguments.positional()[0], arguments);
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
