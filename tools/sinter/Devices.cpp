/// `sinter devices`: what programs can run on here.
#include "runtime/device/Device.h"
#include "runtime/params/Json.h"
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Command.h"

#include <fmt/core.h>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {{"--json", nullptr, "print JSON"}};
const Interface devicesInterface = {
    "devices [--json]",
    "Lists devices, their features and memory budget.",
    "sinter devices\n"
    "sinter devices --json",
    flags,
    0,
    0};

static std::string jsonOf(Device &device) {
  MemoryInfo memory = device.memoryInfo();
  return fmt::format("{{\"name\": {}, \"description\": {}, \"features\": {}, "
                     "\"total\": {}, \"in_use\": {}, \"reserved\": {}, "
                     "\"available\": {}}}",
                     json::quote(toString(device.id())),
                     json::quote(device.description()),
                     json::quote(device.profile()), memory.total, memory.inUse,
                     memory.reserved, memory.available);
}

static std::string jsonOf(DeviceId id, const ErrorInfo &error) {
  return fmt::format("{{\"name\": {}, \"error\": {}}}",
                     json::quote(toString(id)), json::quote(error.message));
}

static void print(Device &device) {
  constexpr double mebi = 1 << 20;
  MemoryInfo memory = device.memoryInfo();
  fmt::print("{:8} {}\n", toString(device.id()), device.description());
  fmt::print("{:8} features: {}\n", "", device.profile());
  fmt::print("{:8} memory: {:.0f} MiB, {:.0f} in use, {:.0f} available\n", "",
             memory.total / mebi, memory.inUse / mebi, memory.available / mebi);
}

int runDevices(int argc, char **argv) {
  Arguments arguments(argc, argv, devicesInterface);
  if (arguments.exit)
    return *arguments.exit;
  bool isJson = arguments.has("--json");
  std::string list;
  for (DeviceId id : availableDevices()) {
    // One that does not open leaves the others as they are.
    Result<Device *> device = getDevice(id);
    if (isJson)
      list += (list.empty() ? "" : ",\n ") +
              (device ? jsonOf(**device) : jsonOf(id, device.error()));
    else if (device)
      print(**device);
    else
      fmt::print("{:8} {}\n", toString(id), device.error().message);
  }
  if (isJson)
    fmt::print("[{}]\n", list);
  return exitOk;
}

} // namespace sinter::cli
