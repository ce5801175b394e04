/// If, Loop and Scan: branches and loops whose conditions are read, if need be,
/// when the model is recorded.
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/import/onnx/ModelRecorder.h"

#include <algorithm>

namespace sinter::onnx {

/// Most rounds of a loop, which are recorded one by one.
static constexpr int64_t mostRounds = 100'000;

static bool holds(Call &call, const Value &condition, const char *what) {
  KnownRef known = call.elementsOf(condition, what);
  if (known->isReal() || known->size() != 1)
    call.invalid(std::string(what) + " is no flag");
  return fixed(known->integers[0]) != 0;
}

static void ifRule(Call &call) {
  bool isThen = holds(call, call.value(0), "the condition");
  const GraphRecord *branch =
      call.graph(isThen ? "then_branch" : "else_branch");
  std::vector<Value> results = call.recorder().call(*branch, {});
  for (size_t i = 0; i < results.size(); ++i)
    call.give(i, std::move(results[i]));
}

static void loopRule(Call &call) {
  const GraphRecord &body = *call.graph("body");
  int64_t rounds =
      call.has(0) ? call.integer(0, "the number of rounds") : mostRounds + 1;
  bool goesOn = !call.has(1) || holds(call, call.value(1), "the condition");
  size_t numCarried = call.numInputs() < 2 ? 0 : call.numInputs() - 2;
  if (body.inputs.size() != numCarried + 2 ||
      body.outputs.size() < numCarried + 1)
    call.invalid("the body does not fit the node");
  std::vector<Value> carried;
  for (size_t i = 0; i < numCarried; ++i)
    carried.push_back(call.has(i + 2) ? call.value(i + 2) : Value());
  std::vector<std::vector<Tensor>> kept(body.outputs.size() - numCarried - 1);
  for (int64_t round = 0; goesOn && round < rounds; ++round) {
    if (round >= mostRounds)
      call.unsupported("so many rounds");
    std::vector<Value> inputs{Value(knownNumber(DType::i64, round)),
                              Value(knownNumber(DType::boolean, 1))};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    std::vector<Value> results = call.recorder().call(body, std::move(inputs));
    goesOn = holds(call, results[0], "the condition of the next round");
    for (size_t i = 0; i < numCarried; ++i)
      carried[i] = results[i + 1];
    for (size_t i = 0; i < kept.size(); ++i)
      kept[i].push_back(results[numCarried + 1 + i].tensor(call.device()));
  }
  for (size_t i = 0; i < numCarried; ++i)
    call.give(i, carried[i]);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].empty())
      call.unsupported("a loop without rounds that keeps what rounds give");
    call.give(numCarried + i, stack(kept[i], 0));
  }
}

//===- Scan ---------------------------------------------------------------===//

static std::vector<int64_t> listOr(Call &call, const char *name, size_t count) {
  std::vector<int64_t> list = call.integers(name);
  list.resize(std::max(list.size(), count), 0);
  return list;
}

/// One batch: `states` and `xs` are the operands.
static std::pair<std::vector<Value>, std::vector<std::vector<Tensor>>>
scanned(Call &call, std::vector<Value> states, const std::vector<Tensor> &xs,
        const char *directionName, const std::vector<int64_t> &axes) {
  const GraphRecord &body = *call.graph("body");
  auto directions = listOr(call, directionName, xs.size());
  if (xs.empty() || body.inputs.size() != states.size() + xs.size() ||
      body.outputs.size() < states.size())
    call.invalid("the body does not fit the node");
  int64_t length = fixed(xs[0].dim(axes[0]));
  if (length > mostRounds)
    call.unsupported("so many steps");
  std::vector<std::vector<Tensor>> kept(body.outputs.size() - states.size());
  for (int64_t step = 0; step < length; ++step) {
    std::vector<Value> inputs = states;
    for (size_t i = 0; i < xs.size(); ++i) {
      if (fixed(xs[i].dim(axes[i])) != length)
        call.invalid("the sequences have different lengths");
      int64_t at = directions[i] == 0 ? step : length - 1 - step;
      inputs.emplace_back(select(xs[i], axes[i], at));
    }
    std::vector<Value> results = call.recorder().call(body, std::move(inputs));
    for (size_t i = 0; i < kept.size(); ++i)
      kept[i].push_back(results[states.size() + i].tensor(call.device()));
    for (size_t i = 0; i < states.size(); ++i)
      states[i] = results[i];
  }
  return {std::move(states), std::move(kept)};
}

static Tensor stacked(Call &call, std::vector<Tensor> parts, int64_t direction,
                      int64_t axis) {
  if (parts.empty())
    call.unsupported("a scan without steps");
  if (direction != 0)
    std::ranges::reverse(parts);
  int64_t rank = parts[0].rank() + 1;
  return stack(parts, call.axisOf(axis, rank));
}

static void scanRule(Call &call) {
  int64_t numXs = call.integer("num_scan_inputs");
  if (numXs < 1 || numXs > int64_t(call.numInputs()))
    call.invalid("num_scan_inputs is " + std::to_string(numXs));
  size_t numStates = call.numInputs() - size_t(numXs);
  std::vector<Value> states;
  for (size_t i = 0; i < numStates; ++i)
    states.push_back(call.value(i));
  std::vector<Tensor> xs;
  std::vector<int64_t> axes = listOr(call, "scan_input_axes", size_t(numXs));
  for (size_t i = 0; i < size_t(numXs); ++i) {
    xs.push_back(call.tensor(numStates + i));
    axes[i] = call.axisOf(axes[i], xs[i].rank());
  }
  auto [last, kept] =
      scanned(call, std::move(states), xs, "scan_input_directions", axes);
  auto directions = listOr(call, "scan_output_directions", kept.size());
  auto outputAxes = listOr(call, "scan_output_axes", kept.size());
  for (size_t i = 0; i < last.size(); ++i)
    call.give(i, last[i]);
  for (size_t i = 0; i < kept.size(); ++i)
    call.give(numStates + i,
              stacked(call, kept[i], directions[i], outputAxes[i]));
}

/// Version 8: the first axis is the batch's, the second the sequence's.
static void oldScanRule(Call &call) {
  int64_t numXs = call.integer("num_scan_inputs");
  if (call.has(0))
    call.unsupported("lengths of sequences");
  if (numXs < 1 || numXs >= int64_t(call.numInputs()))
    call.invalid("num_scan_inputs is " + std::to_string(numXs));
  size_t numStates = call.numInputs() - 1 - size_t(numXs);
  int64_t batch = fixed(call.tensor(call.numInputs() - 1).dim(0));
  std::vector<std::vector<Tensor>> results(call.numOutputs());
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Value> states;
    std::vector<Tensor> xs;
    for (size_t i = 0; i < numStates + size_t(numXs); ++i) {
      Tensor own = select(call.tensor(i + 1), 0, b);
      if (i < numStates)
        states.emplace_back(own);
      else
        xs.push_back(own);
    }
    std::vector<int64_t> axes(xs.size(), 0);
    auto [last, kept] =
        scanned(call, std::move(states), xs, "directions", axes);
    if (last.size() + kept.size() < results.size())
      call.invalid("the body does not fit the node");
    for (size_t i = 0; i < results.size(); ++i)
      results[i].push_back(i < numStates
                               ? last[i].tensor(call.device())
                               : stacked(call, kept[i - numStates], 0, 0));
  }
  for (size_t i = 0; i < results.size(); ++i)
    call.give(i, stack(results[i], 0));
}

static constexpr Operator rows[] = {
    {"If", 1, 0, "then_branch:graph! else_branch:graph!", ifRule},
    {"Loop", 1, 0, "body:graph!", loopRule},
    {"Scan", 8, 8, "body:graph! directions:ints num_scan_inputs:int!",
     oldScanRule},
    {"Scan", 9, 0,
     "body:graph! num_scan_inputs:int! scan_input_axes:ints "
     "scan_input_directions:ints scan_output_axes:ints "
     "scan_output_directions:ints",
     scanRule},
};

std::span<const Operator> controlRows() { return rows; }

} // namespace sinter::onnx
