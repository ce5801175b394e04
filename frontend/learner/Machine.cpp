/// What a training runs on, and what it takes of that.
#include "frontend/learner/Machine.h"

#include "runtime/device/Device.h"

#include <sinter/Creation.h>
#include <sinter/Memory.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace sinter::train {

static constexpr double gibi = 1024.0 * 1024 * 1024;

Machine::Machine(const std::vector<DeviceId> &given) {
  std::vector<DeviceId> all = given;
  all.push_back(default_device());
  for (DeviceId id : all) {
    if (std::ranges::any_of(readings,
                            [&](const Reading &one) { return one.id == id; }))
      continue;
    Reading &made = readings.emplace_back();
    made.id = id;
    if (id.kind != DeviceKind::cuda)
      continue;
    int64_t index = id.index;
    made.load.emplace(metrics::GpuReading::use, index);
    made.temperature.emplace(metrics::GpuReading::temperature, index);
  }
}

std::string Machine::devices() const {
  std::string text;
  for (const Reading &one : readings) {
    // One that does not open is an error of who computes there.
    Result<runtime::Device *> device = runtime::getDevice(one.id);
    if (device)
      text += fmt::format("{}{}: {} ({:.1f} GiB)", text.empty() ? "" : "\n",
                          toString(one.id), (*device)->description(),
                          double((*device)->memoryInfo().total) / gibi);
  }
  return text;
}

/// As the system calls it; empty where it does not.
static std::string processorName() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("model name")) {
      size_t at = line.find(':');
      at = at == std::string::npos ? at : line.find_first_not_of(" \t", at + 1);
      return at == std::string::npos ? "" : line.substr(at);
    }
  return {};
}

std::string Machine::hardware() {
  std::string processor = processorName();
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  double bytes =
      double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  std::string text =
      fmt::format("{}, {} processors, {:.1f} GiB",
                  processor.empty() ? "processor not known" : processor, cores,
                  bytes / gibi);
  struct utsname system = {};
  if (uname(&system) == 0)
    text += fmt::format("\n{} {} {}", system.sysname, system.release,
                        system.machine);
  return text;
}

/// What it says now; nothing where it says nothing.
static std::optional<double> readingOf(std::optional<metrics::GpuMetric> &one) {
  if (!one)
    return {};
  one->update();
  return one->available() ? std::optional(one->value()) : std::nullopt;
}

std::vector<DeviceUse> Machine::uses() {
  std::vector<DeviceUse> all;
  for (Reading &one : readings) {
    Memory memory = sinter::memory(one.id);
    DeviceUse use{.device = toString(one.id),
                  .in_use = memory.in_use,
                  .peak = memory.peak,
                  .total = memory.total};
    use.load = readingOf(one.load).value_or(use.load);
    use.temperature = readingOf(one.temperature).value_or(use.temperature);
    all.push_back(std::move(use));
  }
  return all;
}

//===- Programs -----------------------------------------------------------===//

// What was counted is less than before after `reset_stats`.
static uint64_t since(uint64_t now, uint64_t before) {
  return now >= before ? now - before : now;
}

void Machine::training() { before = stats(); }

void Machine::trained(int64_t count) {
  Stats now = stats();
  steps += count;
  launches += since(now.launches, before.launches);
  programs += since(now.programs_run, before.programs_run);
}

void Machine::tell(RunEnd &end) const {
  Stats now = stats();
  end.programs = since(now.compiles, begin.compiles);
  end.cached = since(now.memory_hits, begin.memory_hits) +
               since(now.disk_hits, begin.disk_hits);
  double compiled = now.compile_milliseconds - begin.compile_milliseconds;
  end.compile_seconds = std::max(compiled, 0.0) / 1000;
  end.fusion = fmt::format(
      "{} programs compiled, {} read from disk, {} found in memory\n"
      "{} kernels compiled, {} found in the caches\n"
      "{} runs of programs, {} launches",
      end.programs, since(now.disk_hits, begin.disk_hits),
      since(now.memory_hits, begin.memory_hits),
      since(now.kernels_compiled, begin.kernels_compiled),
      since(now.kernel_memory_hits, begin.kernel_memory_hits) +
          since(now.kernel_disk_hits, begin.kernel_disk_hits),
      since(now.programs_run, begin.programs_run),
      since(now.launches, begin.launches));
  if (steps > 0)
    end.fusion += fmt::format(
        "\na training step: {:.2f} programs, {:.2f} launches of kernels",
        double(programs) / double(steps), double(launches) / double(steps));
}

} // namespace sinter::train
