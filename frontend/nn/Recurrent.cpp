/// RNN, LSTM and GRU over sequences, as loops of their steps.
#include <sinter/nn/Recurrent.h>

#include "frontend/Raise.h"
#include "frontend/nn/LocalOps.h"
#include "frontend/nn/RecurrentStep.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Random.h>
#include <sinter/Scan.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sinter::nn {

[[noreturn]] static void reject(RecurrentKind kind, const std::string &what,
                                const SourceLine &where) {
  std::string op(detail::nameOf(kind));
  sinter::detail::raise(
      makeError(ErrorKind::invalid_argument, op + ": " + what, op), where);
}

//===- Parameters ---------------------------------------------------------===//

static std::string suffixOf(int64_t layer, bool reverse) {
  return fmt::format("_l{}{}", layer, reverse ? "_reverse" : "");
}

Recurrent::Recurrent(RecurrentKind kind, int64_t input, int64_t hidden,
                     const RecurrentOptions &given, Where where) try
    : options(given), kind(kind), input_size(input), hidden_size(hidden) {
  sinter::detail::Arguments(detail::nameOf(kind), where)
      .positive("input", input)
      .positive("hidden", hidden)
      .positive("num_layers", given.num_layers)
      .within("dropout", given.dropout, 0, 1)
      .atLeast(0, "proj_size", given.proj_size);
  if (given.proj_size != 0 &&
      (kind != RecurrentKind::lstm || given.proj_size >= hidden))
    reject(kind, "only an LSTM has a proj_size, less than its hidden size",
           where);
  for (int64_t layer = 0; layer < given.num_layers; ++layer)
    for (bool reverse : {false, true})
      if (!reverse || given.bidirectional)
        addLayer(layer, reverse, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void Recurrent::addLayer(int64_t layer, bool reverse, Where where) try {
  double bound = 1 / std::sqrt(double(hidden_size));
  std::string suffix = suffixOf(layer, reverse);
  auto add = [&](const char *name, const Dims &shape) {
    params.add(name + suffix,
               Param(name + suffix, shape, init::uniform(-bound, bound),
                     {.dtype = options.dtype}, where));
  };
  int64_t kept = options.proj_size ? options.proj_size : hidden_size;
  int64_t below = kept * (options.bidirectional ? 2 : 1);
  int64_t rows = detail::gatesOf(kind) * hidden_size;
  add("weight_ih", {rows, layer == 0 ? input_size : below});
  add("weight_hh", {rows, kept});
  if (options.bias) {
    add("bias_ih", {rows});
    add("bias_hh", {rows});
  }
  if (options.proj_size)
    add("weight_hr", {options.proj_size, hidden_size});
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

static detail::StepWeights weightsOf(const NamedParams &params, int64_t layer,
                                     bool reverse) {
  std::string suffix = suffixOf(layer, reverse);
  auto find = [&](const char *name) {
    const Param *param = params.find(name + suffix);
    return param ? param->tensor() : Tensor();
  };
  return {find("weight_ih"), find("weight_hh"), find("bias_ih"),
          find("bias_hh"), find("weight_hr")};
}

//===- Sequences ----------------------------------------------------------===//

/// What is run: x as [t, n, input], states as [layers * directions, n, size].
struct Recurrent::Sequence {
  Tensor x;
  std::vector<Tensor> states;
};

Recurrent::Sequence
Recurrent::sequenceOf(const Tensor &x, const std::vector<Tensor> &first) const
    try {
  bool isOne = x.defined() && x.rank() == 2;
  if (!x.defined() || x.rank() < 2 || x.rank() > 3 ||
      x.dim(-1).value != input_size)
    reject(kind,
           fmt::format("expects x [{}, {}]{}",
                       options.batch_first ? "n, t" : "t, n", input_size,
                       x.defined() ? ": " + graph::typeString(*x.node()) : ""),
           SourceLine::current());
  Sequence result{x, {}};
  if (isOne)
    result.x = unsqueeze(x, 1);
  else if (options.batch_first)
    result.x = transpose(x, {1, 0, 2});
  int64_t count = options.num_layers * (options.bidirectional ? 2 : 1);
  for (size_t i = 0; i < first.size(); ++i) {
    bool isProjected = i == 0 && options.proj_size;
    Dims shape{count, result.x.dim(1),
               isProjected ? options.proj_size : hidden_size};
    Tensor state = first[i];
    if (!state.defined())
      state = zeros(shape, {x.dtype(), x.device()});
    else if (isOne && state.rank() == 2)
      state = unsqueeze(state, 1);
    if (!std::ranges::equal(state.shape(), shape, {}, &Dim::value, &Dim::value))
      reject(kind,
             fmt::format("the first state must be [{}, {}, {}]: {}", count,
                         shape[1].value, shape[2].value,
                         graph::typeString(*state.node())),
             SourceLine::current());
    result.states.push_back(state);
  }
  return result;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

/// The sequence of h, then the last states.
std::vector<Tensor> Recurrent::runLayer(const Tensor &x, int64_t layer,
                                        bool reverse,
                                        const std::vector<Tensor> &first) const
    try {
  detail::StepWeights weights = weightsOf(params, layer, reverse);
  Tensor inputs = detail::inputPart(kind, x, weights);
  auto body = [&](std::span<const Tensor> carries, std::span<const Tensor> xs) {
    std::vector<Tensor> next =
        detail::nextStates(kind, xs[0], carries, weights);
    return ScanStep{next, {next[0]}};
  };
  ScanResult found = scan(body, first, {inputs}, {.reverse = reverse});
  std::vector<Tensor> result = std::move(found.ys);
  result.insert(result.end(), found.carries.begin(), found.carries.end());
  return result;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

Recurrent::Result Recurrent::run(const Tensor &x,
                                 const std::vector<Tensor> &first) const try {
  Sequence sequence = sequenceOf(x, first);
  int64_t directions = options.bidirectional ? 2 : 1;
  std::vector<std::vector<Tensor>> lasts(first.size());
  Tensor current = sequence.x;
  for (int64_t layer = 0; layer < options.num_layers; ++layer) {
    if (layer > 0 && options.dropout > 0 && mode.training)
      current = dropout(current, options.dropout);
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      int64_t number = layer * directions + direction;
      std::vector<Tensor> states;
      for (const Tensor &state : sequence.states)
        states.push_back(squeeze(
            sinter::detail::part(state, 0, number, Dim(number + 1)), 0));
      auto found = runLayer(current, layer, direction == 1, states);
      outputs.push_back(found[0]);
      for (size_t i = 0; i < lasts.size(); ++i)
        lasts[i].push_back(unsqueeze(found[i + 1], 0));
    }
    current = directions == 1 ? outputs[0] : concat(outputs, -1);
  }
  bool isOne = x.rank() == 2;
  Result result{current, {}};
  if (isOne)
    result.output = squeeze(current, 1);
  else if (options.batch_first)
    result.output = transpose(current, {1, 0, 2});
  for (std::vector<Tensor> &all : lasts) {
    Tensor together = all.size() == 1 ? all[0] : concat(all, 0);
    result.states.push_back(isOne ? squeeze(together, 1) : together);
  }
  return result;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

//===- The layers ---------------------------------------------------------===//

RNN::RNN(int64_t input, int64_t hidden, const RecurrentOptions &options,
         Nonlinearity nonlinearity, Where where)
    : Recurrent(nonlinearity == Nonlinearity::relu ? RecurrentKind::relu
                                                   : RecurrentKind::tanh,
                input, hidden, options, where) {}

RecurrentOutput RNN::forward(const Tensor &x, const Tensor &h_0) const try {
  Result result = run(x, {h_0});
  return {result.output, result.states[0]};
} catch (...) {
  sinter::detail::raiseExhausted({});
}

GRU::GRU(int64_t input, int64_t hidden, const RecurrentOptions &options,
         Where where)
    : Recurrent(RecurrentKind::gru, input, hidden, options, where) {}

RecurrentOutput GRU::forward(const Tensor &x, const Tensor &h_0) const try {
  Result result = run(x, {h_0});
  return {result.output, result.states[0]};
} catch (...) {
  sinter::detail::raiseExhausted({});
}

LSTM::LSTM(int64_t input, int64_t hidden, const RecurrentOptions &options,
           Where where)
    : Recurrent(RecurrentKind::lstm, input, hidden, options, where) {}

LSTMOutput LSTM::forward(const Tensor &x, const LSTMState &first) const try {
  Result result = run(x, {first.h, first.c});
  return {result.output, result.states[0], result.states[1]};
} catch (...) {
  sinter::detail::raiseExhausted({});
}

} // namespace sinter::nn
