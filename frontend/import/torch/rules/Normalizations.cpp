/// Normalizations.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Normalization.h>
#include <sinter/Transforms.h>

#include <algorithm>

namespace sinter::torch {

static Affine affineOf(Call &call, double eps) {
  return {call.optionalTensor("weight"), call.optionalTensor("bias"), eps};
}

//===- Batches ------------------------------------------------------------===//

/// All axes but the channels'.
static std::vector<int64_t> othersThanChannels(const Tensor &x) {
  std::vector<int64_t> axes{0};
  for (int64_t i = 2; i < x.rank(); ++i)
    axes.push_back(i);
  return axes;
}

namespace {
/// A batch norm's result, and what it found out about the batch.
struct BatchResult {
  Tensor y;
  Tensor mean, invstd;            ///< [channels], f32 at least
  Tensor runningMean, runningVar; ///< after this batch; may be empty
};
} // namespace

/// Moves running statistics without a part in gradients.
static Tensor moved(const Tensor &old, const Tensor &now, double momentum) {
  no_grad guard;
  Tensor part = now.detach().to(old.dtype());
  return old.detach() * (1 - momentum) + part * momentum;
}

static BatchResult ofBatch(const Tensor &x, const Affine &affine,
                           const std::optional<Tensor> &mean,
                           const std::optional<Tensor> &var, double momentum) {
  BatchNormalized own = batch_norm(x, affine);
  BatchResult result{own.y, own.mean, {}, {}, {}};
  Tensor wide = widened(x);
  result.invstd =
      rsqrt(sinter::var(wide, othersThanChannels(x), 0) + affine.eps);
  if (mean)
    result.runningMean = moved(*mean, own.mean, momentum);
  if (var)
    result.runningVar = moved(*var, own.var, momentum);
  return result;
}

/// A batch norm that changes its running statistics in place.
static void batchNormRule(Call &call) {
  call.ignore({"cudnn_enabled"});
  Tensor x = call.tensor("input");
  Affine affine = affineOf(call, call.real("eps"));
  std::optional<Tensor> mean = call.optionalTensor("running_mean"),
                        var = call.optionalTensor("running_var");
  double momentum = call.real("momentum");
  bool trains = call.flag("training") || !mean;
  if (!trains && !var)
    call.invalid("a running mean without a variance");
  if (!trains) {
    call.give(batch_norm(x, *mean, *var, affine));
  } else {
    BatchResult result = ofBatch(x, affine, mean, var, momentum);
    if (mean)
      call.change("running_mean", result.runningMean);
    if (var)
      call.change("running_var", result.runningVar);
    call.give(result.y);
    if (call.numOutputs() < 2)
      return;
    call.give(result.mean);
    call.give(result.invstd);
    return;
  }
  // What a backward pass would be given: nothing in use.
  for (size_t i = 1; i < call.numOutputs(); ++i)
    call.give(zeros({0}, {call.outputDType(i), x.device()}));
}

/// The same; the statistics are results. In use, nothing is known of the batch.
static void functionalBatchNormRule(Call &call) {
  Tensor x = call.tensor("input");
  Affine affine = affineOf(call, call.real("eps"));
  Tensor mean = call.tensor("running_mean"), var = call.tensor("running_var");
  double momentum = call.real("momentum");
  // That overload tells of the batch even then.
  if (!call.flag("training") && call.numOutputs() == 6)
    call.unsupported("use, not training");
  Tensor none = zeros({0}, {widened(x).dtype(), x.device()});
  BatchResult result{{}, none, none, mean, var};
  if (call.flag("training"))
    result = ofBatch(x, affine, mean, var, momentum);
  else
    result.y = batch_norm(x, mean, var, affine);
  call.give(result.y);
  call.give(result.mean);
  call.give(result.invstd);
  // One of the overloads has room for a backward pass here.
  if (call.numOutputs() == 6)
    call.give(zeros({0}, {DType::u8, x.device()}));
  call.give(result.runningMean);
  call.give(result.runningVar);
}

/// Always with the running statistics.
static void inUseRule(Call &call) {
  Tensor x = call.tensor("input");
  Affine affine = affineOf(call, call.real("eps"));
  call.ignore({"momentum"});
  call.give(batch_norm(x, call.tensor("running_mean"),
                       call.tensor("running_var"), affine));
  for (size_t i = 1; i < call.numOutputs(); ++i)
    call.give(zeros({0}, {call.outputDType(i), x.device()}));
}

//===- One sample ---------------------------------------------------------===//

static Dims shapeOf(Call &call, const char *name) { return call.dims(name); }

static void layerNormRule(Call &call) {
  call.ignore({"cudnn_enable"});
  Affine affine = affineOf(call, call.real("eps", 1e-5));
  Tensor x = call.tensor("input");
  Dims shape = shapeOf(call, "normalized_shape");
  call.give(layer_norm(x, shape, affine));
  if (call.numOutputs() < 3)
    return;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    axes.push_back(x.rank() - int64_t(shape.size()) + int64_t(i));
  Tensor wide = widened(x);
  call.give(mean(wide, axes, true).to(call.outputDType(1)));
  call.give(
      rsqrt(var(wide, axes, 0, true) + affine.eps).to(call.outputDType(2)));
}

static void groupNormRule(Call &call) {
  call.ignore({"cudnn_enabled"});
  call.give(group_norm(call.tensor("input"), call.integer("num_groups"),
                       affineOf(call, call.real("eps", 1e-5))));
}

/// x [n, channels, space...] in groups; means and deviations of each.
static void nativeGroupNormRule(Call &call) {
  Tensor x = call.tensor("input");
  call.ignore({"N", "C", "HxW"});
  int64_t groups = call.integer("group");
  double eps = call.real("eps");
  call.give(group_norm(x, groups, affineOf(call, eps)));
  Tensor wide = widened(x);
  Dim each = fixed(x.dim(1)) / std::max<int64_t>(groups, 1);
  for (int64_t i = 2; i < x.rank(); ++i)
    each = each * x.dim(i);
  Tensor parts = reshape(wide, {x.dim(0), groups, each});
  call.give(mean(parts, 2).to(call.outputDType(1)));
  call.give(rsqrt(var(parts, 2, 0) + eps).to(call.outputDType(2)));
}

static void instanceNormRule(Call &call) {
  call.ignore({"cudnn_enabled"});
  Tensor x = call.tensor("input");
  Affine affine = affineOf(call, call.real("eps"));
  std::optional<Tensor> mean = call.optionalTensor("running_mean"),
                        var = call.optionalTensor("running_var");
  double momentum = call.real("momentum");
  if (!call.flag("use_input_stats")) {
    if (!mean || !var)
      call.invalid("running statistics are missing");
    call.give(batch_norm(x, *mean, *var, affine));
    return;
  }
  call.give(instance_norm(x, affine));
  if (!mean || !var)
    return;
  // Means over the batch of what each sample has.
  std::vector<int64_t> space;
  for (int64_t i = 2; i < x.rank(); ++i)
    space.push_back(i);
  Tensor wide = widened(x);
  call.change(
      "running_mean",
      moved(*mean, sinter::mean(sinter::mean(wide, space), 0), momentum));
  call.change(
      "running_var",
      moved(*var, sinter::mean(sinter::var(wide, space, 1), 0), momentum));
}

static void rmsNormRule(Call &call) {
  std::optional<double> eps;
  if (call.has("eps"))
    eps = call.real("eps");
  call.give(rms_norm(call.tensor("input"), shapeOf(call, "normalized_shape"),
                     call.optionalTensor("weight"), eps));
}

static constexpr Operator rows[] = {
    {"aten.batch_norm.default", batchNormRule},
    {"aten.native_batch_norm.default", batchNormRule},
    {"aten._native_batch_norm_legit.default", batchNormRule},
    {"aten._native_batch_norm_legit.no_stats", batchNormRule},
    {"aten._native_batch_norm_legit_functional.default",
     functionalBatchNormRule},
    {"aten._batch_norm_with_update_functional.default",
     functionalBatchNormRule},
    {"aten._native_batch_norm_legit_no_training.default", inUseRule},
    {"aten._batch_norm_no_update.default", inUseRule},
    {"aten.layer_norm.default", layerNormRule},
    {"aten.native_layer_norm.default", layerNormRule},
    {"aten.group_norm.default", groupNormRule},
    {"aten.native_group_norm.default", nativeGroupNormRule},
    {"aten.instance_norm.default", instanceNormRule},
    {"aten.rms_norm.default", rmsNormRule},
};

std::span<const Operator> normalizationRows() { return rows; }

} // namespace sinter::torch
