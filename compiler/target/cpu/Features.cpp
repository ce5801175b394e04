/// CPU feature sets: the named levels and this machine's.
#include "compiler/target/cpu/Features.h"

#include "runtime/device/cpu/CpuFeatures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace sinter::compiler {

// Sorted. What is not here is never used: requirements name only features
// that the runtime's device profile reports too.
static constexpr const char *reported[] = {
    "amx-bf16",   "amx-int8",        "amx-tile",   "avx",         "avx2",
    "avx512bf16", "avx512bitalg",    "avx512bw",   "avx512cd",    "avx512dq",
    "avx512f",    "avx512ifma",      "avx512vbmi", "avx512vbmi2", "avx512vl",
    "avx512vnni", "avx512vpopcntdq", "bmi",        "bmi2",        "f16c",
    "fma",        "lzcnt",           "movbe",      "popcnt",      "sse3",
    "sse4.1",     "sse4.2",          "ssse3",
};

static constexpr std::string_view levelV3 =
    "avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,popcnt,sse3,sse4.1,sse4.2,ssse3";
static constexpr std::string_view levelV4 =
    "avx,avx2,avx512bw,avx512cd,avx512dq,avx512f,avx512vl,bmi,bmi2,f16c,fma,"
    "lzcnt,movbe,popcnt,sse3,sse4.1,sse4.2,ssse3";

bool CpuFeatures::has(std::string_view feature) const {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(list).split(names, ',');
  return llvm::is_contained(names, llvm::StringRef(feature));
}

static CpuFeatures hostFeatures() {
  const std::vector<std::string> &host = runtime::hostCpuFeatures();
  CpuFeatures features;
  for (const char *name : reported) {
    if (!llvm::is_contained(host, name))
      continue;
    if (!features.list.empty())
      features.list += ',';
    features.list += name;
  }
  return features;
}

static std::optional<CpuFeatures> featuresOfLevel(std::string_view level) {
  if (level.empty())
    return hostFeatures();
  if (level == "x86-64-v3")
    return CpuFeatures{std::string(levelV3)};
  if (level == "x86-64-v4")
    return CpuFeatures{std::string(levelV4)};
  if (level == "scalar")
    return CpuFeatures{};
  if (level == "aarch64")
    return CpuFeatures{"aarch64,neon"};
  return std::nullopt;
}

std::optional<CpuFeatures> cpuFeatures(std::string_view name) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(name).split(parts, '+');
  auto features = featuresOfLevel(parts.front());
  if (!features || parts.size() == 1)
    return features;
  if (features->isArm())
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> all;
  llvm::StringRef(features->list).split(all, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef added : llvm::ArrayRef(parts).drop_front()) {
    if (!llvm::is_contained(reported, added))
      return std::nullopt;
    all.push_back(added);
  }
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  return CpuFeatures{llvm::join(all, ",")};
}

} // namespace sinter::compiler
