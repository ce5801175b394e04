/// WordReporter: a kernel that writes a word of a GPU into the host's memory.
#pragma once

#include "runtime/device/cuda/Driver.h"

#include <mutex>

namespace sinter::runtime {

/// A graph's copy to the host costs 7 microseconds (H200, driver 580), and what
/// comes after the graph waits for it; a kernel costs less than one.
class WordReporter {
public:
  explicit WordReporter(const cuda::Driver &driver) : driver(driver) {}
  WordReporter(const WordReporter &) = delete;

  /// Its one parameter is `Words`. Loaded for the calling thread's context at
  /// the first call. Thread-safe.
  Result<cuda::Function> kernel();

  /// One word at `from` is written to `to`, which is pinned memory.
  struct Words {
    cuda::Address from = 0;
    cuda::Address to = 0;
  };
  static constexpr const char *kernelName = "sinter_report_word";

private:
  const cuda::Driver &driver;
  std::mutex mutex;
  cuda::Module module = nullptr; ///< kept for good
  cuda::Function function = nullptr;
};

} // namespace sinter::runtime
