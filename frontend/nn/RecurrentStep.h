/// One step of a recurrent layer.
#pragma once

#include <sinter/nn/Recurrent.h>

#include <span>
#include <string_view>

namespace sinter::nn::detail {

/// The parameters of one layer and direction; biases and weight_hr may be
/// empty.
struct StepWeights {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;
};

/// As errors name it.
std::string_view nameOf(RecurrentKind kind);
int64_t gatesOf(RecurrentKind kind);
/// How many states a step has: h, and c of an LSTM.
size_t statesOf(RecurrentKind kind);

/// What of a step depends on the input alone, for any number of inputs.
Tensor inputPart(RecurrentKind kind, const Tensor &x,
                 const StepWeights &weights);
/// The next states.
std::vector<Tensor> nextStates(RecurrentKind kind, const Tensor &inputPart,
                               std::span<const Tensor> states,
                               const StepWeights &weights);

} // namespace sinter::nn::detail
