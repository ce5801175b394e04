/// Operators of com.microsoft on quantized tensors.
#include "frontend/import/onnx/rules/Windows.h"

#include <sinter/generated/functions/Activations.h>

namespace sinter::onnx {

static constexpr const char *domain = "com.microsoft";

/// A tensor less its zero point, as f32.
static Tensor movedToZero(Call &call, size_t at, size_t zero) {
  Tensor x = call.tensor(at).to(DType::f32);
  return call.has(zero) ? x - call.tensor(zero).to(DType::f32) : x;
}

/// The same times its scale.
static Tensor dequantized(Call &call, size_t at, size_t scale, size_t zero) {
  return movedToZero(call, at, zero) * call.tensor(scale).to(DType::f32);
}

/// Of the dtype of input `like` where there is no zero point.
static Tensor quantized(Call &call, const Tensor &x, size_t scale, size_t zero,
                        size_t like = 0) {
  Tensor y = x / call.tensor(scale).to(DType::f32);
  if (call.has(zero))
    return requantized(y, call.tensor(zero));
  return saturated(y, call.value(like).dtype());
}

static void addRule(Call &call) {
  Tensor y = dequantized(call, 0, 1, 2) + dequantized(call, 3, 4, 5);
  call.give(quantized(call, y, 6, 7));
}
/// The scales are one factor of whole products.
static void mulRule(Call &call) {
  Tensor products = movedToZero(call, 0, 2) * movedToZero(call, 3, 5);
  Tensor factor = call.tensor(1) * call.tensor(4) / call.tensor(6);
  Tensor y = products * factor.to(DType::f32);
  call.give(call.has(7) ? requantized(y, call.tensor(7))
                        : saturated(y, call.value(0).dtype()));
}
static void sigmoidRule(Call &call) {
  call.give(quantized(call, sigmoid(dequantized(call, 0, 1, 2)), 3, 4));
}
static void leakyReluRule(Call &call) {
  Tensor y = leaky_relu(dequantized(call, 0, 1, 2), call.real("alpha"));
  call.give(quantized(call, y, 3, 4));
}
static void softmaxRule(Call &call) {
  Tensor x = dequantized(call, 0, 1, 2);
  int64_t axis = call.axis("axis", x.rank());
  Tensor y = call.integer("opset") < 13
                 ? reshape(softmax(asMatrix(call, x, axis), 1), x.shape())
                 : softmax(x, axis);
  call.give(quantized(call, y, 3, 4));
}

static void globalAveragePoolRule(Call &call) {
  Tensor x = dequantized(call, 0, 1, 2);
  if (x.rank() < 3)
    call.invalid("the tensor has rank " + std::to_string(x.rank()));
  bool isLast = call.flag("channels_last");
  std::vector<int64_t> axes;
  for (int64_t i = isLast ? 1 : 2; i < x.rank() - (isLast ? 1 : 0); ++i)
    axes.push_back(i);
  call.give(quantized(call, mean(x, Axes(axes), true), 3, 4));
}

static void averagePoolRule(Call &call) {
  Tensor x = dequantized(call, 0, 1, 2);
  bool isLast = call.flag("channels_last");
  Tensor y = averagePooled(call, isLast ? movedim(x, -1, 1) : x);
  call.give(quantized(call, isLast ? movedim(y, 1, -1) : y, 3, 4));
}

static void whereRule(Call &call) {
  Tensor y = where(call.tensor(0), dequantized(call, 1, 2, 3),
                   dequantized(call, 4, 5, 6));
  call.give(quantized(call, y, 7, 8, 1));
}

/// The scale and the zero point of the result come first.
static void concatRule(Call &call) {
  std::vector<Tensor> parts;
  for (size_t i = 2; i < call.numInputs(); i += 3)
    parts.push_back(dequantized(call, i, i + 1, i + 2));
  if (parts.empty())
    call.invalid("there is nothing to join");
  Tensor y = concat(std::span<const Tensor>(parts),
                    call.axis("axis", parts[0].rank()));
  call.give(quantized(call, y, 0, 1, 2));
}

//===- Products -----------------------------------------------------------===//

/// The bias is of whole numbers, which have the scale of the products. Without
/// a scale the result is not quantized.
static void gemmRule(Call &call) {
  Tensor a = call.tensor(0), b = call.tensor(3);
  if (call.flag("transA"))
    a = swapaxes(a, 0, 1);
  if (call.flag("transB"))
    b = swapaxes(b, 0, 1);
  Tensor sum = matmul(lessZero(call, a, 2), lessZero(call, b, 5));
  if (call.has(6))
    sum = sum + call.tensor(6);
  Tensor scale = call.tensor(1) * call.tensor(4) * call.real("alpha");
  if (!call.has(7))
    return call.give(sum.to(DType::f32) * scale.to(DType::f32));
  scale = scale.to(DType::f32) / call.tensor(7).to(DType::f32);
  Tensor y = sum.to(DType::f32) * scale;
  call.give(call.has(8) ? requantized(y, call.tensor(8))
                        : saturated(y, call.value(0).dtype()));
}

static void matmulIntegerToFloatRule(Call &call) {
  Tensor sum = matmul(lessZero(call, call.tensor(0), 4),
                      lessZero(call, call.tensor(1), 5));
  Tensor y = sum.to(DType::f32) * (call.tensor(2) * call.tensor(3));
  call.give(call.has(6) ? y + call.tensor(6) : y);
}

/// The left operand is brought to u8 by its own range first.
static void dynamicQuantizeMatmulRule(Call &call) {
  Quantized left = dynamicallyQuantized(call.tensor(0));
  Tensor codes = left.codes.to(DType::i32) - left.zero.to(DType::i32);
  Tensor y = matmul(codes, lessZero(call, call.tensor(1), 3)).to(DType::f32) *
             (left.scale * call.tensor(2));
  call.give(call.has(4) ? y + call.tensor(4) : y);
}

static constexpr Operator rows[] = {
    {"QLinearAdd", 1, 0, "", addRule, domain},
    {"QLinearMul", 1, 0, "", mulRule, domain},
    {"QLinearSigmoid", 1, 0, "", sigmoidRule, domain},
    {"QLinearLeakyRelu", 1, 0, "alpha:float=0.01", leakyReluRule, domain},
    {"QLinearSoftmax", 1, 0, "axis:int=-1 opset:int!", softmaxRule, domain},
    {"QLinearGlobalAveragePool", 1, 0, "channels_last:int=0",
     globalAveragePoolRule, domain},
    {"QLinearAveragePool", 1, 0,
     "auto_pad:string=NOTSET ceil_mode:int=0 channels_last:int=0 "
     "count_include_pad:int=0 dilations:ints kernel_shape:ints! pads:ints "
     "strides:ints",
     averagePoolRule, domain},
    {"QLinearWhere", 1, 0, "", whereRule, domain},
    {"QLinearConcat", 1, 0, "axis:int!", concatRule, domain},
    {"QGemm", 1, 0, "alpha:float=1.0 transA:int=0 transB:int=0", gemmRule,
     domain},
    {"MatMulIntegerToFloat", 1, 0, "", matmulIntegerToFloatRule, domain},
    {"DynamicQuantizeMatMul", 1, 0, "", dynamicQuantizeMatmulRule, domain},
};

std::span<const Operator> microsoftQuantizedRows() { return rows; }

} // namespace sinter::onnx
