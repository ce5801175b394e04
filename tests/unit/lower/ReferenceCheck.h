/// Compares a kernel with the plain loops of runtime/reference.
#pragma once

#include <cstdint>
#include <string>

namespace sinter::compiler {

/// How inputs are drawn and results compared.
struct CheckOptions {
  std::string target = "cpu";
  double low = -2, high = 2;        ///< of floats
  int64_t lowest = -3, highest = 3; ///< of integers
  double tolerance = 2e-6;          ///< relative, and absolute below 1
  unsigned seed = 1;
  int64_t chunksPerCall = INT64_MAX;
};

/// Emits and runs the kernel on random inputs; empty when it agrees with the
/// reference, else what differs. Static shapes only.
std::string checkKernel(const std::string &text,
                        const CheckOptions &options = {});

} // namespace sinter::compiler
