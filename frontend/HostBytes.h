/// HostBytes: elements of evaluated nodes as C++ numbers.
#pragma once

#include "sinter/runtime/Buffer.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <complex>
#include <span>
#include <vector>

/// The C++ types that elements are read as: every arithmetic one, by the names
/// that make them distinct, and complex numbers.
#define SINTER_HOST_TYPES(apply)                                               \
  apply(bool) apply(char) apply(int8_t) apply(int16_t) apply(int32_t)          \
      apply(long) apply(long long) apply(uint8_t) apply(uint16_t)              \
          apply(uint32_t) apply(unsigned long) apply(unsigned long long)       \
              apply(float) apply(double) apply(std::complex<float>)            \
                  apply(std::complex<double>)

namespace sinter::detail {

/// The bytes of an evaluated node or a scalar leaf.
Result<std::vector<std::byte>> readBytes(const graph::Node &node);

/// Its value in memory of a device.
Result<runtime::BufferRef> copyTo(runtime::Device &device,
                                  const graph::Node &node);

/// Its elements converted to T; `to` has room for all of them.
template <typename T>
Status readValues(const graph::Node &node, std::span<T> to);

} // namespace sinter::detail
