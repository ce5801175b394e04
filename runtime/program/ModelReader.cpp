/// Checks header, section table, padding and digests.
#include "runtime/program/ModelReader.h"

#include "runtime/files/FileKind.h"
#include "runtime/program/ModelError.h"
#include <algorithm>
#include <bit>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr uint64_t maxUnknownAlignment = 4096;

Result<FileHeader> readHeader(std::span<const std::byte> file) {
  FileHeader header;
  if (file.size() < sizeof(header))
    return brokenModel(
        "{}",
        otherFile(fmt::format("{} bytes are too few for a header", file.size()),
                  file));
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.magic != fileMagic)
    return brokenModel(
        "{}", otherFile("wrong magic, this is not a .sinter file", file));
  if (header.version != fileVersion)
    return brokenModel("format version {}, this build reads version {}: {}",
                       header.version, fileVersion,
                       header.version < fileVersion
                           ? "write the file again with this release"
                           : "a newer release wrote it");
  if (header.fileBytes != file.size())
    return brokenModel("the header says {} bytes, there are {}",
                       header.fileBytes, file.size());
  if (header.numSections == 0 || header.numSections > maxSections)
    return brokenModel("{} sections, between 1 and {} are allowed",
                       header.numSections, maxSections);
  if (header.numSections * sizeof(SectionEntry) > file.size() - sizeof(header))
    return brokenModel("the section table reaches past the end");
  return header;
}

bool isKnown(const SectionEntry &entry) {
  return uint32_t(entry.kind) <= lastSectionKind;
}

/// Names are words of small letters, digits and dashes, zeros behind.
bool isName(const std::array<char, 15> &name, std::string_view text) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && std::ranges::all_of(text, isLetter) &&
         std::all_of(name.begin() + long(text.size()), name.end(),
                     [](char c) { return c == 0; });
}

Status checkName(const SectionEntry &entry, size_t number) {
  std::string_view name = nameOf(entry);
  if (!isName(entry.name, name))
    return brokenModel("section {} has no name", number);
  if (entry.optional > 1)
    return brokenModel("section {} is optional in another way", number);
  if (!isKnown(entry)) {
    // Under the name of another kind it would be taken for that one.
    for (uint32_t kind = 1; kind <= lastSectionKind; ++kind)
      if (name == sectionName(SectionKind(kind)))
        return brokenModel("section {} has kind {} and is named '{}'", number,
                           uint32_t(entry.kind), name);
    bool isPower = std::has_single_bit(entry.alignment) &&
                   entry.alignment <= maxUnknownAlignment;
    if (!isPower)
      return brokenModel("{} section {} has alignment {}", name, entry.index,
                         entry.alignment);
    if (!entry.optional)
      return brokenModel("it needs a reader that knows its section '{}'; a "
                         "newer release wrote it",
                         name);
    return {};
  }
  if (name != sectionName(entry.kind) ||
      bool(entry.optional) != isOptionalSection(entry.kind))
    return brokenModel("section {} is a {} section and named '{}'", number,
                       sectionName(entry.kind), name);
  if (entry.alignment != sectionAlignment(entry.kind))
    return brokenModel("{} section {} has alignment {}", name, entry.index,
                       entry.alignment);
  return {};
}

/// Kinds ascend and indices are dense, so every content has one file.
Status checkOrder(std::span<const SectionEntry> table) {
  for (size_t i = 0; i < table.size(); ++i) {
    const SectionEntry &entry = table[i];
    if (uint32_t(entry.kind) == 0)
      return brokenModel("section {} has kind 0", i);
    bool continues = i > 0 && table[i - 1].kind == entry.kind;
    if (i > 0 && table[i - 1].kind > entry.kind)
      return brokenModel("section {} is out of order", i);
    uint32_t expected = continues ? table[i - 1].index + 1 : 0;
    if (entry.index != expected)
      return brokenModel("section {} has index {}, expected {}", i, entry.index,
                         expected);
    if (isSingleSection(entry.kind) && entry.index != 0)
      return brokenModel("more than one {} section", sectionName(entry.kind));
    SINTER_TRY(checkName(entry, i));
  }
  return {};
}

Status checkZero(std::span<const std::byte> padding, uint64_t at) {
  for (size_t i = 0; i < padding.size(); ++i)
    if (padding[i] != std::byte(0))
      return brokenModel("padding byte {} is not zero", at + i);
  return {};
}

/// Checks that `entry` starts where it must after `at`; gives its end.
Result<uint64_t> checkPlace(std::span<const std::byte> file,
                            const SectionEntry &entry, uint64_t at) {
  std::string_view name = nameOf(entry);
  uint64_t expected =
      (at + entry.alignment - 1) / entry.alignment * entry.alignment;
  if (entry.offset != expected)
    return brokenModel("{} section {} is at {}, expected {}", name, entry.index,
                       entry.offset, expected);
  if (entry.offset > file.size() || entry.bytes > file.size() - entry.offset)
    return brokenModel("{} section {} reaches past the end", name, entry.index);
  SINTER_TRY(checkZero(file.subspan(at, entry.offset - at), at));
  return entry.offset + entry.bytes;
}

/// Whether the digest of a section is checked by those who use it.
bool isLeftToUsers(const SectionEntry &entry, ModelCheck check) {
  return check == ModelCheck::untilUse && isLargeSection(entry.kind) &&
         entry.bytes > digestBlock;
}

/// Large sections have their blocks' digests, which the digest in the table
/// covers; others have none.
Status checkBlocks(std::span<const SectionEntry> table, SectionKind kind) {
  auto entryOf = [&](SectionKind wanted) {
    auto found = std::ranges::find(table, wanted, &SectionEntry::kind);
    return found == table.end() ? nullptr : &*found;
  };
  const SectionEntry *section = entryOf(kind);
  const SectionEntry *blocks = entryOf(blocksOf(kind));
  bool large = section && section->bytes > digestBlock;
  if (large != (blocks != nullptr))
    return brokenModel("{} {} section", large ? "there is no" : "an idle",
                       sectionName(blocksOf(kind)));
  if (large && (blocks->bytes != numBlocks(section->bytes) * sizeof(Digest) ||
                blocks->digest != section->digest))
    return brokenModel("the {} section is not that of the {}",
                       sectionName(blocksOf(kind)), sectionName(kind));
  return {};
}

/// Which sections there are of each kind.
Status checkCounts(const ModelFile &model) {
  uint32_t programs = model.count(SectionKind::program);
  if (programs == 0 || programs != model.count(SectionKind::image))
    return brokenModel("{} program and {} image sections", programs,
                       model.count(SectionKind::image));
  if (model.find(SectionKind::model))
    return {};
  if (model.find(SectionKind::weights))
    return brokenModel("weights without a model section");
  for (SectionKind kind : {SectionKind::graph, SectionKind::debug})
    if (model.count(kind) > 1)
      return brokenModel("more than one {} section", sectionName(kind));
  return {};
}

} // namespace

const Section *ModelFile::find(SectionKind kind, uint32_t index) const {
  auto found = std::find_if(
      sections.begin(), sections.end(), [&](const Section &section) {
        return section.kind == kind && section.index == index;
      });
  return found == sections.end() ? nullptr : &*found;
}

std::span<const std::byte> ModelFile::bytesOf(SectionKind kind,
                                              uint32_t index) const {
  const Section *section = find(kind, index);
  return section ? section->bytes : std::span<const std::byte>();
}

std::string_view ModelFile::textOf(SectionKind kind, uint32_t index) const {
  std::span<const std::byte> bytes = bytesOf(kind, index);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

uint32_t ModelFile::count(SectionKind kind) const {
  return uint32_t(std::count_if(
      sections.begin(), sections.end(),
      [&](const Section &section) { return section.kind == kind; }));
}

Result<ModelFile> sinter::runtime::readModel(std::span<const std::byte> file,
                                             ModelCheck check) {
  SINTER_TRY_ASSIGN(FileHeader header, readHeader(file));
  std::vector<SectionEntry> table(header.numSections);
  std::memcpy(table.data(), file.data() + sizeof(header),
              table.size() * sizeof(SectionEntry));
  if (header.reserved != 0)
    return brokenModel("a reserved field is not zero");
  if (headerDigest(header, table) != header.headerDigest)
    return brokenModel("the digest of header and section table is wrong");
  SINTER_TRY(checkOrder(table));
  if (contentDigest(table) != header.contentDigest)
    return brokenModel("the content digest is wrong");

  ModelFile model;
  model.contentDigest = header.contentDigest;
  uint64_t at = sizeof(header) + table.size() * sizeof(SectionEntry);
  for (const SectionEntry &entry : table) {
    SINTER_TRY_ASSIGN(uint64_t end, checkPlace(file, entry, at));
    auto bytes = file.subspan(entry.offset, entry.bytes);
    if (!isLeftToUsers(entry, check) && sectionDigest(bytes) != entry.digest)
      return brokenModel("the digest of {} section {} is wrong", nameOf(entry),
                         entry.index);
    if (isKnown(entry))
      model.sections.push_back({entry.kind, entry.index, bytes});
    else
      model.others.push_back({entry, bytes});
    at = end;
  }
  SINTER_TRY(checkBlocks(table, SectionKind::constants));
  SINTER_TRY(checkBlocks(table, SectionKind::weights));
  if (at != file.size())
    return brokenModel("{} bytes after the last section", file.size() - at);
  SINTER_TRY(checkCounts(model));
  return model;
}
