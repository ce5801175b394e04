/// Nvml: readings of NVIDIA's management library, opened at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <sinter/metrics/Training.h>

namespace sinter::metrics {

/// The library and what is used of it. Thread-safe. It stays open.
class Nvml {
public:
  /// Empty where the library, one of its functions or a driver is missing.
  static std::unique_ptr<Nvml> open(const std::string &library);
  /// The machine's; opened by the first who asks. Null where there is none.
  static const Nvml *machine();

  /// The reading of the GPU at this address on the bus (`0000:1b:00.0`);
  /// empty where the driver has none.
  std::optional<double> read(GpuReading what, const std::string &bus) const;

private:
  Nvml() = default;
  struct Functions;
  std::shared_ptr<const Functions> functions;
};

/// The address on the bus of `cuda:<index>`, as the CUDA driver numbers them;
/// empty where there is none.
std::string busOfGpu(int64_t index);

} // namespace sinter::metrics
