/// RNN, GRU and LSTM.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/Scan.h>
#include <sinter/generated/functions/Activations.h>

#include <algorithm>
#include <functional>
#include <optional>

namespace sinter::onnx {

using Activation = std::function<Tensor(const Tensor &)>;

static std::string lowered(std::string name) {
  std::ranges::transform(name, name.begin(), [](char letter) {
    return char(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  });
  return name;
}

/// By a name of small letters.
static Activation activationNamed(Call &call, const std::string &lower,
                                  double alpha, double beta) {
  if (lower == "sigmoid")
    return [](const Tensor &x) { return sigmoid(x); };
  if (lower == "tanh")
    return [](const Tensor &x) { return tanh(x); };
  if (lower == "relu")
    return [](const Tensor &x) { return relu(x); };
  if (lower == "affine")
    return [=](const Tensor &x) { return x * alpha + beta; };
  if (lower == "leakyrelu")
    return [=](const Tensor &x) { return leaky_relu(x, alpha); };
  if (lower == "thresholdedrelu")
    return [=](const Tensor &x) { return where(x > alpha, x, zeros_like(x)); };
  if (lower == "scaledtanh")
    return [=](const Tensor &x) { return tanh(x * beta) * alpha; };
  if (lower == "hardsigmoid")
    return [=](const Tensor &x) { return clamp(x * alpha + beta, 0.0, 1.0); };
  if (lower == "elu")
    return [=](const Tensor &x) { return elu(x, alpha); };
  if (lower == "softsign")
    return [](const Tensor &x) { return softsign(x); };
  if (lower == "softplus")
    return [](const Tensor &x) { return softplus(x); };
  call.invalid("activation '" + lower + "'");
}

namespace {
/// Alpha and beta where a function has them: what they are if not given.
struct Constants {
  std::optional<double> alpha, beta;
};
} // namespace

static Constants constantsOf(const std::string &lower) {
  if (lower == "leakyrelu")
    return {0.01, {}};
  if (lower == "thresholdedrelu" || lower == "elu")
    return {1, {}};
  if (lower == "hardsigmoid")
    return {0.2, 0.5};
  if (lower == "affine")
    return {1, 0};
  if (lower == "scaledtanh")
    return {1, 1};
  return {};
}

/// Lists of alphas and betas hold those of the functions that have them.
static std::vector<Activation>
activationsNamed(Call &call, const std::vector<std::string> &names) {
  std::vector<double> alphas = call.reals("activation_alpha"),
                      betas = call.reals("activation_beta");
  size_t nextAlpha = 0, nextBeta = 0;
  auto taken = [](std::optional<double> own, const std::vector<double> &list,
                  size_t &next) {
    return own && next < list.size() ? list[next++] : own.value_or(0);
  };
  std::vector<Activation> activations;
  for (const std::string &name : names) {
    std::string lower = lowered(name);
    Constants own = constantsOf(lower);
    double alpha = taken(own.alpha, alphas, nextAlpha);
    double beta = taken(own.beta, betas, nextBeta);
    activations.push_back(activationNamed(call, lower, alpha, beta));
  }
  return activations;
}

namespace {

/// One node, and its parts for one direction.
class Recurrence {
public:
  Recurrence(Call &call, size_t gates, std::vector<std::string> defaults);

  /// One step: the next states of x W^T + bias and the states.
  using Step = std::function<std::vector<Tensor>(
      const Tensor &projected, std::span<const Tensor> states)>;

  /// Records all directions. `makeStep` gives the step of one.
  template <typename F> void record(size_t numStates, F &&makeStep);

  Call &call;
  size_t gates, direction = 0;
  int64_t hidden;

  Activation activation(size_t i) const {
    return activations[direction * perDirection + i];
  }
  /// [rows] or [rows, columns] of this direction.
  Tensor part(size_t input) const {
    return select(call.tensor(input), 0, int64_t(direction));
  }
  Tensor recurrentWeight() const { return swapaxes(part(2), 0, 1); }
  /// The part of a bias: of x, or of the state.
  Tensor bias(bool isRecurrent) const;
  Tensor gate(const Tensor &all, int64_t i) const {
    return sliceAxis(all, all.rank() - 1, i * hidden, (i + 1) * hidden);
  }
  Tensor clipped(const Tensor &x) const {
    return call.given("clip") ? clamp(x, -call.real("clip"), call.real("clip"))
                              : x;
  }

private:
  Tensor initial(size_t input, const Tensor &x) const;
  ScanResult scanned(const Step &step, const Tensor &x, size_t numStates,
                     bool isReverse) const;

  std::vector<Activation> activations;
  size_t perDirection;
  bool isBatchFirst;
};

} // namespace

Recurrence::Recurrence(Call &call, size_t gates,
                       std::vector<std::string> defaults)
    : call(call), gates(gates), hidden(fixed(call.tensor(2).dim(2))),
      perDirection(defaults.size()),
      isBatchFirst(call.opset() >= 14 && call.flag("layout")) {
  std::string kind = call.text("direction");
  if (kind != "forward" && kind != "reverse" && kind != "bidirectional")
    call.invalid("direction '" + kind + "'");
  size_t directions = kind == "bidirectional" ? 2 : 1;
  if (call.tensor(1).dim(0).value != int64_t(directions))
    call.invalid("the weights are not of this direction");
  std::vector<std::string> names = call.texts("activations");
  if (names.empty())
    for (size_t i = 0; i < directions; ++i)
      names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != directions * perDirection)
    call.invalid("the number of activations");
  activations = activationsNamed(call, names);
}

Tensor Recurrence::bias(bool isRecurrent) const {
  auto size = int64_t(gates) * hidden;
  if (!call.has(3))
    return zeros({size}, {call.value(0).dtype(), call.device()});
  return sliceAxis(part(3), 0, isRecurrent ? size : 0,
                   isRecurrent ? 2 * size : size);
}

/// [batch, hidden].
Tensor Recurrence::initial(size_t input, const Tensor &x) const {
  if (!call.has(input))
    return zeros({x.dim(1), hidden}, {x.dtype(), x.device()});
  Tensor state = call.tensor(input);
  return select(state, isBatchFirst ? 1 : 0, int64_t(direction));
}

/// Each row of the batch takes steps as long as it lasts; after that its states
/// stay, and what it gives is 0. A row that is read from its end begins there:
/// the steps that it does not have come first.
ScanResult Recurrence::scanned(const Step &step, const Tensor &x,
                               size_t numStates, bool isReverse) const {
  Dim length = x.dim(0), batch = x.dim(1);
  Tensor projected = matmul(x, swapaxes(part(1), 0, 1)) + bias(false);
  std::vector<Tensor> states{initial(5, x)}, xs{projected};
  if (numStates == 2)
    states.push_back(initial(6, x));
  bool hasLengths = call.has(4);
  if (hasLengths) {
    Tensor lengths = call.tensor(4).to(DType::i64);
    Tensor place = iota({length, batch}, 0, {DType::i64, x.device()});
    xs.push_back(unsqueeze(place < lengths, 2));
  }
  ScanOptions options;
  options.reverse = isReverse;
  auto body = [&](std::span<const Tensor> old, std::span<const Tensor> now) {
    std::vector<Tensor> next = step(now[0], old);
    Tensor shown = next[0];
    if (hasLengths) {
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = where(now[1], next[i], old[i]);
      shown = where(now[1], shown, zeros_like(shown));
    }
    return ScanStep{next, {shown}};
  };
  return scan(body, states, xs, options);
}

template <typename F> void Recurrence::record(size_t numStates, F &&makeStep) {
  Tensor x = call.tensor(0);
  if (x.rank() != 3)
    call.invalid("the tensor has rank " + std::to_string(x.rank()));
  if (isBatchFirst)
    x = swapaxes(x, 0, 1);
  std::string kind = call.text("direction");
  std::vector<Tensor> ys, lasts[2];
  for (direction = 0; direction < (kind == "bidirectional" ? 2 : 1);
       ++direction) {
    bool isReverse = kind == "reverse" || direction == 1;
    ScanResult result = scanned(makeStep(*this), x, numStates, isReverse);
    ys.push_back(result.ys[0]);
    for (size_t i = 0; i < numStates; ++i)
      lasts[i].push_back(result.carries[i]);
  }
  // [length, directions, batch, hidden], or the batch first.
  Tensor all = stack(ys, 1);
  call.give(0, isBatchFirst ? permute(all, {2, 0, 1, 3}) : all);
  for (size_t i = 0; i < numStates; ++i)
    call.give(i + 1, stack(lasts[i], isBatchFirst ? 1 : 0));
}

//===- The three kinds ----------------------------------------------------===//

static void rnnRule(Call &call) {
  Recurrence recurrence(call, 1, {"Tanh"});
  recurrence.record(1, [](Recurrence &own) -> Recurrence::Step {
    Tensor weight = own.recurrentWeight(), bias = own.bias(true);
    Activation f = own.activation(0);
    return [=, &own](const Tensor &x, std::span<const Tensor> h) {
      Tensor next = f(own.clipped(x + matmul(h[0], weight) + bias));
      return std::vector<Tensor>{next};
    };
  });
}

/// Gates stand in the order update, reset, hidden.
static void gruRule(Call &call) {
  Recurrence recurrence(call, 3, {"Sigmoid", "Tanh"});
  bool resetsAfter = call.flag("linear_before_reset");
  recurrence.record(1, [=](Recurrence &own) -> Recurrence::Step {
    Tensor weight = own.recurrentWeight(), bias = own.bias(true);
    Activation f = own.activation(0), g = own.activation(1);
    return [=, &own](const Tensor &x, std::span<const Tensor> states) {
      const Tensor &h = states[0];
      Tensor both = matmul(h, weight) + bias;
      Tensor z = f(own.clipped(own.gate(x, 0) + own.gate(both, 0)));
      Tensor r = f(own.clipped(own.gate(x, 1) + own.gate(both, 1)));
      Tensor before =
          resetsAfter ? r * own.gate(both, 2)
                      : matmul(r * h, own.gate(weight, 2)) + own.gate(bias, 2);
      Tensor candidate = g(own.clipped(own.gate(x, 2) + before));
      return std::vector<Tensor>{(1 - z) * candidate + z * h};
    };
  });
}

/// Gates stand in the order input, output, forget, cell.
static void lstmRule(Call &call) {
  Recurrence recurrence(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  bool isCoupled = call.flag("input_forget"), peeps = call.has(7);
  recurrence.record(2, [=](Recurrence &own) -> Recurrence::Step {
    Tensor weight = own.recurrentWeight(), bias = own.bias(true);
    Activation f = own.activation(0), g = own.activation(1),
               h = own.activation(2);
    Tensor peephole = peeps ? own.part(7) : Tensor();
    return [=, &own](const Tensor &x, std::span<const Tensor> states) {
      const Tensor &cell = states[1];
      Tensor all = x + matmul(states[0], weight) + bias;
      auto open = [&](int64_t gate, int64_t peep, const Tensor &seen) {
        Tensor sum = own.gate(all, gate);
        if (peeps)
          sum = sum + own.gate(peephole, peep) * seen;
        return f(own.clipped(sum));
      };
      Tensor input = open(0, 0, cell);
      Tensor forget = isCoupled ? 1 - input : open(2, 2, cell);
      Tensor candidate = g(own.clipped(own.gate(all, 3)));
      Tensor next = forget * cell + input * candidate;
      return std::vector<Tensor>{open(1, 1, next) * h(next), next};
    };
  });
}

static constexpr const char *rnn =
    "activation_alpha:floats activation_beta:floats activations:strings "
    "clip:float direction:string=forward hidden_size:int layout:int=0 "
    "output_sequence:int=0";

static constexpr Operator rows[] = {
    {"RNN", 1, 0, rnn, rnnRule},
    {"GRU", 1, 0,
     "activation_alpha:floats activation_beta:floats activations:strings "
     "clip:float direction:string=forward hidden_size:int layout:int=0 "
     "linear_before_reset:int=0 output_sequence:int=0",
     gruRule},
    {"LSTM", 1, 0,
     "activation_alpha:floats activation_beta:floats activations:strings "
     "clip:float direction:string=forward hidden_size:int input_forget:int=0 "
     "layout:int=0 output_sequence:int=0",
     lstmRule},
};

std::span<const Operator> recurrentRows() { return rows; }

} // namespace sinter::onnx
