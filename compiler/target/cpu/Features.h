/// CPU feature sets: the named levels and this machine's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// What the code generator may use on an x86-64 cpu.
struct CpuFeatures {
  std::string list; ///< LLVM's names, sorted, comma separated
  bool has(std::string_view feature) const;
};

/// `level` is empty (this machine's exact features), `x86-64-v3`, `x86-64-v4`
/// or `scalar` (the x86-64 baseline).
std::optional<CpuFeatures> cpuFeatures(std::string_view level);

} // namespace sinter::compiler
