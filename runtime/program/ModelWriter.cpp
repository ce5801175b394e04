/// Lays sections out and digests them.
#include "runtime/program/ModelWriter.h"

#include "runtime/files/ReplaceFile.h"
#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/PackModel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>

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

constexpr uint64_t largestAlignment = 4096; // of sections nobody knows here
constexpr std::array<std::byte, largestAlignment> zeros = {};

} // namespace

/// The sections of a file that is being made: parts that others own, or that
/// are kept here, one after the other.
class ModelWriter::Layout {
public:
  void add(SectionEntry entry, std::vector<std::span<const std::byte>> parts) {
    entry.bytes = 0;
    for (std::span<const std::byte> part : parts)
      entry.bytes += part.size();
    std::vector<Digest> blocks = blockDigests(ByteParts(parts));
    entry.digest = digestOfBlocks(blocks);
    if (entry.bytes > digestBlock && isLargeSection(entry.kind))
      large.emplace_back(entry.kind, std::move(blocks));
    sections.push_back({entry, std::move(parts)});
  }
  void add(SectionKind kind, uint32_t index, std::span<const std::byte> bytes) {
    add(makeEntry(kind, index), {bytes});
  }
  /// Bytes that live as long as this.
  std::span<const std::byte> keep(std::vector<std::byte> bytes) {
    kept.push_back(std::make_shared<std::vector<std::byte>>(std::move(bytes)));
    return *kept.back();
  }

  /// The whole file, part by part, once all sections are added.
  Result<std::vector<std::span<const std::byte>>> finish();
  uint64_t fileBytes = 0;

private:
  struct Laid {
    SectionEntry entry;
    std::vector<std::span<const std::byte>> parts;
  };
  std::vector<Laid> sections;
  std::vector<std::pair<SectionKind, std::vector<Digest>>> large;
  std::vector<std::shared_ptr<std::vector<std::byte>>> kept;
};

Result<std::vector<std::span<const std::byte>>> ModelWriter::Layout::finish() {
  for (const auto &[kind, blocks] : large) {
    auto bytes = std::as_bytes(std::span(blocks));
    add(blocksOf(kind), 0, keep({bytes.begin(), bytes.end()}));
  }
  large.clear();
  std::ranges::stable_sort(sections, {}, [](const Laid &each) {
    return std::pair(each.entry.kind, each.entry.index);
  });
  if (sections.size() > maxSections)
    return makeError(ErrorKind::unsupported,
                     fmt::format("model file: {} sections, at most {} fit",
                                 sections.size(), maxSections));
  std::vector<SectionEntry> table;
  std::vector<std::span<const std::byte>> parts = {{}, {}};
  uint64_t at = sizeof(FileHeader) + sections.size() * sizeof(SectionEntry);
  for (Laid &each : sections) {
    each.entry.offset = alignTo(at, each.entry.alignment);
    parts.push_back(std::span(zeros).first(each.entry.offset - at));
    parts.insert(parts.end(), each.parts.begin(), each.parts.end());
    at = each.entry.offset + each.entry.bytes;
    table.push_back(each.entry);
  }
  fileBytes = at;
  FileHeader header;
  header.numSections = uint32_t(table.size());
  header.fileBytes = at;
  header.contentDigest = contentDigest(table);
  header.headerDigest = headerDigest(header, table);
  auto headerBytes = std::as_bytes(std::span(&header, 1));
  parts[0] = keep({headerBytes.begin(), headerBytes.end()});
  auto tableBytes = std::as_bytes(std::span(table));
  parts[1] = keep({tableBytes.begin(), tableBytes.end()});
  return parts;
}

static std::vector<std::byte>
joined(uint64_t size, std::span<const std::span<const std::byte>> parts) {
  std::vector<std::byte> file;
  file.reserve(size);
  for (std::span<const std::byte> part : parts)
    file.insert(file.end(), part.begin(), part.end());
  return file;
}

uint32_t ModelWriter::addProgram(std::vector<std::byte> program,
                                 std::vector<std::byte> image) {
  programs.push_back({std::move(program), std::move(image)});
  return uint32_t(programs.size() - 1);
}

uint32_t ModelWriter::addProgram(const fb::ProgramT &program,
                                 std::vector<std::byte> image) {
  return addProgram(pack<fb::Program>(program), std::move(image));
}

void ModelWriter::setConstants(std::vector<std::byte> bytes) {
  constants = std::move(bytes);
}

void ModelWriter::setGraph(std::string text, uint32_t entry) {
  graphs[entry] = std::move(text);
}

void ModelWriter::setSites(std::vector<std::string> sites, uint32_t entry) {
  fb::DebugInfoT info;
  info.sites = std::move(sites);
  debugs[entry] = pack<fb::DebugInfo>(info);
}

void ModelWriter::setModel(ModelInfo info,
                           std::vector<std::span<const std::byte>> data) {
  model = std::move(info);
  this->data = std::move(data);
}

static bool isZero(std::span<const std::byte> bytes) {
  return !bytes.empty() && bytes[0] == std::byte(0) &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Says where the tensors are; gives the parts of the weights section.
static std::vector<std::span<const std::byte>>
placeTensors(ModelInfo &info,
             std::span<const std::span<const std::byte>> data) {
  std::vector<std::span<const std::byte>> parts;
  std::map<std::pair<Digest, uint64_t>, uint64_t> places;
  uint64_t at = 0;
  for (size_t i = 0; i < info.tensors.size(); ++i) {
    StoredTensor &tensor = info.tensors[i];
    tensor.offset = 0;
    if (!tensor.externalFile.empty() || tensor.zeros)
      continue;
    tensor.bytes = data[i].size();
    tensor.zeros = isZero(data[i]);
    if (tensor.zeros || data[i].empty())
      continue;
    uint64_t alignment = sectionAlignment(SectionKind::weights);
    uint64_t start = alignTo(at, alignment);
    auto [place, isNew] =
        places.emplace(std::pair(digestOf(data[i]), tensor.bytes), start);
    tensor.offset = place->second;
    if (!isNew)
      continue;
    parts.push_back(std::span(zeros).first(start - at));
    parts.push_back(data[i]);
    at = start + tensor.bytes;
  }
  return parts;
}

std::vector<std::span<const std::byte>>
sinter::runtime::tensorData(const ModelInfo &info,
                            std::span<const std::byte> weights) {
  std::vector<std::span<const std::byte>> data;
  for (const StoredTensor &tensor : info.tensors) {
    bool isInside = tensor.externalFile.empty() && !tensor.zeros;
    data.push_back(isInside ? weights.subspan(tensor.offset, tensor.bytes)
                            : std::span<const std::byte>());
  }
  return data;
}

/// What was given is checked as a reader of the file would.
static Status checkModel(ModelFile file, std::span<const std::byte> section,
                         uint64_t weightBytes) {
  file.sections.push_back({SectionKind::model, 0, section});
  auto read = readModelInfo(file, weightBytes);
  if (read)
    return {};
  ErrorInfo error = read.takeError();
  error.kind = ErrorKind::invalid_argument;
  return error;
}

Result<ModelWriter::Layout> ModelWriter::layOut() const {
  if (programs.empty())
    return makeError(ErrorKind::internal, "model file: no program was added");
  Layout layout;
  ModelFile file; // what the model section is checked against
  auto add = [&](SectionKind kind, uint32_t index,
                 std::span<const std::byte> bytes) {
    layout.add(kind, index, bytes);
    file.sections.push_back({kind, index, bytes});
  };
  for (uint32_t i = 0; i < programs.size(); ++i)
    add(SectionKind::program, i, programs[i].program);
  for (uint32_t i = 0; i < programs.size(); ++i)
    add(SectionKind::image, i, programs[i].image);
  if (!constants.empty())
    add(SectionKind::constants, 0, constants);
  for (const auto &[entry, text] : graphs)
    if (!text.empty())
      add(SectionKind::graph, entry, std::as_bytes(std::span(text)));
  for (const auto &[entry, debug] : debugs)
    add(SectionKind::debug, entry, debug);
  if (!model)
    return layout;
  ModelInfo info = *model;
  if (data.size() != info.tensors.size())
    return makeError(ErrorKind::internal,
                     fmt::format("model file: the bytes of {} tensors for {}",
                                 data.size(), info.tensors.size()));
  auto weights = placeTensors(info, data);
  uint64_t weightBytes = 0;
  for (std::span<const std::byte> part : weights)
    weightBytes += part.size();
  std::span<const std::byte> section = layout.keep(packModel(info));
  SINTER_TRY(checkModel(std::move(file), section, weightBytes));
  layout.add(SectionKind::model, 0, section);
  if (weightBytes > 0)
    layout.add(makeEntry(SectionKind::weights, 0), std::move(weights));
  return layout;
}

Result<std::vector<std::byte>> ModelWriter::finish() const {
  SINTER_TRY_ASSIGN(Layout layout, layOut());
  SINTER_TRY_ASSIGN(auto parts, layout.finish());
  return joined(layout.fileBytes, parts);
}

Status ModelWriter::write(const std::string &path) const {
  SINTER_TRY_ASSIGN(Layout layout, layOut());
  SINTER_TRY_ASSIGN(auto parts, layout.finish());
  return replaceFile(path, parts);
}

ModelWriter::Layout ModelWriter::copyOf(const ModelFile &model, bool debug) {
  Layout layout;
  for (const Section &section : model.sections)
    if ((debug || section.kind != SectionKind::debug) &&
        section.kind != SectionKind::signature &&
        section.kind != SectionKind::blocks &&
        section.kind != SectionKind::weightBlocks)
      layout.add(section.kind, section.index, section.bytes);
  for (const OtherSection &other : model.others)
    layout.add(other.entry, {other.bytes});
  return layout;
}

Result<std::vector<std::byte>>
sinter::runtime::stripModel(std::span<const std::byte> file) {
  SINTER_TRY_ASSIGN(ModelFile model, readModel(file));
  ModelWriter::Layout layout = ModelWriter::copyOf(model, /*debug=*/false);
  SINTER_TRY_ASSIGN(auto parts, layout.finish());
  return joined(layout.fileBytes, parts);
}

Status sinter::runtime::writeSigned(const std::string &path,
                                    std::span<const std::byte> file,
                                    std::string_view signature) {
  SINTER_TRY_ASSIGN(ModelFile model, readModel(file));
  ModelWriter::Layout layout = ModelWriter::copyOf(model, /*debug=*/true);
  layout.add(SectionKind::signature, 0, std::as_bytes(std::span(signature)));
  SINTER_TRY_ASSIGN(auto parts, layout.finish());
  return replaceFile(path, parts);
}
