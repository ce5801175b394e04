/// Digests and alignments of the file format.
#include "runtime/program/FileFormat.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <xxhash.h>

using namespace sinter::runtime;

static_assert(std::endian::native == std::endian::little,
              "the file format is little-endian");

uint64_t sinter::runtime::sectionAlignment(SectionKind kind) {
  switch (kind) {
  case SectionKind::constants:
    return 256;
  default:
    return 64;
  }
}

Digest sinter::runtime::digestOf(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical,
                           XXH3_128bits(bytes.data(), bytes.size()));
  Digest digest;
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

std::vector<Digest>
sinter::runtime::blockDigests(std::span<const std::byte> section) {
  std::vector<Digest> blocks;
  for (size_t at = 0; at < section.size(); at += digestBlock)
    blocks.push_back(digestOf(section.subspan(
        at, std::min<size_t>(digestBlock, section.size() - at))));
  return blocks;
}

Digest sinter::runtime::sectionDigest(std::span<const std::byte> section) {
  if (section.size() <= digestBlock)
    return digestOf(section);
  std::vector<Digest> blocks = blockDigests(section);
  return digestOf(std::as_bytes(std::span(blocks)));
}

Digest sinter::runtime::contentDigest(std::span<const SectionEntry> table) {
  std::vector<SectionEntry> content;
  for (SectionEntry entry : table) {
    if (entry.kind == SectionKind::debug)
      continue;
    entry.offset = 0; // moves with the size of the table
    content.push_back(entry);
  }
  return digestOf(std::as_bytes(std::span(content)));
}

Digest sinter::runtime::headerDigest(const FileHeader &header,
                                     std::span<const SectionEntry> table) {
  size_t covered = offsetof(FileHeader, headerDigest);
  std::vector<std::byte> bytes(covered + table.size_bytes());
  std::memcpy(bytes.data(), &header, covered);
  if (!table.empty())
    std::memcpy(bytes.data() + covered, table.data(), table.size_bytes());
  return digestOf(bytes);
}
