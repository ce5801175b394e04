/// Asks devices about their memory.
#include <sinter/Memory.h>

#include "frontend/Raise.h"
#include "runtime/device/Device.h"

namespace sinter {

Memory memory(DeviceId device) try {
  runtime::MemoryInfo info =
      detail::unwrap(runtime::getDevice(device), {})->memoryInfo();
  return {info.inUse, info.reserved, info.peak, info.total};
} catch (...) {
  detail::raiseExhausted({});
}
Memory memory(std::string_view name) { return memory(device(name)); }

void reset_peak(DeviceId device) try {
  detail::unwrap(runtime::getDevice(device), {})->resetPeakMemory();
} catch (...) {
  detail::raiseExhausted({});
}
void reset_peak(std::string_view name) { reset_peak(device(name)); }

} // namespace sinter
