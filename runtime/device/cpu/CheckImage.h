/// CheckImage: what a CPU image may hold.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>

namespace sinter::runtime {

/// Whether bytes are a shared object of kernels alone: no code that runs when
/// it is loaded or closed, no relocations, no other libraries, no symbols of
/// others, and tables that lie in it. The dynamic loader checks none of this
/// before it runs constructors. An error of kind `device` says what is wrong.
Status checkCpuImage(std::span<const std::byte> bytes);

} // namespace sinter::runtime
