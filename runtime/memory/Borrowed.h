/// Borrowed: buffers over memory that a device's allocator does not own.
#pragma once

#include "sinter/runtime/Buffer.h"

#include <functional>

namespace sinter::runtime {

/// A buffer over `bytes` at `data`, which kernels of `device` can read; the
/// memory stays as it is until the last reference is gone. Then `released`, if
/// given, is called once, on any thread; it must not throw. Throws
/// std::bad_alloc.
BufferRef borrowBuffer(Device &device, void *data, size_t bytes,
                       std::function<void()> released = {});

} // namespace sinter::runtime
