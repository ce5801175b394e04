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

/// `name` is a level: empty (this machine's exact features), `x86-64-v3`,
/// `x86-64-v4` or `scalar` (the x86-64 baseline); and features added to it:
/// `x86-64-v4+avx512bf16`. Null for what is none of these.
std::optional<CpuFeatures> cpuFeatures(std::string_view name);

} // namespace sinter::compiler
