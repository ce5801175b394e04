/// Gives a Buffer back with its last reference.
#include "sinter/runtime/Buffer.h"

#include "runtime/device/Device.h"

using namespace sinter::runtime;

/// Buffers made so far.
static std::atomic<uint64_t> numbers{0};

Buffer::Buffer(Device &device, void *data, size_t bytes, End end)
    : owner(&device), address(data), size(bytes),
      number(numbers.fetch_add(1, std::memory_order_relaxed) + 1), end(end) {}

void Buffer::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (end)
    end(this);
  else
    owner->free(this);
}
