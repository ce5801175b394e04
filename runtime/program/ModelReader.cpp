/// Checks header, section table, padding and digests.
#include "runtime/program/ModelReader.h"

#include "runtime/program/ModelError.h"
#include "runtime/support/FileKind.h"
#include <algorithm>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;

namespace {

const char *kindName(SectionKind kind) {
  static constexpr const char *names[] = {"program", "image", "constants",
                                          "graph",   "debug", "blocks"};
  return names[uint32_t(kind) - 1];
}

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
    return brokenModel("version {}, this build reads version {}",
                       header.version, fileVersion);
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

/// Kinds ascend and indices are dense, so every content has one file.
Status checkOrder(std::span<const SectionEntry> table) {
  for (size_t i = 0; i < table.size(); ++i) {
    const SectionEntry &entry = table[i];
    uint32_t kind = uint32_t(entry.kind);
    if (kind == 0 || kind > lastSectionKind)
      return brokenModel("section {} has unknown kind {}", i, kind);
    bool continues = i > 0 && table[i - 1].kind == entry.kind;
    if (i > 0 && table[i - 1].kind > entry.kind)
      return brokenModel("section {} is out of order", i);
    uint32_t expected = continues ? table[i - 1].index + 1 : 0;
    if (entry.index != expected)
      return brokenModel("section {} has index {}, expected {}", i, entry.index,
                         expected);
    bool single = entry.kind >= SectionKind::constants;
    if (single && entry.index != 0)
      return brokenModel("more than one {} section", kindName(entry.kind));
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
  const char *name = kindName(entry.kind);
  if (entry.alignment != sectionAlignment(entry.kind))
    return brokenModel("{} section {} has alignment {}", name, entry.index,
                       entry.alignment);
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
  return check == ModelCheck::untilUse &&
         entry.kind == SectionKind::constants && entry.bytes > digestBlock;
}

/// Large constants have their blocks' digests, which the digest in the table
/// covers; others have none.
Status checkBlocks(std::span<const SectionEntry> table) {
  auto entryOf = [&](SectionKind kind) {
    auto found = std::ranges::find(table, kind, &SectionEntry::kind);
    return found == table.end() ? nullptr : &*found;
  };
  const SectionEntry *constants = entryOf(SectionKind::constants);
  const SectionEntry *blocks = entryOf(SectionKind::blocks);
  bool large = constants && constants->bytes > digestBlock;
  if (large != (blocks != nullptr))
    return brokenModel("{} blocks section", large ? "there is no" : "an idle");
  if (large && (blocks->bytes != numBlocks(constants->bytes) * sizeof(Digest) ||
                blocks->digest != constants->digest))
    return brokenModel("the blocks section is not that of the constants");
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
      return brokenModel("the digest of {} section {} is wrong",
                         kindName(entry.kind), entry.index);
    model.sections.push_back({entry.kind, entry.index, bytes});
    at = end;
  }
  SINTER_TRY(checkBlocks(table));
  if (at != file.size())
    return brokenModel("{} bytes after the last section", file.size() - at);
  if (model.count(SectionKind::program) == 0 ||
      model.count(SectionKind::program) != model.count(SectionKind::image))
    return brokenModel("{} program and {} image sections",
                       model.count(SectionKind::program),
                       model.count(SectionKind::image));
  return model;
}
