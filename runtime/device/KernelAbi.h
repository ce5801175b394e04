/// The kernel ABI of the cpu target: what generated code and executor share.
#pragma once

#include <cstdint>

namespace sinter::runtime {

inline constexpr uint32_t kernelAbiVersion = 1;

/// Receives the first error of a run. `value` orders errors: the lowest
/// (launch, linear index) wins; UINT64_MAX means none. Kernels update it with
/// an atomic minimum. Layout of the value: launch << 40 | element index.
struct ErrorWord {
  uint64_t value;
};

/// The argument block of one launch. Kernels receive it read-only.
struct KernelBlock {
  uint32_t version; ///< kernelAbiVersion
  uint32_t launch;  ///< step number, for the error word
  ErrorWord *error;
  const int64_t *dims;  ///< values of the kernel's symbols
  void *const *buffers; ///< inputs, outputs, workspaces in the kernel's order
};
static_assert(sizeof(KernelBlock) == 32);

/// A phase: handles chunks [first, last). Re-entrant; different chunk ranges
/// may run at once and write disjoint memory. `reserved` is null.
using KernelFunction = void (*)(const KernelBlock *block, char *reserved,
                                int64_t first, int64_t last);

} // namespace sinter::runtime
