/// A management library with one GPU, as TrainingTest expects it.
#include <cstring>

extern "C" {

struct Use {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
  static int gpu;
  *device = &gpu;
  return std::strcmp(bus, "0000:1B:00.0") == 0 ? 0 : 6; // not found
}

int nvmlDeviceGetUtilizationRates(void *, Use *use) {
  *use = {75, 10};
  return 0;
}

int nvmlDeviceGetMemoryInfo(void *, Memory *memory) {
  constexpr unsigned long long mib = 1 << 20;
  *memory = {8192 * mib, 4608 * mib, 3584 * mib};
  return 0;
}

int nvmlDeviceGetTemperature(void *, int sensor, unsigned *degrees) {
  *degrees = 61;
  return sensor;
}

int nvmlDeviceGetPowerUsage(void *, unsigned *milliwatts) {
  *milliwatts = 123456;
  return 0;
}

} // extern "C"
