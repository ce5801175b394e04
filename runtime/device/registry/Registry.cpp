/// Opens devices by id.
#include "runtime/device/Device.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/null/NullDevice.h"
#include "runtime/device/vulkan/VulkanDevice.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

// Devices are never destroyed: buffers may be released while the process ends.

Result<Device *> sinter::runtime::getDevice(DeviceId id) {
  if (id.kind == DeviceKind::cpu && id.index == 0) {
    static Device *cpu = new CpuDevice();
    return cpu;
  }
  if (id.kind == DeviceKind::null && id.index == 0) {
    static Device *null = new NullDevice();
    return null;
  }
  if (id.kind == DeviceKind::cuda) {
    SINTER_TRY_ASSIGN(Device * cuda, CudaDevice::open(id.index));
    SINTER_TRY(cuda->checkProcess());
    return cuda;
  }
  if (id.kind == DeviceKind::vulkan) {
    SINTER_TRY_ASSIGN(Device * vulkan, VulkanDevice::open(id.index));
    SINTER_TRY(vulkan->checkProcess());
    return vulkan;
  }
  return makeError(ErrorKind::device,
                   fmt::format("device {} is not available: there is one {}",
                               toString(id), toString(DeviceId{id.kind, 0})));
}

std::vector<DeviceId> sinter::runtime::availableDevices() {
  std::vector<DeviceId> devices = {{DeviceKind::cpu, 0}, {DeviceKind::null, 0}};
  for (uint8_t index = 0; index < CudaDevice::count(); ++index)
    devices.push_back({DeviceKind::cuda, index});
  for (uint8_t index = 0; index < VulkanDevice::count(); ++index)
    devices.push_back({DeviceKind::vulkan, index});
  return devices;
}
