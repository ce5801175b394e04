/// ReadTensor: a stored tensor in memory, in the order and dtype that is asked
/// for.
#pragma once

#include "runtime/params/weights/WeightFile.h"

#include <sinter/Creation.h>

#include <cstddef>
#include <source_location>
#include <span>
#include <vector>

namespace sinter::detail {

/// Dense elements: bytes of a file, or own ones.
struct DenseElements {
  std::span<const std::byte> bytes;
  std::vector<std::byte> own;
};

/// What a stored tensor becomes.
struct TensorForm {
  /// The stored one; or both are floats, or both integers.
  DType dtype = DType::f32;
  /// Which axis of the stored tensor each axis is; empty: the same.
  std::vector<int64_t> axes = {};
};

/// The elements as they are stored, quantized ones as floats. They are compared
/// with their checksum, where there is one.
Result<DenseElements> denseElements(const runtime::WeightFile &file,
                                    const runtime::WeightTensor &stored);
/// The same in another form; an error where an integer has no room in it.
Result<DenseElements> denseElements(const runtime::WeightFile &file,
                                    const runtime::WeightTensor &stored,
                                    const TensorForm &form);

/// The dims in the order of `axes`.
std::vector<int64_t> orderedDims(std::span<const int64_t> dims,
                                 std::span<const int64_t> axes);

/// Where a tensor is to be.
struct TensorPlace {
  DeviceId device;
  /// It may stay in the file, which stays open as long as it lives; then no
  /// checksum is compared.
  bool mmap = false;
};

/// A leaf that stands for the stored tensor.
Tensor readTensor(const runtime::WeightFileRef &file,
                  const runtime::WeightTensor &stored, const TensorForm &form,
                  const TensorPlace &place, std::source_location where);

} // namespace sinter::detail
