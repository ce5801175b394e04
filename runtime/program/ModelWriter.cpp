/// Lays sections out and digests them.
#include "runtime/program/ModelWriter.h"

#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"

#include <cstring>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

template <typename Table, typename Object>
std::vector<std::byte> pack(const Object &object) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Table::Pack(builder, &object));
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return {data, data + builder.GetSize()};
}

uint64_t alignTo(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

std::vector<std::byte> assemble(std::span<const Section> sections) {
  std::vector<SectionEntry> table;
  uint64_t at = sizeof(FileHeader) + sections.size() * sizeof(SectionEntry);
  for (const Section &section : sections) {
    SectionEntry entry;
    entry.kind = section.kind;
    entry.index = section.index;
    entry.alignment = sectionAlignment(section.kind);
    entry.offset = alignTo(at, entry.alignment);
    entry.bytes = section.bytes.size();
    entry.digest = sectionDigest(section.bytes);
    at = entry.offset + entry.bytes;
    table.push_back(entry);
  }
  FileHeader header;
  header.numSections = uint32_t(table.size());
  header.fileBytes = at;
  header.contentDigest = contentDigest(table);
  header.headerDigest = headerDigest(header, table);

  std::vector<std::byte> file(at);
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), table.data(),
              table.size() * sizeof(SectionEntry));
  for (size_t i = 0; i < table.size(); ++i)
    if (!sections[i].bytes.empty())
      std::memcpy(file.data() + table[i].offset, sections[i].bytes.data(),
                  sections[i].bytes.size());
  return file;
}

} // namespace

void ModelWriter::addProgram(std::vector<std::byte> program,
                             std::vector<std::byte> image) {
  programs.push_back({std::move(program), std::move(image)});
}

void ModelWriter::addProgram(const fb::ProgramT &program,
                             std::vector<std::byte> image) {
  addProgram(pack<fb::Program>(program), std::move(image));
}

void ModelWriter::setConstants(std::vector<std::byte> bytes) {
  constants = std::move(bytes);
}

void ModelWriter::setGraph(std::string text) { graph = std::move(text); }

void ModelWriter::setSites(std::vector<std::string> sites) {
  fb::DebugInfoT info;
  info.sites = std::move(sites);
  debug = pack<fb::DebugInfo>(info);
}

Result<std::vector<std::byte>> ModelWriter::finish() const {
  if (programs.empty())
    return makeError(ErrorKind::internal, "model file: no program was added");
  std::vector<Section> sections;
  for (uint32_t i = 0; i < programs.size(); ++i)
    sections.push_back({SectionKind::program, i, programs[i].program});
  for (uint32_t i = 0; i < programs.size(); ++i)
    sections.push_back({SectionKind::image, i, programs[i].image});
  if (!constants.empty())
    sections.push_back({SectionKind::constants, 0, constants});
  if (!graph.empty())
    sections.push_back(
        {SectionKind::graph, 0, std::as_bytes(std::span(graph))});
  if (!debug.empty())
    sections.push_back({SectionKind::debug, 0, debug});
  std::vector<Digest> blocks;
  if (constants.size() > digestBlock) {
    blocks = blockDigests(constants);
    sections.push_back(
        {SectionKind::blocks, 0, std::as_bytes(std::span(blocks))});
  }
  if (sections.size() > maxSections)
    return makeError(ErrorKind::unsupported,
                     fmt::format("model file: {} sections, at most {} fit",
                                 sections.size(), maxSections));
  return assemble(sections);
}

Result<std::vector<std::byte>>
sinter::runtime::stripModel(std::span<const std::byte> file) {
  SINTER_TRY_ASSIGN(ModelFile model, readModel(file));
  std::erase_if(model.sections, [](const Section &section) {
    return section.kind == SectionKind::debug;
  });
  return assemble(model.sections);
}
