/// Gives a Buffer back with its last reference.
#include "runtime/memory/Buffer.h"

#include "runtime/device/Device.h"

using namespace sinter::runtime;

void Buffer::release() {
  if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
    owner->free(this);
}
