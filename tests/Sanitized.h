/// Whether AddressSanitizer runs, which may look into the library and not into
/// the test that asks.
#pragma once

extern "C" [[gnu::weak]] void
__asan_init(); // NOLINT(bugprone-reserved-identifier)

namespace sinter {

inline bool hasAddressSanitizer() { return __asan_init != nullptr; }

} // namespace sinter
