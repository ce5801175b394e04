/// Complex dtypes: what they are pairs of.
#pragma once

#include "sinter/runtime/DType.h"

namespace sinter {

inline bool isComplex(DType type) {
  return type == DType::c64 || type == DType::c128;
}
/// The dtype of the real and the imaginary part; other dtypes are their own.
inline DType partOf(DType type) {
  if (type == DType::c64)
    return DType::f32;
  return type == DType::c128 ? DType::f64 : type;
}
/// The complex dtype that holds numbers of `part`: c128 for f64, else c64.
inline DType complexOf(DType part) {
  return part == DType::f64 ? DType::c128 : DType::c64;
}
/// Whether gradients flow through tensors of the dtype.
inline bool hasGradients(DType type) {
  return isFloat(type) || isComplex(type);
}

} // namespace sinter
