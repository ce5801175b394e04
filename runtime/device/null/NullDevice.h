/// NullDevice: a device with memory and no code. The template to copy for a
/// new backend: every function of Device in its smallest correct form.
#pragma once

#include "runtime/device/HostDevice.h"

namespace sinter::runtime {

/// Holds tensors like any device; `runtime/reference` computes for it, so it
/// loads no image and launches nothing.
class NullDevice final : public HostDevice {
public:
  NullDevice() : HostDevice({DeviceKind::null, 0}) {}
  std::string description() const override;
  std::string profile() const override;
  bool sharesHostMemory() const override { return false; }
  Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) override;
  Status launch(const LaunchArgs &args) override;
};

} // namespace sinter::runtime
