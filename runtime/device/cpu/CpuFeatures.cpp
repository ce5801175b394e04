/// Asks cpuid what there is and XCR0 what may be used.
#include "runtime/device/cpu/CpuFeatures.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace sinter::runtime;

#if defined(__x86_64__)
namespace {

struct Registers {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d))
    return {};
  return r;
}

/// What the operating system saves on a task switch (XCR0).
uint64_t savedState() {
  if (!(cpuid(1).c & (1u << 27))) // OSXSAVE
    return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

/// Which registers a feature needs the operating system to save.
enum class Needs { nothing, ymm, zmm, tiles };

struct Feature {
  const char *name; ///< LLVM's
  uint32_t leaf, subleaf;
  uint32_t Registers::*reg;
  unsigned bit;
  Needs needs;
};

constexpr uint32_t extended = 0x80000001;
constexpr Feature features[] = {
    {"sse3", 1, 0, &Registers::c, 0, Needs::nothing},
    {"ssse3", 1, 0, &Registers::c, 9, Needs::nothing},
    {"sse4.1", 1, 0, &Registers::c, 19, Needs::nothing},
    {"sse4.2", 1, 0, &Registers::c, 20, Needs::nothing},
    {"movbe", 1, 0, &Registers::c, 22, Needs::nothing},
    {"popcnt", 1, 0, &Registers::c, 23, Needs::nothing},
    {"lzcnt", extended, 0, &Registers::c, 5, Needs::nothing},
    {"bmi", 7, 0, &Registers::b, 3, Needs::nothing},
    {"bmi2", 7, 0, &Registers::b, 8, Needs::nothing},
    {"avx", 1, 0, &Registers::c, 28, Needs::ymm},
    {"fma", 1, 0, &Registers::c, 12, Needs::ymm},
    {"f16c", 1, 0, &Registers::c, 29, Needs::ymm},
    {"avx2", 7, 0, &Registers::b, 5, Needs::ymm},
    {"avxvnni", 7, 1, &Registers::a, 4, Needs::ymm},
    {"avx512f", 7, 0, &Registers::b, 16, Needs::zmm},
    {"avx512dq", 7, 0, &Registers::b, 17, Needs::zmm},
    {"avx512ifma", 7, 0, &Registers::b, 21, Needs::zmm},
    {"avx512cd", 7, 0, &Registers::b, 28, Needs::zmm},
    {"avx512bw", 7, 0, &Registers::b, 30, Needs::zmm},
    {"avx512vl", 7, 0, &Registers::b, 31, Needs::zmm},
    {"avx512vbmi", 7, 0, &Registers::c, 1, Needs::zmm},
    {"avx512vbmi2", 7, 0, &Registers::c, 6, Needs::zmm},
    {"avx512vnni", 7, 0, &Registers::c, 11, Needs::zmm},
    {"avx512bitalg", 7, 0, &Registers::c, 12, Needs::zmm},
    {"avx512vpopcntdq", 7, 0, &Registers::c, 14, Needs::zmm},
    {"avx512bf16", 7, 1, &Registers::a, 5, Needs::zmm},
    {"avx512fp16", 7, 0, &Registers::d, 23, Needs::zmm},
    {"amx-bf16", 7, 0, &Registers::d, 22, Needs::tiles},
    {"amx-tile", 7, 0, &Registers::d, 24, Needs::tiles},
    {"amx-int8", 7, 0, &Registers::d, 25, Needs::tiles},
};

uint64_t stateMask(Needs needs) {
  switch (needs) {
  case Needs::nothing:
    return 0;
  case Needs::ymm:
    return 0x6;
  case Needs::zmm:
    return 0xe6;
  case Needs::tiles:
    return 0x60000;
  }
  return 0;
}

/// Asks for the tile registers, which Linux saves only for processes that did.
bool requestTiles() {
#if defined(__linux__)
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

std::vector<std::string> detect() {
  std::vector<std::string> found;
  uint64_t saved = savedState();
  uint64_t tiles = stateMask(Needs::tiles);
  if ((saved & tiles) == tiles && !requestTiles())
    saved &= ~tiles;
  for (const Feature &feature : features) {
    uint64_t mask = stateMask(feature.needs);
    bool present =
        cpuid(feature.leaf, feature.subleaf).*feature.reg >> feature.bit & 1;
    if (present && (saved & mask) == mask)
      found.push_back(feature.name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace

std::string sinter::runtime::cpuModelName() {
  char name[49] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    Registers r = cpuid(0x80000002 + i);
    std::memcpy(name + 16 * i, &r, 16);
  }
  std::string_view text = name;
  size_t first = text.find_first_not_of(' ');
  size_t last = text.find_last_not_of(' ');
  if (first == std::string_view::npos)
    return "x86-64 processor";
  return std::string(text.substr(first, last - first + 1));
}
#else
static std::vector<std::string> detect() { return {}; }

std::string sinter::runtime::cpuModelName() { return "processor"; }
#endif

const std::vector<std::string> &sinter::runtime::hostCpuFeatures() {
  // Never destroyed: a thread may compile while the process ends.
  static const auto &found = *new std::vector<std::string>(detect());
  return found;
}

std::string
sinter::runtime::joinFeatures(std::span<const std::string> features) {
  std::string joined;
  for (const std::string &feature : features) {
    if (!joined.empty())
      joined += ',';
    joined += feature;
  }
  return joined;
}

/// Calls `visit` with each part between commas.
template <typename Visit>
static void forEachFeature(std::string_view list, Visit visit) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    visit(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

std::string sinter::runtime::missingFeatures(std::string_view wanted,
                                             std::string_view offered) {
  std::vector<std::string> missing;
  forEachFeature(wanted, [&](std::string_view feature) {
    bool found = feature.empty();
    forEachFeature(offered,
                   [&](std::string_view have) { found |= have == feature; });
    if (!found)
      missing.emplace_back(feature);
  });
  return joinFeatures(missing);
}
