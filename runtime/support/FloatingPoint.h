/// DefaultFloats: arithmetic as programs define it, whatever the host has set.
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace sinter {

/// While it lives, this thread rounds to nearest, keeps subnormal numbers and
/// traps nothing. Then all is as the host had it, flags included.
class DefaultFloats {
public:
  DefaultFloats(const DefaultFloats &) = delete;
#if defined(__SSE2__)
  DefaultFloats() : host(_mm_getcsr()) {
    if (host != standard)
      _mm_setcsr(standard);
  }
  ~DefaultFloats() { _mm_setcsr(host); }

private:
  /// Every exception masked, no flag set.
  static constexpr unsigned standard = 0x1f80;
  const unsigned host;
#elif defined(__aarch64__)
  DefaultFloats() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    if (control)
      __asm__ volatile("msr fpcr, %0" ::"r"(uint64_t(0)));
  }
  ~DefaultFloats() {
    if (control)
      __asm__ volatile("msr fpcr, %0" ::"r"(control));
    __asm__ volatile("msr fpsr, %0" ::"r"(flags));
  }

private:
  uint64_t control, flags;
#else
  DefaultFloats() {
    std::fegetenv(&host);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&host); }

private:
  std::fenv_t host;
#endif
};

/// The same with the x87 unit, where `long double` is computed: slower.
class DefaultLongFloats {
public:
  DefaultLongFloats() {
    std::fegetenv(&host);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultLongFloats() { std::fesetenv(&host); }
  DefaultLongFloats(const DefaultLongFloats &) = delete;

private:
  std::fenv_t host;
};

} // namespace sinter
