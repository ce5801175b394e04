/// LSTM, GRU and plain recurrences: whole ones and single cells.
#include "frontend/import/torch/ProgramRecorder.h"
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Random.h>
#include <sinter/Scan.h>

#include <algorithm>
#include <functional>

namespace sinter::torch {

namespace {

/// The weights of one direction of one layer.
struct Cell {
  Tensor inputWeight, stateWeight;
  std::optional<Tensor> inputBias, stateBias;
  std::optional<Tensor> projection; ///< of the state that an LSTM gives

  /// What x has a part in: x W^T + b, of all gates.
  Tensor ofInput(const Tensor &x) const {
    Tensor y = matmul(x, swapaxes(inputWeight, 0, 1));
    return inputBias ? y + *inputBias : y;
  }
  Tensor ofState(const Tensor &state) const {
    Tensor y = matmul(state, swapaxes(stateWeight, 0, 1));
    return stateBias ? y + *stateBias : y;
  }
};

/// The next states, the first of which is what a step gives, from what x has a
/// part in and the states before.
using Step = std::vector<Tensor> (*)(const Cell &cell, const Tensor &ofInput,
                                     std::span<const Tensor> states);

} // namespace

//===- Steps --------------------------------------------------------------===//

/// One of `count` gates that stand side by side.
static Tensor gate(const Tensor &all, int64_t index, int64_t count) {
  int64_t axis = all.rank() - 1, size = fixed(all.dim(axis)) / count;
  return sliceAxis(all, axis, index * size, (index + 1) * size);
}

/// Gates in the order input, forget, cell, output.
static std::vector<Tensor> lstmStep(const Cell &cell, const Tensor &ofInput,
                                    std::span<const Tensor> states) {
  Tensor all = ofInput + cell.ofState(states[0]);
  Tensor next = sigmoid(gate(all, 1, 4)) * states[1] +
                sigmoid(gate(all, 0, 4)) * tanh(gate(all, 2, 4));
  Tensor given = sigmoid(gate(all, 3, 4)) * tanh(next);
  if (cell.projection)
    given = matmul(given, swapaxes(*cell.projection, 0, 1));
  return {given, next};
}

/// Gates in the order reset, update, new.
static std::vector<Tensor> gruStep(const Cell &cell, const Tensor &ofInput,
                                   std::span<const Tensor> states) {
  Tensor ofState = cell.ofState(states[0]);
  Tensor reset = sigmoid(gate(ofInput, 0, 3) + gate(ofState, 0, 3));
  Tensor update = sigmoid(gate(ofInput, 1, 3) + gate(ofState, 1, 3));
  Tensor fresh = tanh(gate(ofInput, 2, 3) + reset * gate(ofState, 2, 3));
  return {fresh + update * (states[0] - fresh)};
}

template <Tensor (*activation)(const Arg &)>
static std::vector<Tensor> plainStep(const Cell &cell, const Tensor &ofInput,
                                     std::span<const Tensor> states) {
  return {activation(ofInput + cell.ofState(states[0]))};
}

//===- Whole recurrences --------------------------------------------------===//

namespace {

class Recurrence {
public:
  Recurrence(Call &call, int64_t gates, Step step);
  void record();

private:
  Cell cellAt(size_t index) const;
  /// One direction: what each step gives; the last states are kept.
  Tensor direction(const Cell &cell, const Tensor &x, size_t index);
  void giveStates();

  Call &call;
  Step step;
  int64_t gates;
  std::vector<Tensor> initial; ///< [layers * directions, batch, size] each
  std::vector<Tensor> params;
  std::vector<std::vector<Tensor>> last; ///< of each kind of state
  size_t perCell = 0;
  double leftOut = 0; ///< which part, between layers
  bool hasBiases, isTwoWay, isBatchFirst;
  int64_t layers;
};

} // namespace

Recurrence::Recurrence(Call &call, int64_t gates, Step step)
    : call(call), step(step), gates(gates), params(tensorList(call, "params")),
      hasBiases(call.flag("has_biases", true)),
      isTwoWay(call.flag("bidirectional")),
      isBatchFirst(call.flag("batch_first")),
      layers(call.integer("num_layers", 1)) {
  if (call.value("hx").isList())
    initial = call.tensors("hx");
  else
    initial = {call.tensor("hx")};
  if (call.flag("train"))
    leftOut = call.real("dropout", 0);
  call.ignore({"dropout"});
  auto cells = size_t(layers) * (isTwoWay ? 2 : 1);
  constexpr int64_t mostLayers = 4096;
  if (layers < 1 || layers > mostLayers || params.size() % cells != 0)
    call.invalid(std::to_string(params.size()) + " weights of " +
                 std::to_string(cells) + " cells");
  perCell = params.size() / cells;
  size_t least = hasBiases ? 4 : 2;
  if (perCell != least && perCell != least + 1)
    call.invalid(std::to_string(perCell) + " weights for each cell");
  if (initial.size() != (gates == 4 ? 2 : 1))
    call.invalid(std::to_string(initial.size()) + " states");
  last.resize(initial.size());
}

Cell Recurrence::cellAt(size_t index) const {
  const Tensor *own = &params[index * perCell];
  Cell cell{own[0], own[1], {}, {}, {}};
  if (hasBiases) {
    cell.inputBias = own[2];
    cell.stateBias = own[3];
  }
  if (perCell % 2 == 1)
    cell.projection = own[perCell - 1];
  if (fixed(cell.inputWeight.dim(0)) % gates != 0)
    call.invalid("the weights are not those of gates");
  return cell;
}

Tensor Recurrence::direction(const Cell &cell, const Tensor &x, size_t index) {
  std::vector<Tensor> states;
  for (const Tensor &each : initial)
    states.push_back(select(each, 0, int64_t(index)));
  ScanOptions options;
  options.reverse = isTwoWay && index % 2 == 1;
  auto body = [&](std::span<const Tensor> before, std::span<const Tensor> xs) {
    std::vector<Tensor> next = step(cell, xs[0], before);
    return ScanStep{next, {next[0]}};
  };
  ScanResult result = scan(body, states, {cell.ofInput(x)}, options);
  for (size_t i = 0; i < last.size(); ++i)
    last[i].push_back(result.carries[i]);
  return result.ys[0];
}

void Recurrence::record() {
  Tensor x = call.tensor("input");
  if (x.rank() != 3)
    call.invalid("a tensor of rank " + std::to_string(x.rank()));
  if (isBatchFirst)
    x = swapaxes(x, 0, 1);
  size_t index = 0;
  for (int64_t layer = 0; layer < layers; ++layer) {
    Tensor y = direction(cellAt(index), x, index);
    ++index;
    if (isTwoWay) {
      y = concat({y, direction(cellAt(index), x, index)}, 2);
      ++index;
    }
    bool isLast = layer + 1 == layers;
    x = isLast || leftOut == 0 ? y : dropout(y, leftOut);
  }
  call.give(isBatchFirst ? swapaxes(x, 0, 1) : x);
  giveStates();
}

/// Older releases write of the states of an LSTM that they are
/// [cells, 1, batch, size], and give [cells, batch, size].
void Recurrence::giveStates() {
  for (size_t i = 0; i < last.size(); ++i) {
    Value state(stack(last[i]));
    const TensorRecord *record = call.outputRecord(i + 1);
    if (gates == 4 && record && record->sizes.size() == 4 &&
        record->sizes[1].number == 1) {
      TensorRecord meant = *record;
      meant.sizes.erase(meant.sizes.begin() + 1);
      state.isMisstated =
          call.recorder().isAsRecorded(state.stored->read(), meant);
    }
    call.give(std::move(state));
  }
}

static void lstmRule(Call &call) { Recurrence(call, 4, lstmStep).record(); }
static void gruRule(Call &call) { Recurrence(call, 3, gruStep).record(); }
static void tanhRule(Call &call) {
  Recurrence(call, 1, plainStep<tanh>).record();
}
static void reluRule(Call &call) {
  Recurrence(call, 1, plainStep<relu>).record();
}

//===- Single cells -------------------------------------------------------===//

template <Step step> static void cellRule(Call &call) {
  Cell cell{call.tensor("w_ih"),
            call.tensor("w_hh"),
            call.optionalTensor("b_ih"),
            call.optionalTensor("b_hh"),
            {}};
  std::vector<Tensor> states;
  if (call.value("hx").isList())
    states = call.tensors("hx");
  else
    states = {call.tensor("hx")};
  if (states.size() != (step == Step(lstmStep) ? 2 : 1))
    call.invalid(std::to_string(states.size()) + " states");
  for (const Tensor &next :
       step(cell, cell.ofInput(call.tensor("input")), states))
    call.give(next);
}

static constexpr Operator rows[] = {
    {"aten.lstm.input", lstmRule},
    {"aten.gru.input", gruRule},
    {"aten.rnn_tanh.input", tanhRule},
    {"aten.rnn_relu.input", reluRule},
    {"aten.lstm_cell.default", cellRule<lstmStep>},
    {"aten.gru_cell.default", cellRule<gruStep>},
    {"aten.rnn_tanh_cell.default", cellRule<plainStep<tanh>>},
    {"aten.rnn_relu_cell.default", cellRule<plainStep<relu>>},
};

std::span<const Operator> recurrentRows() { return rows; }

} // namespace sinter::torch
