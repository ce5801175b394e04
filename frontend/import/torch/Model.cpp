/// Model: what is recorded on the inputs of a call.
#include <sinter/Torch.h>

#include "frontend/DeviceScope.h"
#include "frontend/FixedDims.h"
#include "frontend/Raise.h"
#include "frontend/State.h"
#include "frontend/import/torch/Expressions.h"
#include "frontend/import/torch/LoadedProgram.h"
#include "frontend/import/torch/ProgramRecorder.h"
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/SourceScope.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sinter::torch {

using detail::held;
using Is = ArgumentRecord::Kind;
using Kind = SpecRecord::Kind;

const std::vector<ValueInfo> &Model::inputs() const {
  return held(loaded, "torch model").inputs;
}
const std::vector<ValueInfo> &Model::outputs() const {
  return held(loaded, "torch model").outputs;
}
const std::string &Model::name() const {
  return held(loaded, "torch model").name;
}
const std::vector<std::string> &Model::notes() const {
  return held(loaded, "torch model").notes;
}

//===- Inputs -------------------------------------------------------------===//

[[noreturn]] static void refuse(const LoadedProgram &model,
                                const std::string &what,
                                const SourceLine &where,
                                ErrorKind kind = ErrorKind::invalid_argument) {
  detail::raise(makeError(kind, fmt::format("torch: {}: {}", model.name, what)),
                where);
}

static std::string typeOf(const Tensor &tensor) {
  return tensor.defined() ? graph::typeString(*tensor.node())
                          : "an empty tensor";
}

namespace {
/// Finds what symbols are by the sizes of inputs, and whether these agree.
class SizeCheck {
public:
  SizeCheck(const LoadedProgram &model, const NamedTensors &inputs,
            const SourceLine &where)
      : model(model), inputs(inputs), where(where) {}

  void run() {
    for (const ValueInfo &info : model.inputs)
      for (size_t axis = 0; axis < info.shape.size(); ++axis)
        if (isSymbol(info.shape[axis].name))
          bind(info, axis);
    for (const ValueInfo &info : model.inputs)
      for (size_t axis = 0; axis < info.shape.size(); ++axis)
        compare(info, axis);
  }

private:
  int64_t sizeOf(const ValueInfo &info, size_t axis) const {
    return inputs.at(info.name).dim(int64_t(axis)).value;
  }
  void bind(const ValueInfo &info, size_t axis) {
    const Axis &described = info.shape[axis];
    int64_t size = sizeOf(info, axis);
    symbols.emplace(described.name, size);
    bool isLess = described.least && size < *described.least;
    bool isMore = described.most && size > *described.most;
    if (isLess || isMore)
      refuse(model,
             fmt::format("axis {} of input '{}' is {}, the program was made "
                         "for {}",
                         axis, info.name, size,
                         isLess ? fmt::format("at least {}", *described.least)
                                : fmt::format("at most {}", *described.most)),
             where);
  }
  /// An expression of symbols that no input has alone is not checked.
  void compare(const ValueInfo &info, size_t axis) const {
    const std::string &name = info.shape[axis].name;
    if (name.empty())
      return;
    std::optional<int64_t> wanted = evaluate(name, symbols);
    if (wanted && *wanted != sizeOf(info, axis))
      refuse(model,
             fmt::format("axis {} of input '{}' is {}, but {} is {} here", axis,
                         info.name, sizeOf(info, axis), name, *wanted),
             where);
  }

  const LoadedProgram &model;
  const NamedTensors &inputs;
  const SourceLine &where;
  std::map<std::string, int64_t, std::less<>> symbols;
};
} // namespace

static bool isOfType(const Tensor &tensor, const ValueInfo &info) {
  if (!tensor.defined() || info.dtype != tensor.dtype() ||
      tensor.rank() != int64_t(info.shape.size()))
    return false;
  for (size_t i = 0; i < info.shape.size(); ++i) {
    std::optional<int64_t> size = info.shape[i].size;
    if (size && *size != tensor.dim(int64_t(i)).value)
      return false;
  }
  return true;
}

static void checkInputs(const LoadedProgram &model, const NamedTensors &inputs,
                        const SourceLine &where) {
  for (const ValueInfo &info : model.inputs) {
    auto given = inputs.find(info.name);
    if (given == inputs.end())
      refuse(model, fmt::format("input '{}' is missing", info.name), where);
    if (!isOfType(given->second, info))
      refuse(model,
             fmt::format("input '{}' is {}, the program wants {}", info.name,
                         typeOf(given->second), info.type),
             where);
  }
  for (const auto &[name, tensor] : inputs)
    if (!std::ranges::count(model.inputs, name, &ValueInfo::name))
      refuse(model, fmt::format("there is no input '{}'", name), where);
  SizeCheck(model, inputs, where).run();
}

//===- Recording ----------------------------------------------------------===//

namespace {
/// What a program is recorded with.
struct Parts {
  const LoadedProgram &model;
  const NamedParams &parameters;
  const std::map<std::string, Tensor> &constants;
  const NamedTensors &inputs;
  bool areFixed; ///< sizes of inputs are numbers
};

/// One recording: outputs, and what becomes of buffers.
class Recording {
public:
  explicit Recording(const Parts &parts)
      : parts(parts), device(deviceOf(parts)) {}

  NamedTensors run();
  /// After that: buffers get their new values.
  void commit() const;

private:
  static DeviceId deviceOf(const Parts &parts);
  Value initial(const SpecRecord &spec, const std::string &name) const;
  Value input(const std::string &name, Is kind) const;
  ProgramRecorder::Symbols symbols() const;
  void keepChanges(const SpecRecord &spec, const std::string &name,
                   const StoredRef &stored, uint64_t version);
  void give(size_t index, const Value &value);
  void keep(const std::string &target, const Tensor &value);
  Tensor tensorOf(const Value &value) const;

  const Parts &parts;
  DeviceId device;
  NamedTensors outputs;
  std::map<std::string, Tensor> changed; ///< parameters and buffers
};
} // namespace

DeviceId Recording::deviceOf(const Parts &parts) {
  for (const auto &[name, tensor] : parts.inputs)
    return tensor.device();
  for (const auto &[name, param] : parts.parameters)
    return param.device();
  return default_device();
}

Value Recording::input(const std::string &name, Is kind) const {
  const Tensor &given = parts.inputs.at(name);
  if (kind == Is::symInt)
    return Value::ofInteger(given.item<int64_t>());
  if (!parts.areFixed || given.rank() == 0)
    return Value(given);
  return Value(
      Tensor(detail::unwrap(detail::withNumbers(detail::usedForm(given.node()),
                                                0, size_t(given.rank())),
                            {})));
}

/// Sizes that inputs have alone.
ProgramRecorder::Symbols Recording::symbols() const {
  ProgramRecorder::Symbols symbols;
  for (const ValueInfo &info : parts.model.inputs)
    for (size_t axis = 0; axis < info.shape.size(); ++axis) {
      const std::string &name = info.shape[axis].name;
      Dim size = parts.inputs.at(info.name).dim(int64_t(axis));
      if (isSymbol(name))
        symbols.emplace(name, parts.areFixed ? Dim(size.value) : size);
    }
  return symbols;
}

/// Running statistics are as what was recorded before leaves them.
Value Recording::initial(const SpecRecord &spec,
                         const std::string &name) const {
  if (!name.empty())
    return input(name, spec.value.kind);
  if (const Param *param = parts.parameters.find(spec.target))
    return Value(spec.kind == Kind::buffer
                     ? detail::latestValue(param->cell(), SourceLine())
                     : param->tensor());
  auto constant = parts.constants.find(spec.target);
  return constant == parts.constants.end() ? Value() : Value(constant->second);
}

void Recording::keep(const std::string &target, const Tensor &value) {
  changed.insert_or_assign(target, value.detach());
}

Tensor Recording::tensorOf(const Value &value) const {
  if (value.isTensor())
    return value.stored->read();
  if (value.isInteger())
    return sizeTensor(value.integer, device);
  if (value.kind == Value::Kind::boolean)
    return full({}, value.isTrue, {DType::boolean, device});
  return full({}, value.real, {DType::f64, device});
}

void Recording::give(size_t index, const Value &value) {
  const SpecRecord &spec = parts.model.record.outputs[index];
  const std::string &name = parts.model.outputNames[index];
  bool isKept =
      spec.kind == Kind::bufferMutation || spec.kind == Kind::parameterMutation;
  if (isKept && !value.isTensor())
    refuse(parts.model,
           fmt::format("what '{}' becomes is no tensor", spec.target), {},
           ErrorKind::io);
  if (isKept)
    keep(spec.target, value.stored->read());
  else if (!name.empty() && !value.isNone())
    outputs.insert_or_assign(name, tensorOf(value));
}

/// What nodes changed in place.
void Recording::keepChanges(const SpecRecord &spec, const std::string &name,
                            const StoredRef &stored, uint64_t version) {
  if (!stored || stored->version() == version)
    return;
  if (!name.empty())
    outputs.emplace(name, stored->read());
  else if (parts.parameters.find(spec.target))
    keep(spec.target, stored->read());
}

NamedTensors Recording::run() {
  detail::DeviceScope onDevice(device);
  const ProgramRecord &program = parts.model.record;
  ProgramRecorder recorder(parts.model.name, device);
  if (parts.areFixed)
    recorder.expectNumbers();
  recorder.setSymbols(symbols());
  Scope scope;
  std::vector<StoredRef> stored;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    Value value = initial(program.inputs[i], parts.model.inputNames[i]);
    stored.push_back(value.stored);
    const std::string &name = program.inputs[i].value.text;
    bool isToken = program.inputs[i].kind == Kind::token;
    if (!name.empty() && (isToken || !value.isNone()))
      scope.insert_or_assign(name, std::move(value));
  }
  std::vector<Value> results = recorder.record(program.graph, scope);
  for (size_t i = 0; i < results.size(); ++i)
    give(i, results[i]);
  for (size_t i = 0; i < stored.size(); ++i)
    keepChanges(program.inputs[i], parts.model.inputNames[i], stored[i], 0);
  return std::move(outputs);
}

void Recording::commit() const {
  for (const auto &[target, value] : changed)
    if (const Param *param = parts.parameters.find(target))
      detail::updateCell(param->cell(), value, SourceLine::current());
}

NamedTensors Model::run(const NamedTensors &inputs, Where where) const try {
  const LoadedProgram &model = held(loaded, "torch model", where);
  checkInputs(model, inputs, where);
  detail::SourceScope scope(where);
  for (bool areFixed : {false, true}) {
    Parts parts{model, parameters, constants, inputs, areFixed};
    Recording recording(parts);
    try {
      NamedTensors outputs = recording.run();
      recording.commit();
      return outputs;
    } catch (const NeedsNumbers &) {
      if (areFixed)
        break;
    }
  }
  refuse(model, "a size that only a run tells is needed before it", where,
         ErrorKind::unsupported);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Model::forward(const Tensor &x) const {
  const LoadedProgram &model = held(loaded, "torch model");
  if (model.inputs.size() != 1 || model.outputs.size() != 1)
    refuse(model,
           fmt::format("{} inputs and {} outputs: call run",
                       model.inputs.size(), model.outputs.size()),
           {});
  return run({{model.inputs[0].name, x}}).at(model.outputs[0].name);
}

} // namespace sinter::torch
