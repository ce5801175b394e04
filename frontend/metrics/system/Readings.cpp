/// Numbers of the machine.
#include "frontend/metrics/system/Nvml.h"

#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <unistd.h>

namespace sinter::metrics {

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//===- Processors and memory ----------------------------------------------===//

/// The first line of /proc/stat: user nice system idle iowait ...
static std::optional<CpuUse::Ticks> ticksNow() {
  std::ifstream file("/proc/stat");
  std::string word;
  if (!(file >> word) || word != "cpu")
    return {};
  CpuUse::Ticks ticks;
  double number = 0;
  int i = 0;
  // The last two of ten, guests, are part of the first two.
  for (; i < 8 && file >> number; ++i) {
    bool isIdle = i == 3 || i == 4;
    ticks.all += number;
    ticks.busy += isIdle ? 0 : number;
  }
  return i < 4 ? std::optional<CpuUse::Ticks>() : ticks;
}

CpuUse::CpuUse(std::string name)
    : described{std::move(name), "%", {}, 1}, begin(ticksNow()) {}

double CpuUse::value() const {
  std::optional<Ticks> now = ticksNow();
  if (!now || !begin || now->all <= begin->all)
    return nan;
  return (now->busy - begin->busy) / (now->all - begin->all);
}

void CpuUse::reset() { begin = ticksNow(); }

static std::optional<double> residentPages() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  if (!(file >> size >> resident))
    return {};
  return resident;
}

HostMemory::HostMemory(std::string name)
    : described{std::move(name), "GiB", {}, 2} {}

bool HostMemory::available() const { return residentPages().has_value(); }

double HostMemory::value() const {
  double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return residentPages().value_or(nan) * page / (1024.0 * 1024 * 1024);
}

//===- GPUs ---------------------------------------------------------------===//

static MetricInfo infoOf(GpuReading what, std::string name) {
  MetricInfo info;
  switch (what) {
  case GpuReading::use:
    info = {"gpu_use", "%", {}, 1};
    break;
  case GpuReading::memory:
    info = {"gpu_memory", "GiB", {}, 2};
    break;
  case GpuReading::temperature:
    info = {"gpu_temperature", "C", {}, 0};
    break;
  case GpuReading::power:
    info = {"gpu_power", "W", {}, 0};
    break;
  }
  if (!name.empty())
    info.name = std::move(name);
  return info;
}

GpuMetric::GpuMetric(GpuReading what, int64_t index, std::string name)
    : what(what), index(index), described(infoOf(what, std::move(name))) {}

static std::optional<double> readGpu(GpuReading what, int64_t index) {
  const Nvml *library = Nvml::machine();
  if (!library)
    return {};
  static std::mutex *mutex = new std::mutex;
  static auto *buses = new std::map<int64_t, std::string>;
  std::lock_guard lock(*mutex);
  auto [found, isNew] = buses->try_emplace(index);
  if (isNew)
    found->second = busOfGpu(index);
  return library->read(what, found->second);
}

void GpuMetric::update() {
  double now = steady_seconds();
  constexpr double pause = 0.5;
  if (last >= 0 && now - last < pause)
    return;
  last = now;
  if (std::optional<double> reading = readGpu(what, index)) {
    sum += *reading;
    ++count;
  }
}

bool GpuMetric::available() const { return readGpu(what, index).has_value(); }

double GpuMetric::value() const {
  return count > 0 ? sum / count : readGpu(what, index).value_or(nan);
}

void GpuMetric::reset() {
  sum = count = 0;
  last = -1;
}

} // namespace sinter::metrics
