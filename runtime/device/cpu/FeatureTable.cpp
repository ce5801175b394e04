/// Asks cpuid what there is and XCR0 what may be used.
#include "runtime/device/cpu/FeatureTable.h"

#include <cstdint>

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
  std::string_view name; ///< LLVM's
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

/// What may be used of the registers that need to be saved.
uint64_t usableState() {
  uint64_t saved = savedState(), tiles = stateMask(Needs::tiles);
  if ((saved & tiles) == tiles && !requestTiles())
    saved &= ~tiles;
  return saved;
}

bool isThere(const Feature &feature, uint64_t saved) {
  uint64_t mask = stateMask(feature.needs);
  return (cpuid(feature.leaf, feature.subleaf).*feature.reg >> feature.bit &
          1) &&
         (saved & mask) == mask;
}

} // namespace

bool sinter::runtime::cpuHas(std::string_view name) {
  for (const Feature &feature : features)
    if (feature.name == name)
      return isThere(feature, feature.needs == Needs::tiles ? usableState()
                                                            : savedState());
  return false;
}

void sinter::runtime::eachCpuFeature(void (*visit)(void *, std::string_view),
                                     void *context) {
  uint64_t saved = usableState();
  for (const Feature &feature : features)
    if (isThere(feature, saved))
      visit(context, feature.name);
}
#else
// Every processor of it has both.
static constexpr std::string_view features[] = {
#if defined(__aarch64__)
    "aarch64",
    "neon",
#else
    "",
#endif
};

bool sinter::runtime::cpuHas(std::string_view name) {
  for (std::string_view feature : features)
    if (feature == name)
      return true;
  return false;
}

void sinter::runtime::eachCpuFeature(void (*visit)(void *, std::string_view),
                                     void *context) {
  for (std::string_view feature : features)
    if (!feature.empty())
      visit(context, feature);
}
#endif
