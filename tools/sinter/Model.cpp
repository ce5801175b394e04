/// Reading, writing and compiling of model files.
#include "tools/sinter/Model.h"

#include "runtime/files/ReplaceFile.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Numerics.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Printable.h"
#include "runtime/tune/Tuner.h"
#include "tools/sinter/Inputs.h"
#include "tools/sinter/ModelEntry.h"
#include "tools/sinter/Retarget.h"
#include "tools/sinter/import/ImportModel.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace sinter::cli {

using namespace runtime;

// In pieces, into memory of the file's size: a file is read once and stands in
// memory once. What has no size, such as a pipe, is read to its end.
template <typename Bytes>
static Result<Bytes> readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return makeError(ErrorKind::io, path + ": " + std::strerror(errno));
  std::error_code unknown;
  auto size = std::filesystem::file_size(path, unknown);
  Bytes content;
  if (!unknown)
    content.reserve(size);
  std::vector<char> piece(size_t(1) << 16);
  while (file.read(piece.data(), std::streamsize(piece.size())) ||
         file.gcount() > 0) {
    auto bytes = std::as_bytes(
        std::span(piece).first(static_cast<size_t>(file.gcount())));
    auto *first =
        reinterpret_cast<const typename Bytes::value_type *>(bytes.data());
    content.insert(content.end(), first, first + bytes.size());
  }
  if (file.bad())
    return makeError(ErrorKind::io, path + ": cannot be read");
  return content;
}

Result<std::vector<std::byte>> readBytes(const std::string &path) {
  return readAll<std::vector<std::byte>>(path);
}

Status writeText(const std::string &path, std::string_view text) {
  if (path == "-") {
    if (!(std::cout << printable(text) << std::flush))
      return makeError(ErrorKind::io, "standard output: cannot write");
    return {};
  }
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return replaceFile(path, {&bytes, 1});
}

/// What an imported model becomes is compiled by default; flags that say
/// otherwise have its graph compiled again.
static Result<Model> importAsAsked(const std::string &path,
                                   const Arguments &arguments) {
  SINTER_TRY_ASSIGN(Model model, importModel(path, arguments));
  constexpr const char *others[] = {"--target", "--numerics", "--fusion",
                                    "--memory-limit"};
  if (std::ranges::none_of(
          others, [&](const char *flag) { return arguments.has(flag); }))
    return model;
  SINTER_TRY_ASSIGN(CompileRequest request, compileRequest(arguments));
  request.debug = true; // as what it stands for
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                    retargeted(model.path, requestsOf(request), arguments));
  std::span<const std::byte> all = bytes;
  SINTER_TRY(replaceFile(model.path, {&all, 1}));
  return model;
}

Result<Model> readModelFile(const std::string &path,
                            const Arguments &arguments) {
  Model model;
  model.path = path;
  if (path == "-") {
    model.text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return model;
  }
  std::string extension = std::filesystem::path(path).extension();
  if (extension == ".onnx" || extension == ".pt2")
    return importAsAsked(path, arguments);
  if (extension != ".mlir" && extension != ".sinter")
    return makeError(ErrorKind::invalid_argument,
                     path +
                         ": a model is a .mlir, .onnx, .pt2 or .sinter file");
  model.compiled = extension == ".sinter";
  if (model.compiled)
    return model;
  SINTER_TRY_ASSIGN(model.text, readAll<std::string>(path));
  return model;
}

static Result<std::vector<TileChoice>> tilesOf(const Arguments &arguments) {
  std::vector<TileChoice> tiles;
  for (const std::string &text : arguments.all("--tile")) {
    size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
      return makeError(ErrorKind::invalid_argument,
                       "--tile needs KERNEL=TILE, not '" + text + "'");
    tiles.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return tiles;
}

Result<CompileRequest> compileRequest(const Arguments &arguments) {
  CompileRequest request;
  request.target = arguments.get("--target", "cpu");
  SINTER_TRY_ASSIGN(request.numerics,
                    runtime::parseNumerics(
                        "--numerics", arguments.get("--numerics", "default")));
  SINTER_TRY_ASSIGN(
      request.fusion,
      runtime::parseFusion("--fusion", arguments.get("--fusion", "full")));
  std::string limit = arguments.get("--memory-limit", "0");
  const char *end = limit.data() + limit.size();
  auto [next, error] = std::from_chars(limit.data(), end, request.memoryLimit);
  if (error != std::errc() || next != end || request.memoryLimit < 0)
    return makeError(ErrorKind::invalid_argument,
                     "--memory-limit needs a number of bytes, not '" + limit +
                         "'");
  request.dynamic = arguments.all("--dynamic");
  SINTER_TRY_ASSIGN(request.tiles, tilesOf(arguments));
  if (arguments.has("--tune") || flags().tune)
    request.tuneOn = tuningDevice(request.target);
  if (!request.tuneOn.empty() && !request.tiles.empty())
    return makeError(ErrorKind::invalid_argument,
                     "--tile says what --tune would choose");
  return request;
}

std::string tuningDevice(std::string_view target) {
  std::string_view kind = target.substr(0, target.find(':'));
  std::string name = defaultDeviceName();
  return name.substr(0, name.find(':')) == kind ? name : std::string(kind);
}

Result<runtime::Device *> openDevice(const Arguments &arguments,
                                     CompileRequest &request) {
  SINTER_TRY_ASSIGN(
      DeviceId id, parseDevice(arguments.get("--device", defaultDeviceName())));
  if (id.kind == DeviceKind::null)
    return makeError(ErrorKind::unsupported,
                     "null runs no compiled programs; sinter check --device "
                     "null computes .onnx models by plain loops");
  SINTER_TRY_ASSIGN(Device * device, getDevice(id));
  if (!arguments.has("--target"))
    request.target = device->target();
  if (!request.tuneOn.empty())
    request.tuneOn = toString(id);
  return device;
}

// Of a text.
static Tunable tunableOf(const Model &model, const CompileRequest &request) {
  auto compile =
      [&model](const CompileRequest &asked) -> Result<std::vector<std::byte>> {
    SINTER_TRY_ASSIGN(const CompilerHook *hook, compilerHook());
    return hook->compileText(model.text, asked);
  };
  return {request, compile};
}

// Only texts are tuned. A variable may be there for other commands.
static Status checkTuning(const Model &model, const CompileRequest &request) {
  bool isAsked = !request.tuneOn.empty() && !flags().tune;
  if (model.compiled && (isAsked || !request.tiles.empty()))
    return makeError(ErrorKind::invalid_argument,
                     model.path + ": a compiled model keeps its tiles; give "
                                  "--tune or --tile where it is compiled");
  return {};
}

Result<CompileRequest> tunedRequest(const Model &model,
                                    const CompileRequest &request) {
  SINTER_TRY(checkTuning(model, request));
  if (model.compiled)
    return request;
  return tuned(tunableOf(model, request));
}

Result<std::vector<std::byte>> compiledBytes(const Model &model,
                                             const CompileRequest &request) {
  SINTER_TRY(checkTuning(model, request));
  if (model.compiled)
    return readBytes(model.path);
  return compileTuned(tunableOf(model, request));
}

Result<RunnableModel> loadModel(const Model &model, const Arguments &arguments,
                                const CompileRequest &request, Device &device) {
  SINTER_TRY(checkTuning(model, request));
  RunnableModel runnable;
  std::string name = arguments.get("--entry");
  if (model.compiled) {
    TrustChoice trust; // what was just compiled here is trusted
    if (!model.imported) {
      SINTER_TRY_ASSIGN(trust, trustOf(arguments));
    }
    SINTER_TRY_ASSIGN(runnable.entry,
                      ModelEntry::open(model.path, name, device, trust));
    runnable.program = runnable.entry->program();
    return runnable;
  }
  if (!name.empty())
    return makeError(ErrorKind::invalid_argument,
                     model.path + ": a text has no entries; leave --entry out");
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                    compiledBytes(model, request));
  SINTER_TRY_ASSIGN(runnable.program, Program::load(bytes, device));
  return runnable;
}

Result<std::vector<FileParts>> partsOf(std::shared_ptr<const ModelBytes> file) {
  SINTER_TRY_ASSIGN(ModelFile model, readModel(file->bytes()));
  SINTER_TRY_ASSIGN(ModelInfo info, readModelInfo(model));
  std::vector<uint32_t> entryOf(model.count(SectionKind::program));
  for (uint32_t entry = 0; entry < info.entries.size(); ++entry)
    for (uint32_t program : info.entries[entry].programs)
      entryOf[program] = entry;
  CopyBudget budget(file->bytes().size());
  std::vector<FileParts> all;
  for (uint32_t i = 0; i < entryOf.size(); ++i) {
    FileParts parts;
    parts.file = file;
    parts.entry = info.entries[entryOf[i]].name;
    SINTER_TRY_ASSIGN(parts.program, verifyProgram(model, i, budget));
    parts.image = model.bytesOf(SectionKind::image, i);
    parts.graph = model.textOf(SectionKind::graph, entryOf[i]);
    auto same = std::ranges::find(entryOf, entryOf[i]) - entryOf.begin();
    if (size_t(same) < i) {
      parts.sites = all[size_t(same)].sites;
    } else if (model.find(SectionKind::debug, entryOf[i])) {
      SINTER_TRY_ASSIGN(
          auto sites, readSites(model.bytesOf(SectionKind::debug, entryOf[i])));
      parts.sites =
          std::make_shared<const std::vector<std::string>>(std::move(sites));
    }
    all.push_back(std::move(parts));
  }
  if (all.empty())
    return makeError(ErrorKind::io, "model file: it holds no program");
  return all;
}

static Result<ModelBytes> mappedOrCompiled(const Model &model,
                                           const CompileRequest &request) {
  if (model.compiled) {
    SINTER_TRY(checkTuning(model, request));
    SINTER_TRY_ASSIGN(MappedFile file, MappedFile::open(model.path));
    return ModelBytes(std::move(file));
  }
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes,
                    compiledBytes(model, request));
  return ModelBytes(std::move(bytes));
}

Result<std::vector<FileParts>> selectParts(const Model &model,
                                           const Arguments &arguments,
                                           const CompileRequest &request) {
  SINTER_TRY_ASSIGN(ModelBytes bytes, mappedOrCompiled(model, request));
  SINTER_TRY_ASSIGN(std::vector<FileParts> all,
                    partsOf(std::make_shared<ModelBytes>(std::move(bytes))));
  if (arguments.has("--entry")) {
    std::string entry = arguments.get("--entry");
    std::erase_if(all,
                  [&](const FileParts &parts) { return parts.entry != entry; });
    if (all.empty())
      return makeError(ErrorKind::invalid_argument,
                       model.path + ": it has no entry '" + entry + "'");
  }
  if (!model.compiled || !arguments.has("--target"))
    return all;
  std::string kind = request.target.substr(0, request.target.find(':'));
  std::erase_if(all, [&](const FileParts &parts) {
    return parts.program.target != kind;
  });
  if (all.empty())
    return makeError(ErrorKind::invalid_argument,
                     model.path + ": it holds no program for " + kind);
  return all;
}

} // namespace sinter::cli
