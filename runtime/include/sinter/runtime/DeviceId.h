/// DeviceId: which device a tensor lives on.
#pragma once

#include <sinter/runtime/Result.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter {

enum class DeviceKind : uint8_t { cpu = 0, cuda = 1, vulkan = 2, null = 3 };

/// A device by kind and ordinal; printed `cpu`, `cuda:0`, `vulkan:1`, `null`.
struct DeviceId {
  DeviceKind kind = DeviceKind::cpu;
  uint8_t index = 0;
  bool operator==(const DeviceId &) const = default;
};

std::string toString(DeviceId id);
/// Parses `cpu`, `null`, `cuda:N`, `vulkan:N` (`cuda` is `cuda:0`).
Result<DeviceId> parseDevice(std::string_view text);

} // namespace sinter
