/// CpuFeatures: what this processor offers, by LLVM's feature names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// The features that Sinter knows of and this machine has (processor and
/// operating system), sorted: `avx`, `avx2`, `avx512f`, `fma`, ... This list is
/// what `--target cpu` means; the compiler turns on exactly these.
const std::vector<std::string> &hostCpuFeatures();

/// Joins with commas: the form that stands in files and keys.
std::string joinFeatures(std::span<const std::string> features);

/// Features in `wanted` (comma separated) that `offered` lacks, joined; empty
/// when all are there.
std::string missingFeatures(std::string_view wanted, std::string_view offered);

/// The processor's name as it calls itself.
std::string cpuModelName();

} // namespace sinter::runtime
