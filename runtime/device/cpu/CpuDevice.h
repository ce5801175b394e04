/// CpuDevice: the processor this process runs on.
#pragma once

#include "runtime/device/HostDevice.h"

namespace sinter::runtime {

/// Runs native code from ELF images; launches end before they return.
class CpuDevice final : public HostDevice {
public:
  CpuDevice() : HostDevice({DeviceKind::cpu, 0}) {}
  std::string description() const override;
  std::string profile() const override;
  Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) override;
  Status launch(const LaunchArgs &args) override;
};

} // namespace sinter::runtime
