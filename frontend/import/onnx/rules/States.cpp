/// Layers that carry a state from one call to the next.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/Scan.h>

#include <cmath>

namespace sinter::onnx {

/// A depthwise convolution over what came before and the sequence.
static void causalConvRule(Call &call) {
  Tensor x = call.tensor(0), weight = call.tensor(1);
  if (x.rank() != 3 || weight.rank() != 3)
    call.invalid("the tensor and the weight must have rank 3");
  int64_t before = fixed(weight.dim(2)) - 1, channels = fixed(x.dim(1));
  Tensor past = call.has(3) ? call.tensor(3)
                            : zeros({x.dim(0), channels, before},
                                    {x.dtype(), x.device()});
  Tensor all = before == 0 ? x : concat({past, x}, 2);
  ConvOptions options;
  options.groups = channels;
  Tensor y = conv1d(all, weight, options);
  if (call.has(2))
    y = y + alongAxis(call.tensor(2), 1, 3);
  std::string activation = call.text("activation");
  if (activation == "silu" || activation == "swish")
    y = silu(y);
  else if (activation != "none")
    call.invalid("activation '" + activation + "'");
  call.give(0, y);
  int64_t length = fixed(all.dim(2));
  call.give(1, sliceAxis(all, 2, length - before, length));
}

namespace {

/// What each step of linear attention reads: [length, batch, heads, ...].
struct LinearSteps {
  Tensor query, key, value, decay, beta;
};

} // namespace

/// [batch, length, heads * width] as [length, batch, heads, width].
static Tensor stepsOf(Call &call, size_t input, int64_t heads) {
  Tensor x = call.tensor(input);
  if (x.rank() != 3 || heads < 1 || fixed(x.dim(2)) % heads != 0)
    call.invalid("input " + std::to_string(input) + " does not fit the heads");
  Dim width(x.dim(2).value / heads);
  return permute(reshape(x, {x.dim(0), x.dim(1), heads, width}), {1, 0, 2, 3});
}

/// One number for each batch and head of a step, beside a matrix.
static Tensor besideMatrix(const Tensor &x) { return unsqueeze(x, -1); }

static ScanResult attend(const LinearSteps &steps, const Tensor &state,
                         double scale, int64_t share) {
  std::vector<Tensor> xs{steps.query, steps.key, steps.value};
  bool decays = steps.decay.defined(), corrects = steps.beta.defined();
  if (decays)
    xs.push_back(steps.decay);
  if (corrects)
    xs.push_back(steps.beta);
  auto body = [&](std::span<const Tensor> carries, std::span<const Tensor> x) {
    Tensor s = carries[0], value = x[2];
    Tensor key = unsqueeze(x[1], -1); // [batch, heads, width, 1]
    if (decays)
      s = s * exp(besideMatrix(x[3]));
    Tensor row = unsqueeze(value, -2); // [batch, heads, 1, width]
    if (corrects)
      row = (row - sum(s * key, -2, true)) * besideMatrix(x[decays ? 4 : 3]);
    s = s + key * row;
    Tensor seen = share == 1 ? s : repeat_interleave(s, share, 1);
    Tensor y = sum(seen * unsqueeze(x[0], -1), -2) * scale;
    return ScanStep{{s}, {y}};
  };
  return scan(body, {state}, xs);
}

static void linearAttentionRule(Call &call) {
  int64_t queryHeads = call.integer("q_num_heads"),
          heads = call.integer("kv_num_heads");
  std::string rule = call.text("update_rule");
  bool decays = rule == "gated" || rule == "gated_delta";
  bool corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear")
    call.invalid("update_rule '" + rule + "'");
  if (heads < 1 || queryHeads % heads != 0)
    call.invalid("the numbers of heads");
  DType dtype = call.value(0).dtype();
  LinearSteps steps;
  steps.query = widened(stepsOf(call, 0, queryHeads));
  steps.key = widened(stepsOf(call, 1, heads));
  steps.value = widened(stepsOf(call, 2, heads));
  if (decays)
    steps.decay = widened(stepsOf(call, 4, heads));
  if (corrects) {
    bool isShared = fixed(call.tensor(5).dim(-1)) == 1;
    steps.beta = widened(stepsOf(call, 5, isShared ? 1 : heads));
  }
  Dim keyWidth = steps.key.dim(3), valueWidth = steps.value.dim(3);
  Tensor state = call.has(3)
                     ? widened(call.tensor(3))
                     : zeros({steps.key.dim(1), heads, keyWidth, valueWidth},
                             {steps.key.dtype(), call.device()});
  double scale = call.real("scale");
  if (scale == 0)
    scale = 1 / std::sqrt(double(fixed(keyWidth)));
  ScanResult result = attend(steps, state, scale, queryHeads / heads);
  Tensor y = permute(result.ys[0], {1, 0, 2, 3});
  call.give(0, reshape(y, {y.dim(0), y.dim(1), y.dim(2) * y.dim(3)}).to(dtype));
  call.give(1, result.carries[0].to(dtype));
}

static constexpr Operator rows[] = {
    {"CausalConvWithState", 27, 0, "activation:string=none", causalConvRule},
    {"LinearAttention", 27, 0,
     "chunk_size:int=64 kv_num_heads:int! q_num_heads:int! scale:float=0.0 "
     "update_rule:string=gated_delta",
     linearAttentionRule},
};

std::span<const Operator> stateRows() { return rows; }

} // namespace sinter::onnx
