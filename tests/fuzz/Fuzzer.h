/// One fuzzer: a function of bytes that must neither crash nor hang, and ends
/// the process where an answer is wrong. libFuzzer calls it, or the test that
/// replays the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#ifdef SINTER_REPLAY
/// Begins the definition of fuzzer `name`.
#define SINTER_FUZZER(name)                                                    \
  void fuzz##name(const uint8_t *data, size_t size);                           \
  void fuzz##name(const uint8_t *data, size_t size)
#else
#define SINTER_FUZZER(name)                                                    \
  static void fuzz##name(const uint8_t *data, size_t size);                    \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {    \
    fuzz##name(data, size);                                                    \
    return 0;                                                                  \
  }                                                                            \
  static void fuzz##name(const uint8_t *data, size_t size)
#endif

namespace sinter::fuzz {

inline std::span<const std::byte> bytesOf(const uint8_t *data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// What must hold.
inline void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

} // namespace sinter::fuzz
