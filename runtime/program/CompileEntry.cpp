/// Compiles a file's portable graph.
#include "runtime/program/CompileEntry.h"

#include "runtime/program/CompilerHook.h"
#include "runtime/program/ModelError.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ProgramCache.h"
#include "runtime/program/VerifyModel.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/support/Key.h"
#include "sinter/runtime/Log.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// What the entry's graph is compiled with.
struct Portable {
  ModelInfo info;
  std::string_view graph;
  CompileRequest request;
};

Result<Portable> portableOf(const ModelFile &model, uint32_t entry,
                            const Device &device) {
  Portable portable;
  SINTER_TRY_ASSIGN(portable.info, readModelInfo(model));
  if (!model.find(SectionKind::graph, entry))
    return brokenModel("it has no portable graph");
  portable.graph = model.textOf(SectionKind::graph, entry);
  uint32_t first = portable.info.entries[entry].programs[0];
  SINTER_TRY_ASSIGN(ProgramData program, verifyProgram(model, first));
  portable.request.target = device.target();
  portable.request.numerics = program.numerics;
  return portable;
}

ErrorInfo untrusted(const std::string &path, const Device &device) {
  return makeError(
      ErrorKind::unsupported,
      fmt::format("{}only the graph of the model file is trusted, its programs "
                  "are not run on {}",
                  path.empty() ? "" : path + ": ", toString(device.id())));
}

} // namespace

Result<std::shared_ptr<const Program>>
sinter::runtime::loadOrCompileEntry(std::shared_ptr<const FileBytes> file,
                                    uint32_t entry, Device &device,
                                    const std::string &path, bool graphAlone) {
  bool isNull = device.id().kind == DeviceKind::null;
  bool isTrusted = !graphAlone || isNull;
  auto loaded =
      isTrusted
          ? loadEntry(file, entry, device, path)
          : Result<std::shared_ptr<const Program>>(untrusted(path, device));
  bool isForOthers = !loaded && loaded.error().kind == ErrorKind::unsupported;
  if (!isForOthers || isNull)
    return loaded;
  SINTER_TRY_ASSIGN(ModelFile model,
                    readModel(file->bytes(), ModelCheck::untilUse));
  auto portable = portableOf(model, entry, device);
  auto hook = compilerHook();
  if (!portable || !hook) {
    ErrorInfo error = loaded.takeError();
    error.message += "; and it cannot be compiled here: " +
                     (portable ? hook.error() : portable.error()).message;
    return error;
  }
  Key key = keyOfText(fmt::format(
      "{}\n{}\n{}\n{}\n{}", portable->graph, portable->request.target,
      device.profile(), portable->request.numerics, (*hook)->digest()));
  std::string name = path.empty() ? "a model file" : path;
  SINTER_TRY_ASSIGN(CachedProgram found, findOrCompile(key, device, [&] {
                      return (*hook)->compileText(portable->graph,
                                                  portable->request);
                    }));
  bool isNew = found.source == CacheSource::compiled;
  log(isNew ? LogLevel::warning : LogLevel::info,
      fmt::format("{}: {} for {}: its portable graph {}", name,
                  isTrusted ? "it has no program" : "only its graph is trusted",
                  toString(device.id()),
                  isNew ? "was compiled" : "was compiled before"));
  const auto &program = static_cast<const LoadedProgram &>(*found.program);
  SINTER_TRY(checkFits(portable->info, portable->info.entries[entry],
                       program.program()));
  return std::move(found.program);
}
