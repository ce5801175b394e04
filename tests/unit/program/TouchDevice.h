/// TouchDevice: runs the kernels of Kernels.c as far as memory goes, and knows
/// whether what they touch is theirs.
#pragma once

#include "runtime/device/HostDevice.h"

#include <map>
#include <mutex>

namespace sinter::runtime::test {

/// A device of kind cpu, in C++ that sanitizers look into. A launch reads and
/// writes every byte that its kernel may touch; an access outside of memory
/// that was allocated here ends the process.
class TouchDevice final : public HostDevice {
public:
  TouchDevice() : HostDevice({DeviceKind::cpu, 0}) {}
  std::string description() const override { return "touches memory"; }
  std::string profile() const override { return ""; }
  bool sharesHostMemory() const override { return false; }
  Result<BufferRef> allocate(size_t bytes) override;
  void free(Buffer *buffer) override;
  Status move(void *to, const void *from, size_t bytes) override;
  Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) override;
  Status launch(const LaunchArgs &args) override;

private:
  void check(const void *address, size_t bytes);

  std::mutex mutex;
  std::map<uintptr_t, size_t> live; ///< bytes by address
};

} // namespace sinter::runtime::test
