/// Branches, loops, and graphs in nodes.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/import/torch/ProgramRecorder.h"

#include <sinter/Control.h>
#include <sinter/Scan.h>
#include <sinter/Transforms.h>

namespace sinter::torch {

static std::vector<Tensor> tensorsOf(Call &call,
                                     const std::vector<Value> &values) {
  requireFew(call, int64_t(values.size()), "results", mostOfList);
  std::vector<Tensor> tensors;
  for (const Value &value : values) {
    if (value.isTensor())
      tensors.push_back(value.stored->read());
    else if (value.isNumber())
      tensors.push_back(asTensor(call, value, promoted({&value})));
    else
      call.unsupported("a result that is " + nameOf(value.kind));
  }
  return tensors;
}

static std::vector<Value> valuesOf(std::span<const Tensor> tensors) {
  return {tensors.begin(), tensors.end()};
}

static Value listOf(std::vector<Tensor> tensors) {
  return Value::ofList(valuesOf(tensors));
}

static const std::vector<Value> &operandsOf(Call &call, size_t position) {
  const Value &operands = call.at(position);
  if (!operands.isList())
    call.invalid("operands that are no list");
  requireFew(call, int64_t(operands.list.size()), "operands", mostOfList);
  return operands.list;
}

static const GraphRecord &graphAt(Call &call, size_t position) {
  const Value &value = call.at(position);
  if (value.kind != Value::Kind::graph)
    call.invalid("an argument is no graph");
  return *value.graph;
}

/// What a branch or a loop is given besides tensors stands in the graph as it
/// is: sizes, say.
static std::vector<Value> merged(const std::vector<Value> &operands,
                                 std::span<const Tensor> tensors) {
  std::vector<Value> values;
  size_t next = 0;
  for (const Value &operand : operands)
    values.push_back(operand.isTensor() ? Value(tensors[next++]) : operand);
  return values;
}
static std::vector<Tensor> tensorsAmong(const std::vector<Value> &operands) {
  std::vector<Tensor> tensors;
  for (const Value &operand : operands)
    if (operand.isTensor())
      tensors.push_back(operand.stored->read());
  return tensors;
}

//===- Branches -----------------------------------------------------------===//

/// A predicate that the host knows takes its branch alone.
static void condRule(Call &call) {
  const Value &predicate = call.at(0);
  const GraphRecord &then = graphAt(call, 1), &otherwise = graphAt(call, 2);
  static const auto &none = *new std::vector<Value>();
  const std::vector<Value> &operands =
      call.numArguments() > 3 ? operandsOf(call, 3) : none;
  if (!predicate.isTensor()) {
    bool isTrue = numberOf(call, predicate).asReal() != 0;
    call.give(Value::ofList(
        call.recorder().call(isTrue ? then : otherwise, operands)));
    return;
  }
  auto branch = [&](const GraphRecord &graph) {
    return [&](std::span<const Tensor> tensors) {
      return tensorsOf(call,
                       call.recorder().call(graph, merged(operands, tensors)));
    };
  };
  Tensor decides = predicate.stored->read();
  if (decides.dtype() != DType::boolean)
    decides = decides != 0;
  call.give(listOf(cond(reshape(decides, {}), branch(then), branch(otherwise),
                        tensorsAmong(operands))));
}

//===- Loops --------------------------------------------------------------===//

/// while_loop(condition, body, carried, additional).
static void whileRule(Call &call) {
  const GraphRecord &condition = graphAt(call, 0), &body = graphAt(call, 1);
  std::vector<Value> carried = operandsOf(call, 2);
  std::vector<Value> extra;
  if (call.numArguments() > 3)
    extra = operandsOf(call, 3);
  // Numbers change from round to round: they are tensors here.
  std::vector<bool> isNumber;
  for (Value &value : carried) {
    isNumber.push_back(!value.isTensor());
    if (!value.isTensor())
      value = Value(asTensor(call, value, promoted({&value})));
  }
  for (bool each : isNumber)
    if (each)
      call.unsupported("a number that a loop carries on");
  auto inputs = [&](std::span<const Tensor> tensors) {
    std::vector<Value> values = valuesOf(tensors);
    values.insert(values.end(), extra.begin(), extra.end());
    return values;
  };
  auto goesOn = [&](std::span<const Tensor> tensors) {
    std::vector<Tensor> result =
        tensorsOf(call, call.recorder().call(condition, inputs(tensors)));
    if (result.size() != 1)
      call.invalid("a condition of several results");
    return reshape(result[0], {});
  };
  auto round = [&](std::span<const Tensor> tensors) {
    return tensorsOf(call, call.recorder().call(body, inputs(tensors)));
  };
  call.give(listOf(while_loop(goesOn, round, tensorsAmong(carried))));
}

/// map_impl(graph, xs, others): the graph for each slice of xs, stacked.
static void mapRule(Call &call) {
  const GraphRecord &graph = graphAt(call, 0);
  std::vector<Tensor> xs = tensorsAmong(operandsOf(call, 1));
  std::vector<Value> others;
  if (call.numArguments() > 2)
    others = operandsOf(call, 2);
  if (xs.empty() || xs[0].rank() == 0)
    call.invalid("nothing to map over");
  int64_t count = fixed(xs[0].dim(0));
  constexpr int64_t most = 4096;
  if (count < 1 || count > most)
    call.unsupported("a map over " + std::to_string(count) + " slices");
  requireFew(call, int64_t(xs.size()) * count, "slices", mostOfList);
  std::vector<std::vector<Tensor>> results;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Value> inputs;
    for (const Tensor &x : xs)
      inputs.emplace_back(select(x, 0, i));
    inputs.insert(inputs.end(), others.begin(), others.end());
    std::vector<Tensor> slice =
        tensorsOf(call, call.recorder().call(graph, std::move(inputs)));
    requireFew(call, int64_t(slice.size()) * count, "slices of results",
               mostOfList);
    results.resize(slice.size());
    for (size_t k = 0; k < slice.size(); ++k)
      results[k].push_back(std::move(slice[k]));
  }
  std::vector<Value> all;
  for (const std::vector<Tensor> &each : results)
    all.emplace_back(stack(each));
  call.give(Value::ofList(std::move(all)));
}

/// scan(graph, init, xs, others): carries and a slice of each of xs become the
/// next carries and what is stacked.
static void scanRule(Call &call) {
  const GraphRecord &graph = graphAt(call, 0);
  std::vector<Tensor> init = tensorsAmong(operandsOf(call, 1));
  std::vector<Tensor> xs = tensorsAmong(operandsOf(call, 2));
  std::vector<Value> others;
  if (call.numArguments() > 3)
    others = operandsOf(call, 3);
  auto body = [&](std::span<const Tensor> carries,
                  std::span<const Tensor> slices) {
    std::vector<Value> inputs = valuesOf(carries);
    inputs.insert(inputs.end(), slices.begin(), slices.end());
    inputs.insert(inputs.end(), others.begin(), others.end());
    std::vector<Tensor> all =
        tensorsOf(call, call.recorder().call(graph, std::move(inputs)));
    if (all.size() < carries.size())
      call.invalid("a step gives less than it carries on");
    auto middle = all.begin() + int64_t(carries.size());
    return ScanStep{{all.begin(), middle}, {middle, all.end()}};
  };
  ScanResult result = scan(body, init, xs);
  std::vector<Value> all = valuesOf(result.carries);
  std::vector<Value> stacked = valuesOf(result.ys);
  all.insert(all.end(), stacked.begin(), stacked.end());
  call.give(Value::ofList(std::move(all)));
}

/// with_effects(token, operator, ...): in what order it is done. Of operators
/// that only check values, nothing is left but the token.
static void effectsRule(Call &call) {
  std::string name = call.at(1).text;
  for (size_t i = 0; i < call.numArguments(); ++i)
    call.at(i);
  if (name != "torch.ops.aten._linalg_check_errors.default" &&
      name != "torch.ops.aten._assert_async.msg" &&
      name != "torch.ops.aten._assert_scalar.default")
    call.unsupported("an effect of " + name);
  call.give(call.at(0));
}

//===- Scopes -------------------------------------------------------------===//

/// A graph that is called with gradients on or off.
static void gradScopeRule(Call &call) {
  bool isOn = numberOf(call, call.at(0)).asReal() != 0;
  const GraphRecord &graph = graphAt(call, 1);
  std::vector<Value> operands;
  for (size_t i = 2; i < call.numArguments(); ++i)
    operands.push_back(call.at(i));
  std::optional<no_grad> guard;
  if (!isOn)
    guard.emplace();
  call.give(Value::ofList(call.recorder().call(graph, std::move(operands))));
}

/// wrap_with_autocast(device, dtype, enabled, cache, graph, ...): the casts
/// stand in the graph.
static void autocastRule(Call &call) {
  for (size_t i = 0; i < 4; ++i)
    call.at(i);
  const GraphRecord &graph = graphAt(call, 4);
  std::vector<Value> operands;
  for (size_t i = 5; i < call.numArguments(); ++i)
    operands.push_back(call.at(i));
  call.give(Value::ofList(call.recorder().call(graph, std::move(operands))));
}

static constexpr Operator rows[] = {
    {"higher_order.cond", condRule},
    {"higher_order.while_loop", whileRule},
    {"higher_order.map_impl", mapRule},
    {"higher_order.scan", scanRule},
    {"higher_order.with_effects", effectsRule},
    {"higher_order.wrap_with_set_grad_enabled", gradScopeRule},
    {"higher_order.wrap_with_autocast", autocastRule},
};

std::span<const Operator> controlRows() { return rows; }

} // namespace sinter::torch
