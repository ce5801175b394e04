/// Digests and alignments of the file format.
#include "runtime/program/FileFormat.h"

#include "runtime/support/RunTogether.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <xxhash.h>

using namespace sinter::runtime;

static_assert(std::endian::native == std::endian::little,
              "the file format is little-endian");

std::string_view sinter::runtime::sectionName(SectionKind kind) {
  static constexpr std::string_view names[] = {
      "program", "image", "constants", "graph",        "debug",
      "blocks",  "model", "weights",   "weightblocks", "signature"};
  return names[uint32_t(kind) - 1];
}

bool sinter::runtime::isOptionalSection(SectionKind kind) {
  return kind == SectionKind::graph || kind == SectionKind::debug ||
         kind == SectionKind::signature;
}

bool sinter::runtime::isSingleSection(SectionKind kind) {
  switch (kind) {
  case SectionKind::program:
  case SectionKind::image:
  case SectionKind::graph:
  case SectionKind::debug:
    return false;
  default:
    return uint32_t(kind) <= lastSectionKind;
  }
}

bool sinter::runtime::isLargeSection(SectionKind kind) {
  return kind == SectionKind::constants || kind == SectionKind::weights;
}

SectionKind sinter::runtime::blocksOf(SectionKind large) {
  return large == SectionKind::constants ? SectionKind::blocks
                                         : SectionKind::weightBlocks;
}

uint64_t sinter::runtime::sectionAlignment(SectionKind kind) {
  return isLargeSection(kind) ? 256 : 64;
}

std::string_view sinter::runtime::nameOf(const SectionEntry &entry) {
  auto end = std::ranges::find(entry.name, '\0');
  return {entry.name.data(), size_t(end - entry.name.begin())};
}

SectionEntry sinter::runtime::makeEntry(SectionKind kind, uint32_t index) {
  SectionEntry entry;
  entry.kind = kind;
  entry.index = index;
  entry.alignment = sectionAlignment(kind);
  std::ranges::copy(sectionName(kind), entry.name.begin());
  entry.optional = isOptionalSection(kind);
  return entry;
}

void sinter::runtime::digestBlocks(std::span<const std::byte> section,
                                   uint64_t first, std::span<Digest> digests) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < digests.size(); i = next++) {
      uint64_t start = (first + i) * digestBlock;
      digests[i] = digestOf(section.subspan(
          start, std::min<uint64_t>(digestBlock, section.size() - start)));
    }
  };
  // A thread is worth its start from some blocks on; memory is no faster for
  // more than a few.
  size_t threads = std::min<size_t>(
      {digests.size() / 2, std::thread::hardware_concurrency(), 8});
  runTogether(std::max<size_t>(threads, 1), [&] { work(); });
}

std::vector<Digest>
sinter::runtime::blockDigests(std::span<const std::byte> section) {
  std::vector<Digest> blocks(numBlocks(section.size()));
  digestBlocks(section, 0, blocks);
  return blocks;
}

std::vector<Digest> sinter::runtime::blockDigests(ByteParts section) {
  struct Free {
    void operator()(XXH3_state_t *state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  if (!state)
    throw std::bad_alloc();
  std::vector<Digest> blocks;
  uint64_t open = 0; // bytes of the block that is not full yet
  auto close = [&] {
    XXH128_hash_t hash = XXH3_128bits_digest(state.get());
    blocks.push_back(toDigest(hash.high64, hash.low64));
    open = 0;
  };
  for (std::span<const std::byte> part : section)
    while (!part.empty()) {
      if (open == 0)
        XXH3_128bits_reset(state.get());
      size_t taken = std::min<size_t>(part.size(), digestBlock - open);
      XXH3_128bits_update(state.get(), part.data(), taken);
      part = part.subspan(taken);
      open += taken;
      if (open == digestBlock)
        close();
    }
  if (open > 0)
    close();
  return blocks;
}

Digest sinter::runtime::sectionDigest(std::span<const std::byte> section) {
  if (section.size() <= digestBlock)
    return digestOf(section);
  return digestOfBlocks(blockDigests(section));
}

Digest sinter::runtime::digestOfBlocks(std::span<const Digest> blocks) {
  if (blocks.empty())
    return digestOf({});
  return blocks.size() == 1 ? blocks[0] : digestOf(std::as_bytes(blocks));
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
