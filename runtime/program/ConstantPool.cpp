/// Checks and places constants before the first run.
#include "runtime/program/ConstantPool.h"

#include "runtime/program/ModelError.h"
#include "runtime/program/Stats.h"

#include <algorithm>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;

void ConstantPool::open(const ModelFile &file, const ProgramData &program,
                        Device &device) {
  this->device = &device;
  if (const Section *pool = file.find(SectionKind::constants))
    section = pool->bytes;
  if (const Section *blocks = file.find(SectionKind::blocks))
    digests = blocks->bytes;
  constants = program.constants;
  for (const PlanBuffer &buffer : program.buffers)
    if (buffer.kind == BufferKind::constant)
      used.push_back(buffer.index);
  // Constants at one place are one.
  auto placeOf = [&](uint32_t index) {
    return std::pair(constants[index].offset, constants[index].bytes);
  };
  std::ranges::sort(used, {}, placeOf);
  checked.resize(digests.size() / sizeof(Digest));
  addresses.resize(constants.size());
  copies.resize(constants.size());
  ready = used.empty();
}

Status ConstantPool::checkBlocks(const ConstantData &constant) {
  if (digests.empty() || constant.bytes == 0)
    return {};
  uint64_t last = (constant.offset + constant.bytes - 1) / digestBlock;
  for (uint64_t block = constant.offset / digestBlock; block <= last; ++block) {
    if (checked[block])
      continue;
    uint64_t start = block * digestBlock;
    uint64_t end = std::min<uint64_t>(start + digestBlock, section.size());
    Digest found = digestOf(section.subspan(start, end - start));
    countCheckedBlock();
    if (std::memcmp(found.data(), digests.data() + block * sizeof(Digest),
                    sizeof(Digest)) != 0)
      return brokenModel("the digest of constants section 0 is wrong in block "
                         "{} (bytes {} to {})",
                         block, start, end);
    checked[block] = true;
  }
  return {};
}

Status ConstantPool::place(uint32_t index) {
  auto bytes = section.subspan(constants[index].offset, constants[index].bytes);
  if (device->sharesHostMemory()) {
    addresses[index] = const_cast<std::byte *>(bytes.data());
    return {};
  }
  SINTER_TRY_ASSIGN(BufferRef copy, device->allocate(bytes.size()));
  SINTER_TRY(device->copyIn(*copy, 0, bytes));
  addresses[index] = copy->data();
  copies[index] = std::move(copy);
  return {};
}

Status ConstantPool::prepare() {
  if (ready.load(std::memory_order_acquire))
    return {};
  std::lock_guard lock(mutex);
  const ConstantData *before = nullptr;
  for (uint32_t index : used) {
    const ConstantData &constant = constants[index];
    if (before && before->offset == constant.offset &&
        before->bytes == constant.bytes) {
      addresses[index] = addresses[size_t(before - constants.data())];
      continue;
    }
    before = &constant;
    SINTER_TRY(checkBlocks(constant));
    if (!addresses[index])
      SINTER_TRY(place(index));
  }
  ready.store(true, std::memory_order_release);
  return {};
}
