/// A library of somebody's that uses this one, for programs that do not.
#include <sinter/Basic.h>

/// The sum of 0, ..., n - 1, computed on the default device; -1 for an error.
extern "C" __attribute__((visibility("default"))) double
sinter_test_sum(long n) {
  try {
    return sinter::sum(sinter::iota({n}, 0) + 0).item<double>();
  } catch (const sinter::Error &) {
    return -1;
  }
}
