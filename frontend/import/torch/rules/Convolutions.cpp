/// Convolutions.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Convolution.h>

namespace sinter::torch {

namespace {
/// What all convolutions are given.
struct Operands {
  Tensor x, weight;
  std::optional<Tensor> bias;
  size_t axes; ///< of the space
};
} // namespace

static Operands operandsOf(Call &call) {
  // With autocast the file says what is computed in by the result alone.
  DType dtype = call.outputDType();
  Operands operands{call.tensor("input").to(dtype),
                    call.tensor("weight").to(dtype),
                    call.optionalTensor("bias"), 0};
  if (operands.bias)
    operands.bias = operands.bias->to(dtype);
  int64_t axes = operands.weight.rank() - 2;
  if (axes < 1 || axes > 3)
    call.unsupported("a weight of rank " +
                     std::to_string(operands.weight.rank()));
  // The channels are part of what kernels know.
  int64_t channels = operands.x.rank() - axes - 1;
  if (channels < 0)
    call.invalid("a tensor of rank " + std::to_string(operands.x.rank()));
  fixed(operands.x.dim(channels));
  operands.axes = size_t(axes);
  return operands;
}

static Tensor convolved(const Operands &operands, const ConvOptions &options) {
  const auto &[x, weight, bias, axes] = operands;
  if (axes == 1)
    return bias ? conv1d(x, weight, *bias, options)
                : conv1d(x, weight, options);
  if (axes == 2)
    return bias ? conv2d(x, weight, *bias, options)
                : conv2d(x, weight, options);
  return bias ? conv3d(x, weight, *bias, options) : conv3d(x, weight, options);
}

static Tensor transposed(const Operands &operands,
                         const ConvTransposeOptions &options) {
  const auto &[x, weight, bias, axes] = operands;
  if (axes == 1)
    return bias ? conv_transpose1d(x, weight, *bias, options)
                : conv_transpose1d(x, weight, options);
  if (axes == 2)
    return bias ? conv_transpose2d(x, weight, *bias, options)
                : conv_transpose2d(x, weight, options);
  return bias ? conv_transpose3d(x, weight, *bias, options)
              : conv_transpose3d(x, weight, options);
}

static ConvOptions optionsOf(Call &call, size_t axes) {
  ConvOptions options;
  options.stride = call.integers("stride", axes, 1);
  options.dilation = call.integers("dilation", axes, 1);
  options.groups = call.integer("groups", 1);
  return options;
}

/// `conv2d` and its like; padding may be a word.
static void convRule(Call &call) {
  Operands operands = operandsOf(call);
  ConvOptions options = optionsOf(call, operands.axes);
  if (call.value("padding").kind == Value::Kind::text) {
    std::string word = call.text("padding", "valid");
    if (word != "valid" && word != "same")
      call.invalid("padding '" + word + "'");
    options.same = word == "same";
  } else {
    options.padding = call.integers("padding", operands.axes, 0);
  }
  call.give(convolved(operands, options));
}

static void convTransposeRule(Call &call) {
  Operands operands = operandsOf(call);
  size_t axes = operands.axes;
  ConvTransposeOptions options;
  options.stride = call.integers("stride", axes, 1);
  options.padding = call.integers("padding", axes, 0);
  options.output_padding = call.integers("output_padding", axes, 0);
  options.dilation = call.integers("dilation", axes, 1);
  options.groups = call.integer("groups", 1);
  call.give(transposed(operands, options));
}

/// Either of them.
static void convolutionRule(Call &call) {
  call.ignore({"benchmark", "deterministic", "cudnn_enabled", "allow_tf32"});
  if (call.flag("transposed")) {
    convTransposeRule(call);
    return;
  }
  call.ignore({"output_padding"});
  Operands operands = operandsOf(call);
  ConvOptions options = optionsOf(call, operands.axes);
  options.padding = call.integers("padding", operands.axes, 0);
  call.give(convolved(operands, options));
}

static constexpr Operator rows[] = {
    {"aten.conv1d.default", convRule},
    {"aten.conv2d.default", convRule},
    {"aten.conv3d.default", convRule},
    {"aten.conv1d.padding", convRule},
    {"aten.conv2d.padding", convRule},
    {"aten.conv3d.padding", convRule},
    {"aten.conv_transpose1d.default", convTransposeRule},
    {"aten.conv_transpose2d.input", convTransposeRule},
    {"aten.conv_transpose3d.input", convTransposeRule},
    {"aten.convolution.default", convolutionRule},
    {"aten._convolution.default", convolutionRule},
};

std::span<const Operator> convolutionRows() { return rows; }

} // namespace sinter::torch
