/// Prints and parses device names.
#include "sinter/runtime/DeviceId.h"

#include <charconv>
#include <fmt/format.h>

using namespace sinter;

std::string sinter::toString(DeviceId id) {
  switch (id.kind) {
  case DeviceKind::cpu:
    return "cpu";
  case DeviceKind::cuda:
    return fmt::format("cuda:{}", id.index);
  case DeviceKind::vulkan:
    return fmt::format("vulkan:{}", id.index);
  case DeviceKind::null:
    return "null";
  }
  return "unknown";
}

Result<DeviceId> sinter::parseDevice(std::string_view text) {
  auto malformed = [&] {
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("device `{}` is not cpu, cuda:N, vulkan:N or "
                                 "null",
                                 text));
  };
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  uint8_t index = 0;
  if (colon != std::string_view::npos) {
    std::string_view digits = text.substr(colon + 1);
    const char *end = digits.data() + digits.size();
    auto [rest, failure] = std::from_chars(digits.data(), end, index);
    if (failure != std::errc() || rest != end)
      return malformed();
  }
  if (kind == "cuda")
    return DeviceId{DeviceKind::cuda, index};
  if (kind == "vulkan")
    return DeviceId{DeviceKind::vulkan, index};
  if (kind == "cpu" && index == 0)
    return DeviceId{DeviceKind::cpu, 0};
  if (kind == "null" && index == 0)
    return DeviceId{DeviceKind::null, 0};
  return malformed();
}
