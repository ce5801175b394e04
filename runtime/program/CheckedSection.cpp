/// Checks blocks of large sections.
#include "runtime/program/CheckedSection.h"

#include "runtime/program/ModelError.h"
#include "runtime/program/Stats.h"

#include <algorithm>
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
  uint64_t last = (offset + bytes - 1) / digestBlock;
  for (uint64_t block = offset / digestBlock; block <= last; ++block) {
    if (checked[block])
      continue;
    uint64_t start = block * digestBlock;
    uint64_t end = std::min<uint64_t>(start + digestBlock, section.size());
    Digest digest = digestOf(section.subspan(start, end - start));
    countCheckedBlock();
    if (std::memcmp(digest.data(), digests.data() + block * sizeof(Digest),
                    sizeof(Digest)) != 0)
      return brokenModel("the digest of {} section 0 is wrong in block "
                         "{} (bytes {} to {})",
                         sectionName(kind), block, start, end);
    checked[block] = true;
  }
  return found;
}
