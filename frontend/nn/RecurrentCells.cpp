/// One step of a recurrent layer, and the cells that are one.
#include "frontend/nn/RecurrentStep.h"

#include "frontend/Raise.h"
#include "frontend/nn/LocalOps.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sinter::nn {

namespace detail {

using sinter::detail::part;

std::string_view nameOf(RecurrentKind kind) {
  switch (kind) {
  case RecurrentKind::lstm:
    return "lstm";
  case RecurrentKind::gru:
    return "gru";
  default:
    return "rnn";
  }
}

int64_t gatesOf(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
}

size_t statesOf(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 2 : 1;
}

/// x * weight^T.
static Tensor product(const Tensor &x, const Tensor &weight) {
  return matmul(x, transpose(weight, {1, 0}));
}

Tensor inputPart(RecurrentKind kind, const Tensor &x,
                 const StepWeights &weights) {
  Tensor y = product(x, weights.weight_ih);
  if (!weights.bias_ih.defined())
    return y;
  // A GRU's reset gate stands between the state's bias and the input.
  bool isGru = kind == RecurrentKind::gru;
  return y + (isGru ? weights.bias_ih : weights.bias_ih + weights.bias_hh);
}

/// Gate `number` of all of them, along the last axis.
static Tensor gate(const Tensor &all, int64_t number, Dim hidden) {
  int64_t size = hidden.value;
  return part(all, -1, number * size, Dim((number + 1) * size));
}

static std::vector<Tensor> nextLstm(const Tensor &fromInput, const Tensor &h,
                                    const Tensor &c,
                                    const StepWeights &weights) {
  Tensor all = fromInput + product(h, weights.weight_hh);
  Dim hidden = c.dim(-1);
  Tensor in = sigmoid(gate(all, 0, hidden));
  Tensor kept = sigmoid(gate(all, 1, hidden));
  Tensor cell = kept * c + in * tanh(gate(all, 2, hidden));
  Tensor next = sigmoid(gate(all, 3, hidden)) * tanh(cell);
  if (weights.weight_hr.defined())
    next = product(next, weights.weight_hr);
  return {next, cell};
}

static std::vector<Tensor> nextGru(const Tensor &fromInput, const Tensor &h,
                                   const StepWeights &weights) {
  Tensor fromState = product(h, weights.weight_hh);
  if (weights.bias_hh.defined())
    fromState = fromState + weights.bias_hh;
  Dim hidden = h.dim(-1);
  auto both = [&](int64_t number) {
    return sigmoid(gate(fromInput, number, hidden) +
                   gate(fromState, number, hidden));
  };
  Tensor reset = both(0), kept = both(1);
  Tensor made =
      tanh(gate(fromInput, 2, hidden) + reset * gate(fromState, 2, hidden));
  return {(1.0 - kept) * made + kept * h};
}

std::vector<Tensor> nextStates(RecurrentKind kind, const Tensor &fromInput,
                               std::span<const Tensor> states,
                               const StepWeights &weights) {
  if (kind == RecurrentKind::lstm)
    return nextLstm(fromInput, states[0], states[1], weights);
  if (kind == RecurrentKind::gru)
    return nextGru(fromInput, states[0], weights);
  Tensor sum = fromInput + product(states[0], weights.weight_hh);
  return {kind == RecurrentKind::relu ? relu(sum) : tanh(sum)};
}

} // namespace detail

//===- Cells --------------------------------------------------------------===//

RecurrentCell::RecurrentCell(RecurrentKind kind, int64_t input, int64_t hidden,
                             const CellOptions &options, Where where) try
    : kind(kind) {
  std::string name = fmt::format("{}_cell", detail::nameOf(kind));
  sinter::detail::Arguments(name, where)
      .positive("input", input)
      .positive("hidden", hidden);
  double bound = 1 / std::sqrt(double(hidden));
  Init init = init::uniform(-bound, bound);
  ParamOptions param{.dtype = options.dtype};
  int64_t rows = detail::gatesOf(kind) * hidden;
  weight_ih = Param("weight_ih", {rows, input}, init, param, where);
  weight_hh = Param("weight_hh", {rows, hidden}, init, param, where);
  if (!options.bias)
    return;
  bias_ih = Param("bias_ih", {rows}, init, param, where);
  bias_hh = Param("bias_hh", {rows}, init, param, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

std::vector<Tensor> RecurrentCell::step(const Tensor &x,
                                        const std::vector<Tensor> &given) const
    try {
  int64_t input = weight_ih.shape()[1].value;
  Dim hidden = weight_hh.shape()[1];
  auto reject = [&](const Tensor &tensor, const char *what) {
    sinter::detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("{}_cell: {}: {}", detail::nameOf(kind), what,
                              graph::typeString(*tensor.node())),
                  fmt::format("{}_cell", detail::nameOf(kind))),
        Where::current());
  };
  if (x.rank() < 1 || x.rank() > 2 || x.dim(-1).value != input)
    reject(x, fmt::format("expects x [n, {}]", input).c_str());
  Dims shape = x.shape();
  shape.back() = hidden;
  std::vector<Tensor> states = given;
  for (Tensor &state : states) {
    if (!state.defined())
      state = zeros(shape, {x.dtype(), x.device()});
    else if (!std::ranges::equal(state.shape(), shape, {}, &Dim::value,
                                 &Dim::value))
      reject(state, "the state has another shape");
  }
  detail::StepWeights weights{
      weight_ih.tensor(), weight_hh.tensor(), {}, {}, {}};
  if (bias_ih.defined()) {
    weights.bias_ih = bias_ih.tensor();
    weights.bias_hh = bias_hh.tensor();
  }
  return detail::nextStates(kind, detail::inputPart(kind, x, weights), states,
                            weights);
} catch (...) {
  sinter::detail::raiseExhausted({});
}

RNNCell::RNNCell(int64_t input, int64_t hidden, const CellOptions &options,
                 Nonlinearity nonlinearity, Where where)
    : RecurrentCell(nonlinearity == Nonlinearity::relu ? RecurrentKind::relu
                                                       : RecurrentKind::tanh,
                    input, hidden, options, where) {}

Tensor RNNCell::forward(const Tensor &x, const Tensor &h) const try {
  return step(x, {h})[0];
} catch (...) {
  sinter::detail::raiseExhausted({});
}

GRUCell::GRUCell(int64_t input, int64_t hidden, const CellOptions &options,
                 Where where)
    : RecurrentCell(RecurrentKind::gru, input, hidden, options, where) {}

Tensor GRUCell::forward(const Tensor &x, const Tensor &h) const try {
  return step(x, {h})[0];
} catch (...) {
  sinter::detail::raiseExhausted({});
}

LSTMCell::LSTMCell(int64_t input, int64_t hidden, const CellOptions &options,
                   Where where)
    : RecurrentCell(RecurrentKind::lstm, input, hidden, options, where) {}

LSTMState LSTMCell::forward(const Tensor &x, const LSTMState &state) const try {
  std::vector<Tensor> next = step(x, {state.h, state.c});
  return {next[0], next[1]};
} catch (...) {
  sinter::detail::raiseExhausted({});
}

} // namespace sinter::nn
