/// Chooses by processor.
#include "runtime/digest/WideHash.h"

using namespace sinter::runtime;

static XXH128_hash_t hashPlain(const void *data, size_t bytes) {
  return XXH3_128bits(data, bytes);
}

static HashFunction chooseHash() {
#if defined(__x86_64__)
  __builtin_cpu_init(); // this may run before the library's constructors
  if (__builtin_cpu_supports("avx512f"))
    return hashAvx512;
  if (__builtin_cpu_supports("avx2"))
    return hashAvx2;
#endif
  return hashPlain;
}

HashFunction sinter::runtime::wideHash() {
  static const HashFunction chosen = chooseHash();
  return chosen;
}
