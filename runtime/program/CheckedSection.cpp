/// Checks blocks of large sections.
#include "runtime/program/CheckedSection.h"

#include "runtime/program/ModelError.h"
#include "runtime/program/Stats.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;

CheckedSection::CheckedSection(const ModelFile &file, SectionKind kind)
    : kind(kind) {
  if (const Section *own = file.find(kind))
    section = own->bytes;
  if (const Section *blocks = file.find(blocksOf(kind)))
    digests = blocks->bytes;
  checked.resize(digests.size() / sizeof(Digest));
}

Result<std::span<const std::byte>> CheckedSection::part(uint64_t offset,
                                                        uint64_t bytes) {
  auto found = section.subspan(offset, bytes);
  if (digests.empty() || bytes == 0)
    return found;
  uint64_t end = (offset + bytes - 1) / digestBlock + 1;
  for (uint64_t block = offset / digestBlock; block < end; ++block)
    if (!checked[block])
      SINTER_TRY(check(block, end));
  return found;
}

Status CheckedSection::check(uint64_t first, uint64_t end) {
  std::array<Digest, 32> found;
  size_t count = 1;
  while (count < found.size() && first + count < end && !checked[first + count])
    ++count;
  digestBlocks(section, first, std::span(found).first(count));
  for (size_t i = 0; i < count; ++i) {
    countCheckedBlock();
    uint64_t block = first + i;
    if (std::memcmp(found[i].data(), digests.data() + block * sizeof(Digest),
                    sizeof(Digest)) != 0)
      return brokenModel(
          "the digest of {} section 0 is wrong in block "
          "{} (bytes {} to {})",
          sectionName(kind), block, block * digestBlock,
          std::min<uint64_t>((block + 1) * digestBlock, section.size()));
    checked[block] = true;
  }
  return {};
}
