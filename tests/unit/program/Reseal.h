/// Reseal: makes the digests of an altered model file fit, as somebody who
/// knows the format would.
#pragma once

#include "runtime/program/FileFormat.h"

#include <cstddef>
#include <cstring>
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

} // namespace sinter::runtime::test
