/// CPU feature sets: the named levels and this machine's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// What the code generator may use of a processor.
struct CpuFeatures {
  std::string list; ///< LLVM's names, sorted, comma separated
  bool has(std::string_view feature) const;
  /// A 64-bit ARM; else an x86-64.
  bool isArm() const { return has("aarch64"); }
};

/// `name` is a level: empty (this machine's exact features), `x86-64-v3`,
/// `x86-64-v4`, `scalar` (the x86-64 baseline) or `aarch64` (ARMv8-A, for
/// objects that another machine links); and features of x86-64 added to it:
/// `x86-64-v4+avx512bf16`. Null for what is none of these.
std::optional<CpuFeatures> cpuFeatures(std::string_view name);

} // namespace sinter::compiler
