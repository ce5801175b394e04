/// FileFormat: the outer layout of a `.sinter` file.
///
///   header (64 bytes) | section table | sections, aligned, in table order
///
/// Every byte is covered: header and table by `headerDigest`, sections by the
/// digest in their table entry, padding must be zero, and each offset is the
/// only one that the sizes and alignments before it allow. All is checked when
/// a file is loaded, but for constants and weights of more than one block: each
/// of their blocks is checked when it is first used. docs/format.md describes
/// every field.
#pragma once

#include "runtime/digest/Digest.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sinter::runtime {

inline constexpr std::array<char, 8> fileMagic = {'S', 'I', 'N', 'T',
                                                  'E', 'R', 0,   1};
/// 2: kernels say how much of each buffer they touch. 3: sections have names
/// and may be optional; a model section has entry points, weights and state.
inline constexpr uint32_t fileVersion = 4;

/// What a section holds. The order is the order in the file.
enum class SectionKind : uint32_t {
  program = 1,      ///< flatbuffer of program.fbs, one per (target, variant)
  image = 2,        ///< native code of the program with the same index
  constants = 3,    ///< raw bytes of all programs' constants, at most one
  graph = 4,        ///< `sinter`-dialect text of the entry with that index
  debug = 5,        ///< DebugInfo of an entry; outside the content digest
  blocks = 6,       ///< the constants' block digests when there are several
  model = 7,        ///< flatbuffer Model of model.fbs, at most one
  weights = 8,      ///< raw bytes of the model's tensors, at most one
  weightBlocks = 9, ///< the weights' block digests when there are several
  signature = 10,   ///< who vouches for the others (runtime/trust), at most one
};
inline constexpr uint32_t lastSectionKind = 10;

/// The name that stands in a file for a section that this build knows.
std::string_view sectionName(SectionKind kind);
/// Whether a reader that does not know the section may do without it.
bool isOptionalSection(SectionKind kind);
/// Whether a file has at most one of them.
bool isSingleSection(SectionKind kind);
/// Those whose blocks are checked when they are used: constants and weights.
/// The second is the section with their digests.
bool isLargeSection(SectionKind kind);
SectionKind blocksOf(SectionKind large);

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
  std::array<char, 15> name = {}; ///< lower case, zero behind it
  uint8_t optional = 0;           ///< 1: who does not know it may skip it
};
static_assert(sizeof(SectionEntry) == 64);

inline constexpr uint32_t maxSections = 256;
/// Sections are digested in blocks of this size, so that a large one can be
/// checked piece by piece; the entry's digest is that of the blocks' digests.
inline constexpr uint64_t digestBlock = uint64_t(4) << 20;
constexpr uint64_t numBlocks(uint64_t bytes) {
  return (bytes + digestBlock - 1) / digestBlock;
}

uint64_t sectionAlignment(SectionKind kind);
/// The name of an entry as text.
std::string_view nameOf(const SectionEntry &entry);
/// An entry of a known kind, without place, size and digest.
SectionEntry makeEntry(SectionKind kind, uint32_t index);
/// Bytes that stand one part after the other.
using ByteParts = std::span<const std::span<const std::byte>>;
/// The digests of the blocks `first` to `first + digests.size() - 1` of a
/// section: many of them on several threads.
void digestBlocks(std::span<const std::byte> section, uint64_t first,
                  std::span<Digest> digests);
/// One per block of a section.
std::vector<Digest> blockDigests(ByteParts section);
std::vector<Digest> blockDigests(std::span<const std::byte> section);
Digest sectionDigest(std::span<const std::byte> section);
/// The digest of a section whose blocks have these.
Digest digestOfBlocks(std::span<const Digest> blocks);
Digest contentDigest(std::span<const SectionEntry> table);
Digest headerDigest(const FileHeader &header,
                    std::span<const SectionEntry> table);

} // namespace sinter::runtime
