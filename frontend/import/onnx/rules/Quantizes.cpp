/// Quantization.
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <algorithm>

namespace sinter::onnx {

static bool isMicrosoft(Call &call) {
  return call.node().domain == "com.microsoft";
}

/// A scale or a zero point in a shape that broadcasts to x: of one number, of
/// one for each index of an axis, or of one for each block of an axis.
static Tensor spread(Call &call, size_t input, const Tensor &x) {
  Tensor scale = call.tensor(input);
  if (scale.numel() == 1 && scale.rank() <= 1)
    return reshape(scale, {});
  bool hasAxis = call.opset() >= 13 || isMicrosoft(call);
  int64_t axis = hasAxis ? call.axis("axis", x.rank()) : 1;
  if (scale.rank() == 1)
    return alongAxis(scale, axis, x.rank());
  int64_t block = call.opset() >= 21 ? call.integer("block_size") : 0;
  if (scale.rank() != x.rank() || block < 1)
    call.invalid("the scale does not fit the tensor");
  Tensor wide = repeat_interleave(scale, block, axis);
  return sliceAxis(wide, axis, 0, fixed(x.dim(axis)));
}

bool isZero(const Call &call, size_t input) {
  if (!call.has(input))
    return true;
  KnownRef known = call.value(input).known();
  return known && !known->isReal() &&
         std::ranges::all_of(known->integers, [](Dim number) {
           return number.isConstant() && number.value == 0;
         });
}

Tensor lessZero(Call &call, const Tensor &x, size_t zero, int64_t behind) {
  Tensor wide = x.to(DType::i32);
  if (isZero(call, zero))
    return wide;
  Tensor point = call.tensor(zero).to(DType::i32);
  if (behind > 0 && point.rank() == 1 && point.dim(0).value != 1)
    point = alongAxis(point, 0, behind + 1);
  return wide - point;
}

static void quantizeRule(Call &call) {
  Tensor x = call.tensor(0), scale = spread(call, 1, x);
  DType dtype = DType::u8;
  if (call.has(2))
    dtype = call.value(2).dtype();
  else if (call.opset() >= 21 && call.integer("output_dtype") != 0)
    dtype = call.dtypeAttribute("output_dtype");
  bool isWide = call.opset() >= 23 && call.integer("precision") == 11;
  DType wide = isWide || x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  Tensor y = x.to(wide) / scale.to(wide);
  if (!isFloat(dtype))
    y = round(y);
  if (call.has(2))
    y = y + spread(call, 2, x).to(wide);
  if (isFloat(dtype))
    return call.give(
        converted(call, y, dtype, call.opset() < 19 || call.flag("saturate")));
  auto [least, largest] = rangeOf(dtype);
  call.give(clamp(y, least, largest).to(dtype));
}

static void dequantizeRule(Call &call) {
  Tensor x = call.tensor(0), scale = spread(call, 1, x);
  DType dtype = scale.dtype();
  if (call.opset() >= 23 && call.integer("output_dtype") != 0)
    dtype = call.dtypeAttribute("output_dtype");
  DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  DType exact = isFloat(x.dtype()) ? wide : DType::i32;
  Tensor y = x.to(exact);
  if (!isZero(call, 2))
    y = y - spread(call, 2, x).to(exact);
  call.give((y.to(wide) * scale.to(wide)).to(dtype));
}

Quantized dynamicallyQuantized(const Tensor &x) {
  Tensor least = minimum(amin(x), 0.0), largest = maximum(amax(x), 0.0);
  Tensor range = largest - least;
  // Of zeros alone the scale is 1, as ONNX Runtime has it.
  Tensor scale = where(range == 0.0, ones_like(range), range / 255.0);
  Tensor zero = clamp(round(0.0 - least / scale), 0.0, 255.0);
  Tensor codes = clamp(round(x / scale) + zero, 0.0, 255.0);
  return {codes.to(DType::u8), scale, zero.to(DType::u8)};
}

static void dynamicQuantizeRule(Call &call) {
  Quantized quantized = dynamicallyQuantized(call.tensor(0));
  call.give(quantized.codes);
  call.give(1, quantized.scale);
  call.give(2, quantized.zero);
}

static constexpr Operator rows[] = {
    {"QuantizeLinear", 10, 12, "", quantizeRule},
    {"QuantizeLinear", 13, 20, "axis:int=1 saturate:int=1", quantizeRule},
    {"QuantizeLinear", 21, 0,
     "axis:int=1 block_size:int=0 output_dtype:int=0 precision:int=0 "
     "saturate:int=1",
     quantizeRule},
    {"DequantizeLinear", 10, 12, "", dequantizeRule},
    {"DequantizeLinear", 13, 20, "axis:int=1", dequantizeRule},
    {"DequantizeLinear", 21, 0,
     "axis:int=1 block_size:int=0 output_dtype:int=0", dequantizeRule},
    {"DynamicQuantizeLinear", 11, 0, "", dynamicQuantizeRule},
    {"QuantizeLinear", 1, 0, "axis:int=1", quantizeRule, "com.microsoft"},
    {"DequantizeLinear", 1, 0, "axis:int=1", dequantizeRule, "com.microsoft"},
};

std::span<const Operator> quantizeRows() { return rows; }

} // namespace sinter::onnx
