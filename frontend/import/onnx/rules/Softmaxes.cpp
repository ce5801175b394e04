/// Softmax and its relatives.
#include "frontend/import/onnx/rules/Rules.h"

namespace sinter::onnx {

static Tensor softmaxOf(const Tensor &x, int64_t axis) {
  return softmax(x, axis);
}
static Tensor logSoftmaxOf(const Tensor &x, int64_t axis) {
  return log_softmax(x, axis);
}
/// 1 at the first of the largest elements.
static Tensor hardmaxOf(const Tensor &x, int64_t axis) {
  Tensor first = argmax(x, axis, true);
  return (iota(x.shape(), axis, {DType::i64, x.device()}) == first)
      .to(x.dtype());
}

using Function = Tensor (*)(const Tensor &, int64_t);

template <Function function> static void axisRule(Call &call) {
  Tensor x = call.tensor(0);
  if (x.numel() == 0)
    return call.give(x);
  if (x.rank() == 0)
    return call.give(squeeze(function(unsqueeze(x, 0), 0), 0));
  call.give(function(x, call.axis("axis", x.rank())));
}

/// Before opset 13: over all axes from one on, as one.
template <Function function> static void oldRule(Call &call) {
  Tensor x = call.tensor(0);
  if (x.numel() == 0)
    return call.give(x);
  Tensor rows = function(asMatrix(call, x, call.integer("axis")), 1);
  call.give(reshape(rows, x.shape()));
}

static constexpr const char *oldAxis = "axis:int=1";
static constexpr const char *newAxis = "axis:int=-1";

static constexpr Operator rows[] = {
    {"Softmax", 1, 12, oldAxis, oldRule<softmaxOf>},
    {"Softmax", 13, 0, newAxis, axisRule<softmaxOf>},
    {"LogSoftmax", 1, 12, oldAxis, oldRule<logSoftmaxOf>},
    {"LogSoftmax", 13, 0, newAxis, axisRule<logSoftmaxOf>},
    {"Hardmax", 1, 12, oldAxis, oldRule<hardmaxOf>},
    {"Hardmax", 13, 0, newAxis, axisRule<hardmaxOf>},
};

std::span<const Operator> softmaxRows() { return rows; }

} // namespace sinter::onnx
