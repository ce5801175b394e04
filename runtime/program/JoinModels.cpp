/// Puts the programs of several files into one.
#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/ProgramMover.h"
#include "runtime/program/VerifyProgram.h"

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// What has to be the same in all files.
struct Common {
  std::vector<std::string> graphs;
  std::vector<std::vector<std::string>> sites;
  ModelInfo info; ///< without the entries' programs
  bool hasModel = false;
  Digest weights = {};
  bool operator==(const Common &) const = default;
};

Result<Common> commonOf(const ModelFile &model, const ModelInfo &info) {
  Common common;
  for (uint32_t i = 0; i < model.count(SectionKind::graph); ++i)
    common.graphs.emplace_back(model.textOf(SectionKind::graph, i));
  for (uint32_t i = 0; i < model.count(SectionKind::debug); ++i) {
    SINTER_TRY_ASSIGN(std::vector<std::string> sites,
                      readSites(model.bytesOf(SectionKind::debug, i)));
    common.sites.push_back(std::move(sites));
  }
  common.hasModel = model.find(SectionKind::model) != nullptr;
  common.weights = sectionDigest(model.bytesOf(SectionKind::weights));
  if (!common.hasModel)
    return common;
  common.info = info;
  for (EntryPoint &entry : common.info.entries)
    entry.programs.clear();
  return common;
}

class Joiner {
public:
  Status add(const ModelFile &model);
  Result<std::vector<std::byte>> finish();

private:
  ModelWriter writer;
  ProgramMover mover{writer};
  std::optional<Common> common;
  std::vector<std::vector<uint32_t>> programs; ///< per entry
  std::span<const std::byte> weights;
};

} // namespace

Status Joiner::add(const ModelFile &model) {
  SINTER_TRY_ASSIGN(ModelInfo info, readModelInfo(model));
  SINTER_TRY_ASSIGN(Common own, commonOf(model, info));
  if (!common) {
    common = std::move(own);
    weights = model.bytesOf(SectionKind::weights);
    programs.resize(info.entries.size());
  } else if (*common != own) {
    return makeError(ErrorKind::invalid_argument,
                     own.hasModel || common->hasModel
                         ? "model files: they are not of one model"
                         : "model files: they are not of one graph");
  }
  std::vector<uint32_t> entryOf(model.count(SectionKind::program));
  for (uint32_t entry = 0; entry < info.entries.size(); ++entry)
    for (uint32_t program : info.entries[entry].programs)
      entryOf[program] = entry;
  for (uint32_t i = 0; i < entryOf.size(); ++i) {
    SINTER_TRY_ASSIGN(uint32_t number, mover.add(model, i));
    programs[entryOf[i]].push_back(number);
  }
  return {};
}

Result<std::vector<std::byte>> Joiner::finish() {
  if (!common)
    return writer.finish();
  mover.finish();
  for (uint32_t i = 0; i < common->graphs.size(); ++i)
    writer.setGraph(std::move(common->graphs[i]), i);
  for (uint32_t i = 0; i < common->sites.size(); ++i)
    writer.setSites(std::move(common->sites[i]), i);
  if (common->hasModel) {
    ModelInfo &info = common->info;
    for (size_t i = 0; i < info.entries.size(); ++i)
      info.entries[i].programs = std::move(programs[i]);
    auto data = tensorData(info, weights);
    writer.setModel(std::move(info), std::move(data));
  }
  return writer.finish();
}

Result<std::vector<std::byte>>
sinter::runtime::joinModels(std::span<const std::vector<std::byte>> files) {
  Joiner joiner;
  for (const std::vector<std::byte> &file : files) {
    SINTER_TRY_ASSIGN(ModelFile model, readModel(file));
    SINTER_TRY(joiner.add(model));
  }
  return joiner.finish();
}
