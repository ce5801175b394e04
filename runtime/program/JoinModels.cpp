/// Puts the programs of several files into one.
#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/VerifyProgram.h"

#include <map>

using namespace sinter;
using namespace sinter::runtime;

namespace {

class Joiner {
public:
  Status add(const ModelFile &model);
  Result<std::vector<std::byte>> finish();

private:
  Status addProgram(const ModelFile &model, uint32_t index);
  uint64_t placeOf(std::span<const std::byte> constant);

  ModelWriter writer;
  uint32_t numFiles = 0;
  std::string graph;
  std::vector<std::string> sites;
  std::vector<std::byte> constants;
  std::map<Digest, uint64_t> places; ///< of constants, by their digests
};

std::span<const std::byte> bytesOf(const ModelFile &model, SectionKind kind,
                                   uint32_t index = 0) {
  const Section *section = model.find(kind, index);
  return section ? section->bytes : std::span<const std::byte>();
}

} // namespace

uint64_t Joiner::placeOf(std::span<const std::byte> constant) {
  uint64_t alignment = sectionAlignment(SectionKind::constants);
  uint64_t end = (constants.size() + alignment - 1) / alignment * alignment;
  auto [place, isNew] = places.emplace(digestOf(constant), end);
  if (isNew) {
    constants.resize(end);
    constants.insert(constants.end(), constant.begin(), constant.end());
  }
  return place->second;
}

Status Joiner::addProgram(const ModelFile &model, uint32_t index) {
  auto program = bytesOf(model, SectionKind::program, index);
  auto image = bytesOf(model, SectionKind::image, index);
  auto own = bytesOf(model, SectionKind::constants);
  SINTER_TRY(verifyProgram(program, own.size()));
  fb::ProgramT object;
  fb::GetProgram(program.data())->UnPackTo(&object);
  for (auto &constant : object.constants)
    constant->offset = placeOf(own.subspan(constant->offset, constant->bytes));
  writer.addProgram(object, {image.begin(), image.end()});
  return {};
}

Status Joiner::add(const ModelFile &model) {
  auto text = bytesOf(model, SectionKind::graph);
  std::string ownGraph(reinterpret_cast<const char *>(text.data()),
                       text.size());
  std::vector<std::string> ownSites;
  if (model.find(SectionKind::debug)) {
    SINTER_TRY_ASSIGN(ownSites, readSites(bytesOf(model, SectionKind::debug)));
  }
  if (numFiles++ == 0) {
    graph = std::move(ownGraph);
    sites = std::move(ownSites);
  } else if (graph != ownGraph || sites != ownSites) {
    return makeError(ErrorKind::invalid_argument,
                     "model files: they are not of one graph");
  }
  for (uint32_t i = 0; i < model.count(SectionKind::program); ++i)
    SINTER_TRY(addProgram(model, i));
  return {};
}

Result<std::vector<std::byte>> Joiner::finish() {
  writer.setConstants(std::move(constants));
  writer.setGraph(std::move(graph));
  if (!sites.empty())
    writer.setSites(std::move(sites));
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
