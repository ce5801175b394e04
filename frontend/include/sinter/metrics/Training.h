/// Training: numbers of a training that are no tensors. Those that count time
/// or work begin at their construction and again at `reset`.
#pragma once

#include <sinter/metrics/MetricSet.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sinter::metrics {

/// The learning rate that the last step had; NaN before the first.
class LearningRate {
public:
  /// Asks for the rate in each step: `LearningRate([&] { return adam.lr(); })`.
  explicit LearningRate(std::function<double()> rate,
                        std::string name = "learning_rate");
  void update();
  double value() const { return last; }
  void reset();
  MetricInfo info() const { return described; }

private:
  std::function<double()> rate;
  MetricInfo described;
  double last = 0;
};

/// Seconds since any moment that stays the same.
using Clock = std::function<double()>;
/// That of the system, which nothing sets back.
double steady_seconds();

/// Steps by second.
class IterationRate {
public:
  explicit IterationRate(std::string name = "iterations", Clock clock = {});
  void update() { ++count; }
  double value() const;
  void reset();
  MetricInfo info() const { return described; }

private:
  MetricInfo described;
  Clock clock;
  double begin = 0;
  int64_t count = 0;
};

/// Items of a batch: tokens, images. The number is known on the host.
struct CountInput {
  int64_t items = 0;
};
/// Tokens (or whatever is counted) by second:
///
///     metrics.add(TokenRate(), [](const auto &output) {
///       return CountInput{output.targets.numel()}; });
class TokenRate {
public:
  explicit TokenRate(std::string name = "tokens", Clock clock = {});
  void update(const CountInput &input) { count += input.items; }
  double value() const;
  void reset();
  MetricInfo info() const { return described; }

private:
  MetricInfo described;
  Clock clock;
  double begin = 0;
  int64_t count = 0;
};

/// Kernels that were launched, of `sinter::stats()`: of the whole process.
class KernelCount {
public:
  explicit KernelCount(std::string name = "kernels");
  void update() {}
  double value() const;
  void reset();
  MetricInfo info() const { return described; }

private:
  MetricInfo described;
  uint64_t before = 0;
};

/// Programs that were compiled.
class CompileCount {
public:
  explicit CompileCount(std::string name = "compiles");
  void update() {}
  double value() const;
  void reset();
  MetricInfo info() const { return described; }

private:
  MetricInfo described;
  uint64_t before = 0;
};

//===- The machine --------------------------------------------------------===//

/// How much of all processors is in use, by anyone; 0..1, since `reset`. Of
/// /proc/stat.
class CpuUse {
public:
  explicit CpuUse(std::string name = "cpu");
  void update() {}
  bool available() const { return begin.has_value(); }
  double value() const;
  void reset();
  MetricInfo info() const { return described; }

  /// Clock ticks of all processors.
  struct Ticks {
    double busy = 0, all = 0;
  };

private:
  MetricInfo described;
  std::optional<Ticks> begin;
};

/// Memory of this process that is in the machine's, in GiB, now. Of
/// /proc/self/statm.
class HostMemory {
public:
  explicit HostMemory(std::string name = "host_memory");
  void update() {}
  bool available() const;
  double value() const;
  void reset() {}
  MetricInfo info() const { return described; }

private:
  MetricInfo described;
};

enum class GpuReading : uint8_t {
  use,         ///< of the time a kernel ran, 0..1
  memory,      ///< taken by anyone, GiB
  temperature, ///< degrees Celsius
  power,       ///< watts
};

/// A number of an NVIDIA GPU, now: of the driver's libnvidia-ml.so.1, which is
/// opened at run time. Without it, or such a reading, not available. The mean
/// of what steps read, at most twice a second; each reading asks the driver,
/// not the device.
class GpuMetric {
public:
  /// The GPU `index` is that of `cuda:<index>`.
  explicit GpuMetric(GpuReading what, int64_t index = 0, std::string name = {});
  void update();
  bool available() const;
  double value() const;
  void reset();
  MetricInfo info() const { return described; }

private:
  GpuReading what;
  int64_t index;
  MetricInfo described;
  double sum = 0, count = 0, last = -1;
};

/// `gpu_use`, `gpu_memory`, `gpu_temperature` and `gpu_power`.
struct GpuUse : GpuMetric {
  explicit GpuUse(int64_t index = 0) : GpuMetric(GpuReading::use, index) {}
};
struct GpuMemory : GpuMetric {
  explicit GpuMemory(int64_t index = 0)
      : GpuMetric(GpuReading::memory, index) {}
};
struct GpuTemperature : GpuMetric {
  explicit GpuTemperature(int64_t index = 0)
      : GpuMetric(GpuReading::temperature, index) {}
};
struct GpuPower : GpuMetric {
  explicit GpuPower(int64_t index = 0) : GpuMetric(GpuReading::power, index) {}
};

} // namespace sinter::metrics
