/// What Cast means beyond a cast: dtypes of 8 bits and fewer.
#include "frontend/import/onnx/rules/Rules.h"

#include "runtime/support/SmallFloat.h"
#include "sinter/runtime/Complex.h"

#include <cmath>

namespace sinter::onnx {

/// To a power of two, as `round_mode` says. A cast to f8e8m0fnu takes the
/// nearest one, of two the upper.
static Tensor toPower(Call &call, const Tensor &x, bool saturates) {
  constexpr double least = 0x1p-127, largest = 0x1p127;
  Tensor number = saturates ? clamp(x, least, largest) : x;
  std::string mode = call.given("round_mode") ? call.text("round_mode") : "up";
  if (mode != "up" && mode != "down" && mode != "nearest")
    call.invalid("round_mode '" + mode + "'");
  Tensor codes = number.to(DType::f8e8m0fnu);
  if (mode == "nearest")
    return codes;
  Tensor nearest = codes.to(DType::f32);
  if (mode == "up")
    nearest = where(nearest < number, nearest * 2.0, nearest);
  else
    nearest = where(nearest > number, nearest * 0.5, nearest);
  return nearest.to(DType::f8e8m0fnu);
}

/// Integers of a part of a byte. What a float out of their range becomes, ONNX
/// leaves open; its own cases saturate before opset 24 and keep the low bits of
/// what the number is between from then on.
static Tensor toFewBits(Call &call, const Tensor &x, DType dtype) {
  if (call.opset() >= 24)
    return x.to(DType::i32).to(dtype);
  auto [least, largest] = rangeOf(dtype);
  return clamp(x, least, largest).to(DType::i32).to(dtype);
}

Tensor converted(Call &call, const Tensor &x, DType dtype, bool saturates) {
  if (isComputable(dtype) || isComplex(dtype))
    return x.to(dtype);
  if (!isFloat(dtype))
    return isFloat(x.dtype()) ? toFewBits(call, x, dtype) : x.to(dtype);
  if (x.dtype() == dtype)
    return x;
  bool isWide = isFloat(x.dtype()) && isComputable(x.dtype());
  Tensor number = isWide ? x : x.to(DType::f32);
  if (dtype == DType::f8e8m0fnu)
    return toPower(call, number.to(DType::f32), saturates);
  if (saturates) {
    double largest = fromSmallFloat(dtype, smallFloat(dtype)->largest);
    number = clamp(number, -largest, largest);
  }
  return number.to(dtype);
}

} // namespace sinter::onnx
