/// Gradients that a program computes itself.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Convolution.h>
#include <sinter/Transforms.h>

namespace sinter::torch {

/// Which of three gradients are asked for.
static std::vector<bool> maskOf(Call &call) {
  const Value &list = call.value("output_mask");
  std::vector<bool> mask;
  for (const Value &each : list.list)
    mask.push_back(numberOf(call, each).asReal() != 0);
  if (mask.size() != 3)
    call.invalid("the mask of results is not of three");
  return mask;
}

static void giveMasked(Call &call, const std::vector<bool> &mask,
                       const std::vector<Tensor> &gradients) {
  for (size_t i = 0; i < mask.size(); ++i)
    call.give(mask[i] && gradients[i].defined() ? Value(gradients[i])
                                                : Value());
}

//===- Convolutions -------------------------------------------------------===//

static VjpFunction convolution(Call &call, size_t axes) {
  ConvOptions plain;
  ConvTransposeOptions back;
  plain.stride = back.stride = call.integers("stride", axes, 1);
  plain.padding = back.padding = call.integers("padding", axes, 0);
  plain.dilation = back.dilation = call.integers("dilation", axes, 1);
  plain.groups = back.groups = call.integer("groups", 1);
  back.output_padding = call.integers("output_padding", axes, 0);
  bool isTransposed = call.flag("transposed");
  return [=](std::span<const Tensor> xs) {
    Tensor y;
    if (axes == 1)
      y = isTransposed ? conv_transpose1d(xs[0], xs[1], back)
                       : conv1d(xs[0], xs[1], plain);
    else if (axes == 2)
      y = isTransposed ? conv_transpose2d(xs[0], xs[1], back)
                       : conv2d(xs[0], xs[1], plain);
    else
      y = isTransposed ? conv_transpose3d(xs[0], xs[1], back)
                       : conv3d(xs[0], xs[1], plain);
    return std::vector<Tensor>{y};
  };
}

static void convolutionBackwardRule(Call &call) {
  Tensor grad = call.tensor("grad_output"), x = call.tensor("input"),
         weight = call.tensor("weight");
  int64_t axes = weight.rank() - 2;
  if (axes < 1 || axes > 3 || x.rank() != axes + 2)
    call.unsupported("a weight of rank " + std::to_string(weight.rank()));
  fixed(x.dim(1));
  call.ignore({"bias_sizes"});
  std::vector<bool> mask = maskOf(call);
  Vjp back = vjp(convolution(call, size_t(axes)), {x, weight});
  std::vector<Tensor> gradients = back({grad});
  std::vector<int64_t> others{0};
  for (int64_t i = 0; i < axes; ++i)
    others.push_back(i + 2);
  gradients.push_back(sum(grad, Axes(others)));
  giveMasked(call, mask, gradients);
}

//===- Normalizations -----------------------------------------------------===//

/// Of y = (x - mean) * rstd, where both are of x: the gradient of x by that of
/// y, over the axes that they were taken along.
static Tensor ofNormalized(const Tensor &grad, const Tensor &normal,
                           const Tensor &rstd, const Axes &axes) {
  return (grad - mean(grad, axes, true) -
          normal * mean(grad * normal, axes, true)) *
         rstd;
}

static void layerNormBackwardRule(Call &call) {
  Tensor grad = call.tensor("grad_out"), x = call.tensor("input");
  Tensor rstd = call.tensor("rstd");
  auto inner = int64_t(call.dims("normalized_shape").size());
  call.ignore({"bias"});
  std::vector<int64_t> own, outer;
  for (int64_t i = 0; i < x.rank(); ++i)
    (i < x.rank() - inner ? outer : own).push_back(i);
  if (inner < 1 || inner > x.rank())
    call.invalid("a normalized shape of " + std::to_string(inner) + " axes");
  Tensor normal = (x - call.tensor("mean")) * rstd;
  std::optional<Tensor> weight = call.optionalTensor("weight");
  Tensor scaled = weight ? grad * *weight : grad;
  auto over = [&](const Tensor &y) {
    return outer.empty() ? y : sum(y, Axes(outer));
  };
  giveMasked(call, maskOf(call),
             {ofNormalized(scaled, normal, rstd, Axes(own)),
              over(grad * normal), over(grad)});
}

static void groupNormBackwardRule(Call &call) {
  Tensor grad = call.tensor("grad_out"), x = call.tensor("input");
  Dim images = x.dim(0);
  int64_t channels = fixed(x.dim(1)), groups = call.integer("group");
  call.ignore({"N", "C", "HxW"});
  if (groups < 1 || channels % groups != 0)
    call.invalid(std::to_string(groups) + " groups of " +
                 std::to_string(channels) + " channels");
  int64_t each = channels / groups;
  // [images, groups, channels, space].
  Dim space(1);
  for (int64_t i = 2; i < x.rank(); ++i)
    space = space * x.dim(i);
  Dims shape{images, groups, each, space};
  Dims one{images, groups, 1, 1}, perChannel{1, groups, each, 1};
  Tensor wide = reshape(grad, shape);
  Tensor rstd = reshape(call.tensor("rstd"), one);
  Tensor normal =
      (reshape(x, shape) - reshape(call.tensor("mean"), one)) * rstd;
  std::optional<Tensor> weight = call.optionalTensor("weight");
  Tensor scaled = weight ? wide * reshape(*weight, perChannel) : wide;
  auto ofChannels = [&](const Tensor &y) {
    return reshape(sum(y, {0, 3}), {channels});
  };
  giveMasked(call, maskOf(call),
             {reshape(ofNormalized(scaled, normal, rstd, {2, 3}), x.shape()),
              ofChannels(wide * normal), ofChannels(wide)});
}

//===- Embeddings ---------------------------------------------------------===//

static void embeddingBackwardRule(Call &call) {
  Tensor grad = call.tensor("grad_output"), index = call.tensor("indices");
  int64_t rows = call.integer("num_weights"),
          padding = call.integer("padding_idx", -1);
  Tensor places = reshape(index, {-1}).to(DType::i64);
  Tensor own = reshape(grad, {-1, grad.dim(grad.rank() - 1)});
  if (call.flag("scale_grad_by_freq")) {
    Tensor counts =
        index_add(zeros({rows}, {grad.dtype(), grad.device()}), 0, places,
                  ones(places.shape(), {grad.dtype(), grad.device()}));
    own = own / unsqueeze(index_select(counts, places, 0), 1);
  }
  if (padding >= 0)
    own = where(unsqueeze(places == padding, 1), zeros_like(own), own);
  Dims shape{rows, own.dim(1)};
  call.give(
      index_add(zeros(shape, {grad.dtype(), grad.device()}), 0, places, own));
}

static constexpr Operator rows[] = {
    {"aten.convolution_backward.default", convolutionBackwardRule},
    {"aten.native_layer_norm_backward.default", layerNormBackwardRule},
    {"aten.native_group_norm_backward.default", groupNormBackwardRule},
    {"aten.embedding_dense_backward.default", embeddingBackwardRule},
};

std::span<const Operator> backwardRows() { return rows; }

} // namespace sinter::torch
