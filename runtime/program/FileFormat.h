/// FileFormat: the outer layout of a `.sinter` file.
///
///   header (64 bytes) | section table | sections, aligned, in table order
///
/// Every byte is covered: header and table by `headerDigest`, sections by the
/// digest in their table entry, padding must be zero, and each offset is the
/// only one that the sizes and alignments before it allow. All is checked when
/// a file is loaded, but for constants of more than one block: each of their
/// blocks is checked when a program that reads it is first run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime {

inline constexpr std::array<char, 8> fileMagic = {'S', 'I', 'N', 'T',
                                                  'E', 'R', 0,   1};
/// 2: kernels say how much of each buffer they touch.
inline constexpr uint32_t fileVersion = 2;

/// What a section holds. The order is the order in the file.
enum class SectionKind : uint32_t {
  program = 1,   ///< flatbuffer of program.fbs, one per (target, variant)
  image = 2,     ///< native code of the program with the same index
  constants = 3, ///< raw bytes of all programs' constants, at most one
  graph = 4,     ///< portable graph: `sinter`-dialect text, at most one
  debug = 5,     ///< flatbuffer DebugInfo; outside the content digest
  blocks = 6,    ///< the constants' block digests when there is more than one
};
inline constexpr uint32_t lastSectionKind = 6;

/// xxh3-128 in its canonical (big-endian) byte order.
using Digest = std::array<uint8_t, 16>;

struct FileHeader {
  std::array<char, 8> magic = fileMagic;
  uint32_t version = fileVersion;
  uint32_t numSections = 0;
  uint64_t fileBytes = 0;
  uint64_t reserved = 0;     ///< zero
  Digest contentDigest = {}; ///< of the table entries except debug's
  Digest headerDigest = {};  ///< of the 48 bytes before it and the table
};
static_assert(sizeof(FileHeader) == 64);

struct SectionEntry {
  SectionKind kind = SectionKind::program;
  uint32_t index = 0; ///< among sections of this kind; dense from 0
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t alignment = 0;
  Digest digest = {};
};
static_assert(sizeof(SectionEntry) == 48);

inline constexpr uint32_t maxSections = 256;
/// Sections are digested in blocks of this size, so that a large one can be
/// checked piece by piece; the entry's digest is that of the blocks' digests.
inline constexpr uint64_t digestBlock = uint64_t(4) << 20;
constexpr uint64_t numBlocks(uint64_t bytes) {
  return (bytes + digestBlock - 1) / digestBlock;
}

uint64_t sectionAlignment(SectionKind kind);
Digest digestOf(std::span<const std::byte> bytes);
/// One per block of a section.
std::vector<Digest> blockDigests(std::span<const std::byte> section);
Digest sectionDigest(std::span<const std::byte> section);
Digest contentDigest(std::span<const SectionEntry> table);
Digest headerDigest(const FileHeader &header,
                    std::span<const SectionEntry> table);

} // namespace sinter::runtime
