/// Checks and places constants before the first run.
#include "runtime/program/ConstantPool.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::runtime;

void ConstantPool::open(const ModelFile &file, const ProgramData &program,
                        Device &device) {
  this->device = &device;
  section = CheckedSection(file, SectionKind::constants);
  constants = program.constants;
  for (const PlanBuffer &buffer : program.buffers)
    if (buffer.kind == BufferKind::constant)
      used.push_back(buffer.index);
  // Constants at one place are one.
  auto placeOf = [&](uint32_t index) {
    return std::pair(constants[index].offset, constants[index].bytes);
  };
  std::ranges::sort(used, {}, placeOf);
  addresses.resize(constants.size());
  copies.resize(constants.size());
  ready = used.empty();
}

Status ConstantPool::place(uint32_t index, std::span<const std::byte> bytes) {
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
    SINTER_TRY_ASSIGN(std::span<const std::byte> bytes,
                      section.part(constant.offset, constant.bytes));
    if (!addresses[index])
      SINTER_TRY(place(index, bytes));
  }
  ready.store(true, std::memory_order_release);
  return {};
}
