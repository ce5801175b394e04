/// Machine: what a training runs on, and what it takes of that.
#pragma once

#include <sinter/Stats.h>
#include <sinter/metrics/Training.h>
#include <sinter/runtime/DeviceId.h>
#include <sinter/train/Events.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinter::train {

class Machine {
public:
  /// Of these devices, each taken once, and the thread's default one.
  explicit Machine(const std::vector<DeviceId> &given);

  /// `cpu: AMD EPYC ... (64.0 GiB)`, a line for each.
  std::string devices() const;
  /// Processor, cores, memory and system.
  static std::string hardware();
  std::vector<DeviceUse> uses();

  /// What happens from now to `trained` is of steps of a training.
  void training();
  void trained(int64_t steps);
  /// Tells what was compiled and run since the object was made.
  void tell(RunEnd &end) const;

private:
  struct Reading {
    DeviceId id;
    /// Of a GPU.
    std::optional<metrics::GpuMetric> load, temperature;
  };
  std::vector<Reading> readings;
  Stats begin = stats(), before;
  int64_t steps = 0;
  uint64_t launches = 0, programs = 0;
};

} // namespace sinter::train
