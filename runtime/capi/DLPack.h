/// DLPack: the structs of its ABI, as its specification lays them out
/// (https://dmlc.github.io/dlpack/latest/c_api.html; those without a version).
#pragma once

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): DLPack's names.
struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; ///< in elements; null: dense, row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};
// NOLINTEND(readability-identifier-naming)

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64);

namespace sinter::capi::dlpack {

/// DLDeviceType.
inline constexpr int32_t cpu = 1, cuda = 2, cudaHost = 3, cudaManaged = 13;
/// DLDataTypeCode.
inline constexpr uint8_t signedInteger = 0, unsignedInteger = 1, real = 2,
                         bfloat = 4, complex = 5, boolean = 6,
                         float8E4m3fn = 10, float8E4m3fnuz = 11,
                         float8E5m2 = 12, float8E5m2fnuz = 13,
                         float8E8m0fnu = 14;

} // namespace sinter::capi::dlpack
