/// Readings of NVIDIA's management library.
#include "frontend/metrics/system/Nvml.h"

#include <dlfcn.h>

namespace sinter::metrics {

//===- The library's interface, as its header declares it
//------------------===//

using NvmlDevice = void *;
struct NvmlUse {
  unsigned gpu, memory; // percent
};
struct NvmlMemory {
  unsigned long long total, free, used; // bytes
};
static constexpr int nvmlTemperatureGpu = 0;

struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*byBus)(const char *, NvmlDevice *) = nullptr;
  int (*use)(NvmlDevice, NvmlUse *) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory *) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned *) = nullptr;
  int (*power)(NvmlDevice, unsigned *) = nullptr; // milliwatts
};

template <typename F>
static bool find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

std::unique_ptr<Nvml> Nvml::open(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return nullptr;
  auto found = std::make_shared<Functions>();
  bool hasAll =
      find(library, "nvmlInit_v2", found->init) &&
      find(library, "nvmlDeviceGetHandleByPciBusId_v2", found->byBus) &&
      find(library, "nvmlDeviceGetUtilizationRates", found->use) &&
      find(library, "nvmlDeviceGetMemoryInfo", found->memory) &&
      find(library, "nvmlDeviceGetTemperature", found->temperature) &&
      find(library, "nvmlDeviceGetPowerUsage", found->power);
  if (!hasAll || found->init() != 0) {
    dlclose(library);
    return nullptr;
  }
  std::unique_ptr<Nvml> opened(new Nvml);
  opened->functions = std::move(found);
  return opened;
}

const Nvml *Nvml::machine() {
  static const Nvml *opened = open("libnvidia-ml.so.1").release();
  return opened;
}

std::optional<double> Nvml::read(GpuReading what,
                                 const std::string &bus) const {
  NvmlDevice device = nullptr;
  if (bus.empty() || functions->byBus(bus.c_str(), &device) != 0)
    return {};
  constexpr double gib = 1024.0 * 1024 * 1024;
  switch (what) {
  case GpuReading::use: {
    NvmlUse use{};
    if (functions->use(device, &use) != 0)
      return {};
    return use.gpu / 100.0;
  }
  case GpuReading::memory: {
    NvmlMemory memory{};
    if (functions->memory(device, &memory) != 0)
      return {};
    return static_cast<double>(memory.used) / gib;
  }
  case GpuReading::temperature: {
    unsigned degrees = 0;
    if (functions->temperature(device, nvmlTemperatureGpu, &degrees) != 0)
      return {};
    return degrees;
  }
  case GpuReading::power: {
    unsigned milliwatts = 0;
    if (functions->power(device, &milliwatts) != 0)
      return {};
    return milliwatts / 1000.0;
  }
  }
  return {};
}

std::string busOfGpu(int64_t index) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {};
  int (*init)(unsigned) = nullptr;
  int (*get)(int *, int) = nullptr;
  int (*bus)(char *, int, int) = nullptr;
  int device = 0;
  char text[32] = {};
  // The driver stays open: others of the process use it.
  if (!find(library, "cuInit", init) || !find(library, "cuDeviceGet", get) ||
      !find(library, "cuDeviceGetPCIBusId", bus) || init(0) != 0 ||
      get(&device, static_cast<int>(index)) != 0 ||
      bus(text, sizeof text, device) != 0)
    return {};
  return text;
}

} // namespace sinter::metrics
