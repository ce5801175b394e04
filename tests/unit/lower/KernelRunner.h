/// KernelRunner: kernel text, compiled, linked, loaded and called.
#pragma once

#include "compiler/lower/kernel/EmitKernel.h"
#include "runtime/device/KernelAbi.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace sinter::compiler {

class KernelRunner {
public:
  /// Compiles the one `program.kernel` of `text` for `target`. `error` is
  /// empty on success.
  KernelRunner(const std::string &text, const std::string &target = "cpu",
               bool keepText = false,
               NumericsMode numerics = NumericsMode::standard);
  ~KernelRunner();
  KernelRunner(const KernelRunner &) = delete;

  std::string error;
  KernelCode code;

  /// Runs every phase over `buffers` (inputs, then outputs); each call of a
  /// phase takes at most `chunksPerCall` chunks, last chunks first.
  void run(std::vector<void *> buffers, std::vector<int64_t> dims = {},
           int64_t chunksPerCall = INT64_MAX);

  /// The error word after the last run.
  uint64_t errorWord = UINT64_MAX;

private:
  void load(const std::vector<std::byte> &image);

  int file = -1;
  void *library = nullptr;
};

/// Empty, or the first element of other bits than expected.
template <typename T>
std::string firstDifference(const std::vector<T> &result,
                            const std::vector<T> &expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::memcmp(&result[i], &expected[i], sizeof(T)) != 0)
      return "element " + std::to_string(i) + ": " + std::to_string(result[i]) +
             " instead of " + std::to_string(expected[i]);
  return {};
}

/// `program.kernel @k(inputs) { body }` with the attributes a kernel has.
std::string kernelText(const std::string &kind, int numSymbols,
                       const std::string &arguments, const std::string &body);

} // namespace sinter::compiler
