/// `sinter devices`: what programs can run on here.
#include "runtime/device/Device.h"
#include "runtime/params/Json.h"
#include "runtime/program/CompilerHook.h"
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Command.h"

#include <fmt/core.h>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {
    {"--json", nullptr, "print JSON"},
    {"--model", nullptr,
     "the target for each device, and the numbers of the machine by which\n"
     "kernels for it are chosen"}};
const Interface devicesInterface = {
    "devices [--json|--model]",
    "Lists devices, their features and memory budget.",
    "sinter devices\n"
    "sinter devices --json\n"
    "sinter devices --model",
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

static Status printMachine(Device &device) {
  SINTER_TRY_ASSIGN(const CompilerHook *hook, compilerHook());
  SINTER_TRY_ASSIGN(std::string text, hook->machineText(device.target()));
  fmt::print("{:8} target {}\n", toString(device.id()), device.target());
  for (size_t from = 0, end; from < text.size(); from = end + 1) {
    end = text.find('\n', from);
    fmt::print("{:8} {}\n", "", text.substr(from, end - from));
  }
  return {};
}

int runDevices(int argc, char **argv) {
  Arguments arguments(argc, argv, devicesInterface);
  if (arguments.exit)
    return *arguments.exit;
  bool isJson = arguments.has("--json"), isModel = arguments.has("--model");
  if (isJson && isModel)
    return report(makeError(ErrorKind::invalid_argument,
                            "devices: --json and --model exclude each other"));
  std::string list;
  for (DeviceId id : availableDevices()) {
    // One that does not open leaves the others as they are.
    Result<Device *> device = getDevice(id);
    if (isJson)
      list += (list.empty() ? "" : ",\n ") +
              (device ? jsonOf(**device) : jsonOf(id, device.error()));
    else if (device && isModel) {
      if (Status printed = printMachine(**device); !printed)
        return report(printed.error());
    } else if (device)
      print(**device);
    else
      fmt::print("{:8} {}\n", toString(id), device.error().message);
  }
  if (isJson)
    fmt::print("[{}]\n", list);
  return exitOk;
}

} // namespace sinter::cli
