/// Devices, messages and profiles: what is the process's, not a model's.
#include "runtime/capi/Guard.h"
#include "runtime/capi/Structs.h"
#include "runtime/device/Device.h"
#include "runtime/program/Profile.h"
#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"
#include "sinter/runtime/Log.h"

#include <fmt/format.h>
#include <map>
#include <mutex>
#include <string>

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

namespace {

/// Texts of devices, for as long as the process.
struct DeviceTexts {
  std::string name, description;
};

} // namespace

static const DeviceTexts &textsOf(const Device &device) {
  static auto &mutex = *new ForkMutex;
  static auto *all = new std::map<const Device *, DeviceTexts>;
  DeviceTexts made{toString(device.id()), device.description()};
  std::lock_guard lock(mutex);
  return all->try_emplace(&device, std::move(made)).first->second;
}

extern "C" {

sinter_status sinter_device_count(size_t *count) {
  return guarded([&]() -> Status {
    if (!count)
      return invalid("count is null");
    *count = availableDevices().size();
    return {};
  });
}

sinter_status sinter_device(size_t number, sinter_device_info *info) {
  return guarded([&]() -> Status {
    SINTER_TRY(checkStruct(info, "sinter_device_info"));
    std::vector<DeviceId> ids = availableDevices();
    if (number >= ids.size())
      return invalid(
          fmt::format("there is no device {}, but {}", number, ids.size()));
    SINTER_TRY_ASSIGN(Device * device, getDevice(ids[number]));
    const DeviceTexts &texts = textsOf(*device);
    MemoryInfo memory = device->memoryInfo();
    sinter_device_info filled{};
    filled.name = texts.name.c_str();
    filled.description = texts.description.c_str();
    filled.kind = sinter_device_kind(ids[number].kind);
    filled.index = ids[number].index;
    filled.total_bytes = memory.total;
    filled.available_bytes = memory.available;
    filled.used_bytes = memory.inUse;
    fillStruct(info, filled);
    return {};
  });
}

sinter_status sinter_set_log(sinter_log_callback callback, void *user) {
  return guarded([&]() -> Status {
    if (!callback) {
      setLog({});
      return {};
    }
    setLog([callback, user](LogLevel level, std::string_view message) {
      int32_t number =
          level == LogLevel::warning ? SINTER_LOG_WARNING : SINTER_LOG_INFO;
      callback(user, number, std::string(message).c_str());
    });
    return {};
  });
}

sinter_status sinter_profile_begin(void) {
  return guarded([&]() -> Status {
    resetProfile();
    setProfiling(true);
    return {};
  });
}

sinter_status sinter_profile_end(const char **table) {
  return guarded([&]() -> Status {
    if (!table)
      return invalid("table is null");
    static thread_local std::string *text = nullptr;
    if (!text) {
      text = new std::string;
      static thread_local ThreadOwner<std::string> owner(text);
    }
    setProfiling(false);
    *text = profileTable();
    resetProfile();
    *table = text->c_str();
    return {};
  });
}

} // extern "C"
