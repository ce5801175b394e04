/// Losses.
#include "frontend/import/onnx/rules/Rules.h"

#include <algorithm>

namespace sinter::onnx {

/// -weight[label] * log probability at the label, summed up, averaged over the
/// weights, or for each label alone.
static Tensor lossAt(Call &call, const Tensor &logs, const Tensor &labels,
                     size_t weightAt) {
  Tensor wide = labels.to(DType::i64);
  Tensor weight = ones(labels.shape(), {logs.dtype(), logs.device()});
  Tensor counted;
  if (call.given("ignore_index")) {
    counted = wide != call.integer("ignore_index");
    wide = where(counted, wide, zeros_like(wide));
  }
  if (call.has(weightAt)) {
    Tensor rows = index_select(call.tensor(weightAt), reshape(wide, {-1}), 0);
    weight = reshape(rows, labels.shape());
  }
  if (counted.defined())
    weight = where(counted, weight, zeros_like(weight));
  Tensor at = squeeze(gather(logs, unsqueeze(wide, 1), 1), 1);
  Tensor loss = where(weight == 0, zeros_like(weight), 0 - at * weight);
  std::string reduction = call.text("reduction");
  if (reduction == "none")
    return loss;
  if (reduction == "sum")
    return sum(loss);
  if (reduction == "mean")
    return sum(loss) / sum(weight);
  call.invalid("reduction '" + reduction + "'");
}

static void negativeLogRule(Call &call) {
  call.give(lossAt(call, call.tensor(0), call.tensor(1), 2));
}

static void softmaxCrossEntropyRule(Call &call) {
  Tensor logs = log_softmax(call.tensor(0), 1);
  call.give(lossAt(call, logs, call.tensor(1), 2));
  call.give(1, logs);
}

static constexpr const char *attributes =
    "ignore_index:int reduction:string=mean";

static constexpr Operator rows[] = {
    {"NegativeLogLikelihoodLoss", 12, 0, attributes, negativeLogRule},
    {"SoftmaxCrossEntropyLoss", 12, 0, attributes, softmaxCrossEntropyRule},
};

std::span<const Operator> lossRows() { return rows; }

} // namespace sinter::onnx
