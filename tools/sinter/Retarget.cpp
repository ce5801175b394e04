/// Compiles the graphs of a file again.
#include "tools/sinter/Retarget.h"

#include "runtime/files/MappedFile.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/ProgramMover.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/tune/Tuner.h"
#include "tools/sinter/Model.h"

#include <algorithm>

namespace sinter::cli {

std::vector<runtime::CompileRequest>
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
    auto data = tensorData(info, file.bytesOf(runtime::SectionKind::weights));
    if (isWhole)
      writer.setModel(std::move(info), std::move(data));
    return writer.finish();
  }

private:
  std::string graphOf(uint32_t entry) const {
    return std::string(file.textOf(runtime::SectionKind::graph, entry));
  }

  Result<uint8_t> numericsOf(uint32_t entry) const {
    SINTER_TRY_ASSIGN(
        runtime::ProgramData program,
        runtime::verifyProgram(file, info.entries[entry].programs[0]));
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
    SINTER_TRY_ASSIGN(
        std::vector<std::string> sites,
        runtime::readSites(file.bytesOf(runtime::SectionKind::debug, entry)));
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

Result<std::vector<std::byte>>
retargeted(const std::string &path,
           std::span<const runtime::CompileRequest> requests,
           const Arguments &arguments) {
  if (arguments.has("--dynamic"))
    return makeError(
        ErrorKind::invalid_argument,
        "compile: --dynamic is for texts; a file's dims are given");
  SINTER_TRY_ASSIGN(runtime::MappedFile mapped,
                    runtime::MappedFile::open(path));
  SINTER_TRY_ASSIGN(runtime::ModelFile file,
                    runtime::readModel(mapped.bytes()));
  SINTER_TRY_ASSIGN(runtime::ModelInfo info, runtime::readModelInfo(file));
  return Retargeting(file, std::move(info))
      .make(requests, !arguments.has("--numerics"));
}

} // namespace sinter::cli
