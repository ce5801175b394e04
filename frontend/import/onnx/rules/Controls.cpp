/// If, Loop and Scan. Where the model's conditions are known when it is
/// recorded, branches and rounds are recorded as they come; where the model
/// computes them, they are a `cond` and a `while_loop`. What these cannot be,
/// as lists and rows of which nobody knows the number, is recorded as it comes
/// by conditions that are read, where something can be.
#include "frontend/CountedRows.h"
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/import/onnx/ModelRecorder.h"

#include <sinter/Control.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sinter::onnx {

/// Most rounds of a loop, which are recorded one by one.
static constexpr int64_t mostRounds = 100'000;

static bool flagIn(Call &call, const Known &known) {
  if (known.isReal() || known.size() != 1)
    call.invalid("the condition is not one boolean");
  return fixed(known.integers[0]) != 0;
}

/// A boolean that is known when the model is recorded; nothing for one that the
/// model computes.
static std::optional<bool> knownFlag(Call &call, const Value &condition) {
  if (condition.isNothing() || condition.isList())
    call.invalid("the condition is no tensor");
  KnownRef known = condition.known();
  if (!known)
    return std::nullopt;
  return flagIn(call, *known);
}

/// The same, read where the model computes it.
static bool readFlag(Call &call, const Value &condition) {
  return flagIn(call, *call.elementsOf(condition, "the condition"));
}

/// Records with `record`; false where that cannot be, but the model's values
/// can be read. A branch that is not taken, or a round that is not run, may be
/// what cannot be recorded.
template <typename F> static bool recordsUnread(F &&record) {
  if (!canEvaluate()) {
    record();
    return true;
  }
  try {
    record();
    return true;
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::unsupported &&
        error.kind() != ErrorKind::invalid_argument)
      throw;
    return false;
  }
}

/// A condition that the model computes, as a scalar.
static Tensor flagOf(Call &call, const Value &condition) {
  if (condition.isNothing() || condition.isList() ||
      condition.dtype() != DType::boolean)
    call.invalid("the condition is not one boolean");
  Tensor flag = condition.tensor(call.device());
  for (Dim dim : flag.shape())
    if (fixed(dim) != 1)
      call.invalid("the condition is not one boolean");
  return flag.reshape({});
}

/// What a graph in a condition gives: tensors of one type in all cases.
static std::vector<Tensor> tensorsOf(Call &call,
                                     const std::vector<Value> &values) {
  std::vector<Tensor> tensors;
  for (const Value &value : values) {
    if (value.isNothing() || value.isList())
      call.unsupported("a list or an optional that depends on a condition that "
                       "the model computes");
    tensors.push_back(value.tensor(call.device()));
  }
  return tensors;
}

static std::string typeOf(const Tensor &tensor) {
  return graph::typeString(*tensor.node());
}

//===- If -----------------------------------------------------------------===//

/// Both branches, of which the one that is taken runs.
static void branch(Call &call, const Tensor &flag) {
  std::vector<Tensor> first;
  auto record = [&](const char *name) {
    std::vector<Tensor> results =
        tensorsOf(call, call.recorder().call(*call.graph(name), {}));
    for (size_t i = 0; i < std::min(first.size(), results.size()); ++i)
      if (typeOf(first[i]) != typeOf(results[i]))
        call.unsupported(fmt::format(
            "the model computes the condition, and result {} is {} in one "
            "branch and {} in the other",
            i, typeOf(first[i]), typeOf(results[i])));
    first = results;
    return results;
  };
  std::vector<Tensor> results = cond(
      flag, [&](auto) { return record("then_branch"); },
      [&](auto) { return record("else_branch"); });
  for (size_t i = 0; i < results.size(); ++i)
    call.give(i, results[i]);
}

/// Rows of the one or the other, where these may be of different numbers.
static Tensor chosenRows(Call &call, const Tensor &flag, const Tensor &then,
                         const Tensor &otherwise) {
  if (typeOf(then) == typeOf(otherwise))
    return where(flag, then, otherwise);
  bool fits = then.dtype() == otherwise.dtype() &&
              then.rank() == otherwise.rank() && then.rank() > 0;
  for (int64_t axis = 1; fits && axis < then.rank(); ++axis)
    fits = then.dim(axis).value == otherwise.dim(axis).value;
  if (!fits)
    call.unsupported(fmt::format("the model computes the condition, and a "
                                 "result is {} in one branch and {} in the "
                                 "other",
                                 typeOf(then), typeOf(otherwise)));
  DeviceId device = then.device();
  Tensor first = detail::sizeTensor(then.dim(0), device),
         second = detail::sizeTensor(otherwise.dim(0), device);
  Tensor both = concat({then, otherwise}, 0);
  Tensor places = arange(both.dim(0), {DType::i64, device}) +
                  where(flag, zeros_like(first), first);
  Tensor rows = index_select(both, minimum(places, first + second - 1), 0);
  return detail::countedRows(rows, where(flag, first, second),
                             SourceLine::current());
}

/// Both branches are computed, and one is chosen: in them, too, values may
/// decide sizes.
static void branchOfCounts(Call &call, const Tensor &flag) {
  auto results = [&](const char *name) {
    return tensorsOf(call, call.recorder().call(*call.graph(name), {}));
  };
  std::vector<Tensor> then = results("then_branch"),
                      otherwise = results("else_branch");
  for (size_t i = 0; i < std::min(then.size(), otherwise.size()); ++i)
    call.give(i, chosenRows(call, flag, then[i], otherwise[i]));
}

/// Records the branches as a `cond`; false where they are none.
static bool isBranch(Call &call, const Tensor &flag) {
  try {
    branch(call, flag);
    return true;
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::unsupported)
      throw;
    return false;
  } catch (const NeedsNumbers &) {
    return false;
  }
}

static void ifRule(Call &call) {
  const Value &condition = call.value(0);
  std::optional<bool> isThen = knownFlag(call, condition);
  if (!isThen) {
    Tensor flag = flagOf(call, condition);
    if (detail::leavesCountsOpen()) {
      if (!isBranch(call, flag))
        branchOfCounts(call, flag);
      return;
    }
    if (recordsUnread([&] { branch(call, flag); }))
      return;
    isThen = readFlag(call, condition);
  }
  const GraphRecord *taken =
      call.graph(*isThen ? "then_branch" : "else_branch");
  std::vector<Value> results = call.recorder().call(*taken, {});
  for (size_t i = 0; i < results.size(); ++i)
    call.give(i, std::move(results[i]));
}

//===- Loop ---------------------------------------------------------------===//

namespace {

/// One Loop node.
class LoopNode {
public:
  explicit LoopNode(Call &call)
      : call(call), body(*call.graph("body")),
        numCarried(call.numInputs() < 2 ? 0 : call.numInputs() - 2) {}

  void record();

private:
  /// Rounds one by one; false where a condition is not known, unless it `reads`
  /// those.
  bool unroll(bool reads);
  /// What each round kept, and a tensor without rows where there was none.
  Tensor rowsOf(const std::vector<Tensor> &kept, size_t output) const;
  void loop();
  std::vector<Value> round(Value number, Value condition,
                           std::span<const Value> carried) const;
  std::vector<Tensor> nextOf(std::span<const Tensor> carries) const;

  Call &call;
  const GraphRecord &body;
  size_t numCarried;
  std::vector<Value> init;
  std::optional<int64_t> rounds; ///< most; nothing where it is not known
};

} // namespace

std::vector<Value> LoopNode::round(Value number, Value condition,
                                   std::span<const Value> carried) const {
  std::vector<Value> inputs{std::move(number), std::move(condition)};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  return call.recorder().call(body, std::move(inputs));
}

Tensor LoopNode::rowsOf(const std::vector<Tensor> &kept, size_t output) const {
  if (!kept.empty())
    return stack(kept, 0);
  const TypeRecord &type = body.outputs[output].type;
  Dims shape{0};
  bool isKnown = type.kind == TypeRecord::Kind::tensor && type.shape;
  if (isKnown)
    for (const AxisRecord &axis : *type.shape) {
      isKnown = isKnown && axis.size && *axis.size >= 0;
      shape.emplace_back(axis.size.value_or(0));
    }
  std::optional<DType> dtype = computedAs(type.element);
  if (!isKnown || !dtype)
    call.unsupported("a loop without rounds that keeps what rounds give");
  return zeros(shape, {dtype, call.device()});
}

bool LoopNode::unroll(bool reads) {
  auto flag = [&](const Value &condition) -> std::optional<bool> {
    if (reads)
      return readFlag(call, condition);
    return knownFlag(call, condition);
  };
  std::optional<bool> goesOn = call.has(1) ? flag(call.value(1)) : true;
  if (!goesOn || !rounds)
    return false;
  std::vector<Value> carried = init;
  std::vector<std::vector<Tensor>> kept(body.outputs.size() - numCarried - 1);
  for (int64_t number = 0; *goesOn && number < *rounds; ++number) {
    if (number >= mostRounds)
      call.unsupported("so many rounds");
    std::vector<Value> results =
        round(Value(knownNumber(DType::i64, number)),
              Value(knownNumber(DType::boolean, 1)), carried);
    goesOn = flag(results[0]);
    if (!goesOn)
      return false;
    for (size_t i = 0; i < numCarried; ++i)
      carried[i] = results[i + 1];
    for (size_t i = 0; i < kept.size(); ++i)
      kept[i].push_back(results[numCarried + 1 + i].tensor(call.device()));
  }
  for (size_t i = 0; i < numCarried; ++i)
    call.give(i, carried[i]);
  for (size_t i = 0; i < kept.size(); ++i)
    call.give(numCarried + i, rowsOf(kept[i], numCarried + 1 + i));
  return true;
}

/// The next of the number of the round, the condition and what is carried.
std::vector<Tensor> LoopNode::nextOf(std::span<const Tensor> carries) const {
  std::vector<Value> carried(carries.begin() + 2, carries.end());
  std::vector<Value> results = round(carries[0], carries[1], carried);
  std::vector<Tensor> next{carries[0] + 1, flagOf(call, results[0])};
  results.erase(results.begin());
  for (Tensor &tensor : tensorsOf(call, results))
    next.push_back(std::move(tensor));
  for (size_t i = 2; i < next.size(); ++i)
    if (typeOf(next[i]) != typeOf(carries[i]))
      call.unsupported(fmt::format(
          "the model computes how many rounds there are, and value {} changes "
          "from {} to {}",
          i - 2, typeOf(carries[i]), typeOf(next[i])));
  return next;
}

/// As a while_loop, whose condition and number of rounds the model computes.
void LoopNode::loop() {
  if (body.outputs.size() != numCarried + 1)
    call.unsupported(
        "the model computes how many rounds there are, and results "
        "have as many rows");
  Tensor number = tensorOf(knownNumber(DType::i64, 0), call.device());
  Tensor goesOn = call.has(1)
                      ? flagOf(call, call.value(1))
                      : tensorOf(knownNumber(DType::boolean, 1), call.device());
  std::vector<Tensor> first{number, goesOn};
  for (Tensor &tensor : tensorsOf(call, init))
    first.push_back(std::move(tensor));
  Tensor most; // that the model computes
  WhileOptions options;
  if (rounds && call.has(0))
    options.max_rounds = std::clamp<int64_t>(*rounds, 0, INT32_MAX);
  else if (call.has(0))
    most = call.tensor(0).reshape({}).to(DType::i64);
  std::vector<Tensor> last = while_loop(
      [&](std::span<const Tensor> carries) {
        return most.defined() ? carries[1] && carries[0] < most : carries[1];
      },
      [&](std::span<const Tensor> carries) { return nextOf(carries); }, first,
      options);
  for (size_t i = 0; i < numCarried; ++i)
    call.give(i, last[i + 2]);
}

void LoopNode::record() {
  if (body.inputs.size() != numCarried + 2 ||
      body.outputs.size() < numCarried + 1)
    call.invalid("the body does not fit the node");
  for (size_t i = 0; i < numCarried; ++i)
    init.push_back(call.has(i + 2) ? call.value(i + 2) : Value());
  if (!call.has(0))
    rounds = mostRounds + 1;
  else if (call.value(0).known())
    rounds = call.integer(0, "the number of rounds");
  if (unroll(false) || recordsUnread([&] { loop(); }))
    return;
  if (!rounds)
    rounds = call.integer(0, "the number of rounds");
  unroll(true);
}

static void loopRule(Call &call) { LoopNode(call).record(); }

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
