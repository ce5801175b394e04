/// Model: what is recorded on the inputs of a call.
#include <sinter/Onnx.h>

#include "frontend/DeviceScope.h"
#include "frontend/FixedDims.h"
#include "frontend/Raise.h"
#include "frontend/import/onnx/CheckModel.h"
#include "frontend/import/onnx/LoadedModel.h"
#include "frontend/import/onnx/ModelRecorder.h"

#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::onnx {

using detail::held;

const std::vector<ValueInfo> &Model::inputs() const {
  return held(loaded, "onnx model").inputs;
}
const std::vector<ValueInfo> &Model::outputs() const {
  return held(loaded, "onnx model").outputs;
}
const std::string &Model::name() const {
  return held(loaded, "onnx model").name;
}

//===- Inputs -------------------------------------------------------------===//

[[noreturn]] static void refuse(ErrorKind kind, const LoadedModel &model,
                                const std::string &what,
                                const SourceLine &where) {
  detail::raise(makeError(kind, fmt::format("onnx: {}: {}", model.name, what)),
                where);
}

[[noreturn]] static void refuse(const LoadedModel &model,
                                const std::string &what,
                                const SourceLine &where) {
  refuse(ErrorKind::invalid_argument, model, what, where);
}

static std::string typeOf(const Tensor &tensor) {
  std::string text(sinter::name(tensor.dtype()));
  text += '[';
  for (Dim dim : tensor.shape())
    text += (text.back() == '[' ? "" : ",") + std::to_string(dim.value);
  return text + ']';
}

static bool isOfType(const Tensor &tensor, const ValueInfo &info) {
  if (tensor.dtype() != info.dtype)
    return false;
  if (!info.shape)
    return true;
  if (tensor.rank() != int64_t(info.shape->size()))
    return false;
  for (size_t i = 0; i < info.shape->size(); ++i) {
    std::optional<int64_t> size = (*info.shape)[i].size;
    if (size && *size >= 0 && *size != tensor.dim(int64_t(i)).value)
      return false;
  }
  return true;
}

/// An input that stands for an initializer of the file. Its dims are checked by
/// what computes with them.
static void checkStored(const LoadedModel &model, const std::string &name,
                        const Tensor &given, const SourceLine &where) {
  for (const auto &stored : model.record.graph.initializers)
    if (stored->name == name && computedAs(stored->type) != given.dtype())
      refuse(model,
             fmt::format("input '{}' is {}, its initializer {}", name,
                         typeOf(given), elementName(stored->type)),
             where);
}

static void checkInputs(const LoadedModel &model, const NamedTensors &inputs,
                        const SourceLine &where) {
  for (const ValueInfo &info : model.inputs) {
    auto given = inputs.find(info.name);
    if (given == inputs.end() || !given->second.defined())
      refuse(model, fmt::format("input '{}' is missing", info.name), where);
    if (!isOfType(given->second, info))
      refuse(model,
             fmt::format("input '{}' is {}, the model wants {}", info.name,
                         typeOf(given->second), info.type),
             where);
  }
  for (const auto &[name, tensor] : inputs) {
    bool isInput = std::ranges::count(model.inputs, name, &ValueInfo::name) > 0;
    bool isStored = std::ranges::any_of(
        model.record.graph.initializers,
        [&](const auto &stored) { return stored->name == name; });
    if (!isInput && !isStored)
      refuse(model, fmt::format("there is no input '{}'", name), where);
    if (isStored && !tensor.defined())
      refuse(model, fmt::format("input '{}' is empty", name), where);
    if (isStored)
      checkStored(model, name, tensor, where);
  }
}

/// With `areFixed`, its dims are numbers, which guards the program.
static Value valueOf(const Tensor &tensor, bool areFixed) {
  Tensor used = tensor;
  if (areFixed && tensor.rank() > 0)
    used = Tensor(
        detail::unwrap(detail::withNumbers(detail::usedForm(tensor.node()), 0,
                                           size_t(tensor.rank())),
                       {}));
  Value value(used);
  value.setSource(
      [tensor] {
        return tensor.node()->isReady() ? readKnown(tensor) : nullptr;
      },
      0);
  return value;
}

//===- Recording ----------------------------------------------------------===//

namespace {
/// What a model is recorded with.
struct Parts {
  const LoadedModel &model;
  const NamedParams &parameters;
  const std::map<std::string, Tensor> &constants;
  const NamedTensors &inputs;
};
} // namespace

static DeviceId deviceOf(const Parts &parts) {
  for (const auto &[name, tensor] : parts.inputs)
    return tensor.device();
  for (const auto &[name, param] : parts.parameters)
    return param.device();
  return default_device();
}

/// A parameter; what shapes depend on is as the file says.
static Value valueOf(const Param &param, const TensorRecord &tensor,
                     ExternalFiles &externals) {
  Value value(param.tensor());
  value.setSource(
      [&tensor, &externals]() -> KnownRef {
        if (countElements(tensor) > Known::most)
          return nullptr;
        TensorBytes elements = elementsOf(tensor, externals);
        return knownOf(elements.bytes, *computedAs(tensor.type), tensor.dims);
      },
      0);
  return value;
}

static Value initialValue(const Parts &parts, const TensorRecord &tensor,
                          ModelRecorder &recorder) {
  if (const Param *param = parts.parameters.find(tensor.name))
    return valueOf(*param, tensor, parts.model.externals);
  auto constant = parts.constants.find(tensor.name);
  if (constant != parts.constants.end())
    return Value(constant->second);
  auto known = parts.model.known.find(tensor.name);
  return known != parts.model.known.end() ? Value(known->second)
                                          : recorder.stored(tensor);
}

static NamedTensors record(const Parts &parts, bool areFixed) {
  DeviceId device = deviceOf(parts);
  detail::DeviceScope onDevice(device);
  const GraphRecord &graph = parts.model.record.graph;
  ModelRecorder recorder(parts.model.record, parts.model.name,
                         parts.model.externals, device);
  Scope scope;
  for (const auto &tensor : graph.initializers)
    if (!parts.inputs.contains(tensor->name))
      scope.set(tensor->name,
                recorder.differentiable(
                    tensor->name, initialValue(parts, *tensor, recorder)));
  for (const auto &[name, tensor] : parts.inputs)
    scope.set(name, recorder.differentiable(name, valueOf(tensor, areFixed)));
  recorder.record(graph, scope);
  NamedTensors outputs;
  for (const ValueRecord &output : graph.outputs) {
    const Value *value = scope.find(output.name);
    if (!value || value->isNothing() || value->isList())
      throw Error(makeError(ErrorKind::unsupported,
                            fmt::format("onnx: {}: output '{}' is no tensor",
                                        parts.model.name, output.name)));
    outputs.insert_or_assign(output.name, value->tensor(device));
  }
  return outputs;
}

NamedTensors Model::run(const NamedTensors &inputs, Where where) const try {
  const LoadedModel &model = held(loaded, "onnx model", where);
  checkInputs(model, inputs, where);
  detail::SourceScope scope(where);
  Parts parts{model, parameters, constants, inputs};
  try {
    return record(parts, false);
  } catch (const NeedsNumbers &) {
  }
  try {
    return record(parts, true);
  } catch (const NeedsNumbers &) {
    refuse(ErrorKind::unsupported, model,
           "a size that only a run tells is needed before it", where);
  }
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Model::forward(const Tensor &x) const {
  const LoadedModel &model = held(loaded, "onnx model");
  if (model.inputs.size() != 1 || model.outputs.size() != 1)
    refuse(model,
           fmt::format("{} inputs and {} outputs: call run",
                       model.inputs.size(), model.outputs.size()),
           {});
  return run({{model.inputs[0].name, x}}).at(model.outputs[0].name);
}

} // namespace sinter::onnx
