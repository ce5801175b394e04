/// DeviceScope: another default device for a while.
#pragma once

#include <sinter/Creation.h>

namespace sinter::detail {

/// While it lives, tensors of this thread are made on `device`.
class DeviceScope {
public:
  explicit DeviceScope(DeviceId device) : previous(default_device()) {
    set_default_device(device);
  }
  DeviceScope(const DeviceScope &) = delete;
  ~DeviceScope() { set_default_device(previous); }

private:
  DeviceId previous;
};

} // namespace sinter::detail
