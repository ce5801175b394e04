/// Operators of ai.onnx.ml on features that are numbers.
#include "frontend/import/onnx/rules/Rules.h"

namespace sinter::onnx {

static constexpr const char *domain = "ai.onnx.ml";

/// Elements of the last axis.
static void arrayFeatureRule(Call &call) {
  Tensor x = call.tensor(0), positions = call.tensor(1).to(DType::i64);
  bool isVector = x.rank() == 1;
  if (isVector)
    x = reshape(x, {1, -1});
  call.give(index_select(x, reshape(positions, {-1}), x.rank() - 1));
}

static void binarizerRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give((x > call.real("threshold")).to(x.dtype()));
}

static constexpr Operator rows[] = {
    {"ArrayFeatureExtractor", 1, 0, "", arrayFeatureRule, domain},
    {"Binarizer", 1, 0, "threshold:float=0.0", binarizerRule, domain},
};

std::span<const Operator> featureRows() { return rows; }

} // namespace sinter::onnx
