/// Cuts slabs into blocks.
#include "runtime/device/vulkan/VulkanMemory.h"

#include <algorithm>

using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

VulkanMemory::Slab *VulkanMemory::addSlab(uint64_t bytes) {
  // Drivers may align to less.
  VulkanBlock block;
  if (makeBlock(gpu, bytes + alignment, VulkanPlace::device, block) != success)
    return nullptr;
  Slab &slab = slabs[block.address];
  slab.block = block;
  uint64_t first = (block.address + alignment - 1) / alignment * alignment;
  slab.unused[first] = bytes;
  return &slab;
}

// 0 where there is no room.
uint64_t VulkanMemory::take(Slab &slab, uint64_t bytes) {
  for (auto [address, room] : slab.unused) {
    if (room < bytes)
      continue;
    slab.unused.erase(address);
    if (room > bytes)
      slab.unused[address + bytes] = room - bytes;
    slab.taken[address] = bytes;
    return address;
  }
  return 0;
}

void *VulkanMemory::acquire(size_t bytes) {
  std::lock_guard lock(mutex);
  uint64_t address = 0;
  bool isSmall = bytes <= slabBytes / 4;
  if (isSmall)
    for (auto &[base, slab] : slabs)
      if (slab.block.bytes == slabBytes + alignment && address == 0)
        address = take(slab, bytes);
  if (address == 0)
    if (Slab *slab = addSlab(isSmall ? slabBytes : bytes))
      address = take(*slab, bytes);
  return reinterpret_cast<void *>(address);
}

void VulkanMemory::release(void *block) {
  finish();
  std::lock_guard lock(mutex);
  auto address = reinterpret_cast<uintptr_t>(block);
  auto found = std::prev(slabs.upper_bound(address));
  Slab &slab = found->second;
  auto range = slab.unused.insert(slab.taken.extract(address)).position;
  if (slab.taken.empty()) {
    freeBlock(gpu, slab.block);
    slabs.erase(found);
    return;
  }
  auto next = std::next(range);
  if (next != slab.unused.end() &&
      range->first + range->second == next->first) {
    range->second += next->second;
    slab.unused.erase(next);
  }
  if (range == slab.unused.begin())
    return;
  auto before = std::prev(range);
  if (before->first + before->second == range->first) {
    before->second += range->second;
    slab.unused.erase(range);
  }
}

VulkanMemory::Place VulkanMemory::placeOf(const void *pointer) const {
  std::lock_guard lock(mutex);
  auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = slabs.upper_bound(address);
  if (after == slabs.begin())
    return {};
  const VulkanBlock &block = std::prev(after)->second.block;
  if (address - block.address >= block.bytes)
    return {};
  return {block.buffer, address - block.address};
}
