/// Normalizations.
#include "frontend/import/onnx/rules/Rules.h"

#include <cmath>

namespace sinter::onnx {

//===- Batches ------------------------------------------------------------===//

/// All axes but the channels'.
static std::vector<int64_t> othersThanChannels(const Tensor &x) {
  std::vector<int64_t> axes{0};
  for (int64_t i = 2; i < x.rank(); ++i)
    axes.push_back(i);
  return axes;
}

/// (x - mean) / sqrt(var + eps) * scale + bias, in the dtype of x.
static Tensor batchNormalized(Call &call, const Tensor &x, const Tensor &mean,
                              const Tensor &var) {
  Affine affine{call.tensor(1), call.tensor(2), call.real("epsilon")};
  if (x.rank() >= 2)
    return batch_norm(x, mean, var, affine).to(x.dtype());
  Tensor scale = *affine.weight / sqrt(var + affine.eps);
  return ((x - mean) * scale + *affine.bias).to(x.dtype());
}

static void batchNormRule(Call &call) {
  Tensor x = call.tensor(0), mean = call.tensor(3), var = call.tensor(4);
  bool trains = call.opset() >= 14 && call.flag("training_mode");
  if (call.opset() < 7 && call.numOutputs() > 1 && !call.flag("is_test"))
    call.unsupported("training in this version");
  if (call.opset() < 9 && !call.flag("spatial"))
    call.unsupported("spatial=0");
  if (!trains) {
    call.give(batchNormalized(call, x, mean, var));
    return;
  }
  double momentum = call.real("momentum");
  Axes axes(othersThanChannels(x));
  Tensor wide = widened(x);
  Tensor ownMean = sinter::mean(wide, axes),
         ownVar = sinter::var(wide, axes, 0);
  auto running = [&](const Tensor &old, const Tensor &own) {
    return (old * momentum + own.to(old.dtype()) * (1 - momentum))
        .to(old.dtype());
  };
  call.give(batchNormalized(call, x, ownMean, ownVar));
  call.give(1, running(mean, ownMean));
  call.give(2, running(var, ownVar));
}

static void instanceNormRule(Call &call) {
  Affine affine{call.tensor(1), call.tensor(2), call.real("epsilon")};
  call.give(instance_norm(call.tensor(0), affine));
}

/// Scale and bias are one for each group before opset 21, then one for each
/// channel.
static void groupNormRule(Call &call) {
  Tensor x = call.tensor(0), scale = call.tensor(1), bias = call.tensor(2);
  int64_t groups = call.integer("num_groups");
  int64_t channels = fixed(x.dim(1));
  if (groups < 1 || channels % groups != 0)
    call.invalid(std::to_string(channels) + " channels in " +
                 std::to_string(groups) + " groups");
  if (call.opset() < 21) {
    scale = repeat_interleave(scale, channels / groups, 0);
    bias = repeat_interleave(bias, channels / groups, 0);
  }
  call.give(group_norm(x, groups, {scale, bias, call.real("epsilon")}));
}

//===- Rows ---------------------------------------------------------------===//

/// The axes from the attribute's on.
static std::vector<int64_t> lastAxes(Call &call, const Tensor &x) {
  std::vector<int64_t> axes;
  for (int64_t i = call.axis("axis", x.rank()); i < x.rank(); ++i)
    axes.push_back(i);
  return axes;
}

static void layerNormRule(Call &call) {
  Tensor x = call.tensor(0), wide = widened(x);
  std::vector<int64_t> list = lastAxes(call, x);
  Axes axes(list);
  if (!call.wants(1) && !call.wants(2) &&
      call.value(1).rank() == int64_t(list.size()) &&
      (!call.has(2) || call.value(2).rank() == int64_t(list.size()))) {
    Dims whole = x.shape();
    Dims shape(whole.end() - int64_t(list.size()), whole.end());
    Affine affine{broadcast(call.tensor(1), shape), {}, call.real("epsilon")};
    if (call.has(2))
      affine.bias = broadcast(call.tensor(2), shape);
    return call.give(layer_norm(x, shape, affine));
  }
  Tensor center = mean(wide, axes, true);
  Tensor scale = 1 / sqrt(var(wide, axes, 0, true) + call.real("epsilon"));
  Tensor y = ((wide - center) * scale).to(x.dtype()) * call.tensor(1);
  call.give(call.has(2) ? y + call.tensor(2) : y);
  call.give(1, center);
  call.give(2, scale);
}

static void rmsNormRule(Call &call) {
  Tensor x = call.tensor(0), wide = widened(x);
  Tensor square = mean(sinter::square(wide), Axes(lastAxes(call, x)), true);
  Tensor y = wide / sqrt(square + call.real("epsilon"));
  call.give((y.to(x.dtype()) * call.tensor(1)).to(call.value(1).dtype()));
}

/// x + skip + bias, and that brought to mean 0 and variance 1.
static Tensor skipSum(Call &call, size_t biasAt) {
  Tensor x = call.tensor(0) + call.tensor(1);
  return call.has(biasAt) ? x + call.tensor(biasAt) : x;
}
static void skipLayerNormRule(Call &call) {
  Tensor x = skipSum(call, 4);
  Affine affine{call.tensor(2), {}, call.real("epsilon")};
  if (call.has(3))
    affine.bias = call.tensor(3);
  call.give(layer_norm(x, {x.dim(-1)}, affine));
  if (call.wants(1) || call.wants(2))
    call.unsupported("the mean and the deviation as results");
  call.give(3, x);
}
static void skipRmsNormRule(Call &call) {
  Tensor x = skipSum(call, 3);
  call.give(rms_norm(x, {x.dim(-1)}, call.tensor(2), call.real("epsilon")));
  if (call.wants(1) || call.wants(2))
    call.unsupported("the mean and the deviation as results");
  call.give(3, x);
}

//===- Others -------------------------------------------------------------===//

/// x / (bias + alpha / size * sum of the squares around)^beta: of an even size
/// there is one more channel behind than before.
static void lrnRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t size = call.integer("size");
  if (size < 1 || x.rank() < 3)
    call.invalid("a size of " + std::to_string(size) + " on a tensor of rank " +
                 std::to_string(x.rank()));
  Tensor squares =
      pad(square(widened(x)), {{1, (size - 1) / 2, size - 1 - (size - 1) / 2}});
  Tensor sums = sum(unfold(squares, 1, size, 1), -1);
  Tensor base = sums * (call.real("alpha") / double(size)) + call.real("bias");
  call.give((widened(x) / pow(base, call.real("beta"))).to(x.dtype()));
}

/// Where the norm is 0, the result is.
static void lpNormRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t p = call.integer("p"), axis = call.axis("axis", x.rank());
  if (p != 1 && p != 2)
    call.invalid("p is " + std::to_string(p));
  Tensor norm = p == 1 ? sum(abs(x), axis, true) : l2_norm(x, axis, true);
  Tensor none = zeros_like(x);
  call.give(where(norm == 0, none, x / norm));
}

static void meanVarianceRule(Call &call) {
  Tensor x = call.tensor(0);
  std::vector<int64_t> axes = call.integers("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  axes = call.axesOf(axes, x.rank());
  Tensor centered = x - mean(x, Axes(axes), true);
  Tensor deviation = sqrt(mean(square(centered), Axes(axes), true));
  call.give(centered / (deviation + 1e-9));
}

static constexpr Operator rows[] = {
    {"BatchNormalization", 1, 6,
     "epsilon:float=1e-5 is_test:int=0 momentum:float=0.9 spatial:int=1 "
     "consumed_inputs:ints",
     batchNormRule},
    {"BatchNormalization", 7, 8,
     "epsilon:float=1e-5 momentum:float=0.9 spatial:int=1", batchNormRule},
    {"BatchNormalization", 9, 13, "epsilon:float=1e-5 momentum:float=0.9",
     batchNormRule},
    {"BatchNormalization", 14, 0,
     "epsilon:float=1e-5 momentum:float=0.9 training_mode:int=0",
     batchNormRule},
    {"InstanceNormalization", 1, 0, "epsilon:float=1e-5 consumed_inputs:ints",
     instanceNormRule},
    {"GroupNormalization", 18, 0,
     "epsilon:float=1e-5 num_groups:int! stash_type:int=1", groupNormRule},
    {"LayerNormalization", 17, 0,
     "axis:int=-1 epsilon:float=1e-5 stash_type:int=1", layerNormRule},
    {"RMSNormalization", 23, 0,
     "axis:int=-1 epsilon:float=1e-5 stash_type:int=1", rmsNormRule},
    {"SimplifiedLayerNormalization", 1, 0,
     "axis:int=-1 epsilon:float=1e-5 stash_type:int=1", rmsNormRule},
    {"LRN", 1, 0, "alpha:float=0.0001 beta:float=0.75 bias:float=1.0 size:int!",
     lrnRule},
    {"LpNormalization", 1, 0, "axis:int=-1 p:int=2", lpNormRule},
    {"MeanVarianceNormalization", 9, 0, "axes:ints", meanVarianceRule},
    {"LayerNormalization", 1, 0,
     "axis:int=-1 epsilon:float=1e-5 stash_type:int=1", layerNormRule,
     "com.microsoft"},
    {"SkipLayerNormalization", 1, 0, "epsilon:float=1e-5", skipLayerNormRule,
     "com.microsoft"},
    {"SkipSimplifiedLayerNormalization", 1, 0, "epsilon:float=1e-5",
     skipRmsNormRule, "com.microsoft"},
};

std::span<const Operator> normalizationRows() { return rows; }

} // namespace sinter::onnx
