/// Reseal: makes the digests of an altered model file fit, as somebody who
/// knows the format would.
#pragma once

#include "runtime/program/FileFormat.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace sinter::runtime::test {

inline FileHeader headerOf(const std::vector<std::byte> &file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

inline std::vector<SectionEntry> tableOf(const std::vector<std::byte> &file) {
  std::vector<SectionEntry> table(headerOf(file).numSections);
  std::memcpy(table.data(), file.data() + sizeof(FileHeader),
              table.size() * sizeof(SectionEntry));
  return table;
}

/// Of a file whose sections have the sizes that its table says.
inline void reseal(std::vector<std::byte> &file) {
  FileHeader header = headerOf(file);
  std::vector<SectionEntry> table = tableOf(file);
  for (SectionEntry &entry : table)
    entry.digest =
        sectionDigest(std::span(file).subspan(entry.offset, entry.bytes));
  header.contentDigest = contentDigest(table);
  header.headerDigest = headerDigest(header, table);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, table.data(),
              table.size() * sizeof(SectionEntry));
}

/// A section and its entry, before the file is put together.
struct Part {
  SectionEntry entry;
  std::vector<std::byte> bytes;
};

/// As ModelWriter does, but with the entries as they are.
inline std::vector<std::byte> assemble(std::vector<Part> &all) {
  std::vector<SectionEntry> table;
  uint64_t at = sizeof(FileHeader) + all.size() * sizeof(SectionEntry);
  for (Part &part : all) {
    uint64_t alignment = sectionAlignment(part.entry.kind);
    part.entry.offset = (at + alignment - 1) / alignment * alignment;
    part.entry.bytes = part.bytes.size();
    part.entry.digest = sectionDigest(part.bytes);
    at = part.entry.offset + part.entry.bytes;
    table.push_back(part.entry);
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
  for (const Part &part : all)
    std::ranges::copy(part.bytes, file.begin() + long(part.entry.offset));
  return file;
}

/// The sections of a file.
inline std::vector<Part> partsOf(const std::vector<std::byte> &file) {
  std::vector<Part> all;
  for (const SectionEntry &entry : tableOf(file)) {
    auto bytes = std::span(file).subspan(entry.offset, entry.bytes);
    all.push_back({entry, {bytes.begin(), bytes.end()}});
  }
  return all;
}

} // namespace sinter::runtime::test
