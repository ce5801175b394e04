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
#include <optional>

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
  return graph::typeString(*tensor.node());
}

/// As errors call what is given.
static std::string typeOf(const Content &content) {
  if (const auto *tensor = std::get_if<Tensor>(&content))
    return tensor->defined() ? typeOf(*tensor) : "an empty tensor";
  const auto *list = std::get_if<std::vector<Tensor>>(&content);
  if (!list)
    return "nothing";
  std::string text = "sequence(";
  for (const Tensor &each : *list)
    text += (text.back() == '(' ? "" : ", ") + typeOf(Content(each));
  return text + ')';
}

static bool isOfType(const Tensor &tensor, const TypeRecord &type) {
  if (!tensor.defined() || computedAs(type.element) != tensor.dtype())
    return false;
  if (!type.shape)
    return true;
  if (tensor.rank() != int64_t(type.shape->size()))
    return false;
  for (size_t i = 0; i < type.shape->size(); ++i) {
    std::optional<int64_t> size = (*type.shape)[i].size;
    if (size && *size >= 0 && *size != tensor.dim(int64_t(i)).value)
      return false;
  }
  return true;
}

static bool isOfType(const Content &content, const TypeRecord &type) {
  using Kind = TypeRecord::Kind;
  if (type.kind == Kind::optional)
    return std::holds_alternative<std::monostate>(content) || !type.inner ||
           isOfType(content, *type.inner);
  if (type.kind == Kind::tensor) {
    const auto *tensor = std::get_if<Tensor>(&content);
    return tensor && isOfType(*tensor, type);
  }
  const auto *list = std::get_if<std::vector<Tensor>>(&content);
  return type.kind == Kind::sequence && type.inner && list &&
         std::ranges::all_of(*list, [&](const Tensor &each) {
           return isOfType(each, *type.inner);
         });
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

/// What the file says of an input.
static const ValueRecord &recordOf(const LoadedModel &model,
                                   const std::string &name) {
  return *std::ranges::find(model.record.graph.inputs, name,
                            &ValueRecord::name);
}

static bool isMissing(const NamedContents &inputs, const std::string &name) {
  auto given = inputs.find(name);
  if (given == inputs.end())
    return true;
  const auto *tensor = std::get_if<Tensor>(&given->second);
  return tensor && !tensor->defined();
}

static void checkInputs(const LoadedModel &model, const NamedContents &inputs,
                        const SourceLine &where) {
  for (const ValueInfo &info : model.inputs) {
    if (isMissing(inputs, info.name))
      refuse(model, fmt::format("input '{}' is missing", info.name), where);
    const Content &given = inputs.at(info.name);
    if (!isOfType(given, recordOf(model, info.name).type))
      refuse(model,
             fmt::format("input '{}' is {}, the model wants {}", info.name,
                         typeOf(given), info.type),
             where);
  }
  for (const auto &[name, content] : inputs) {
    bool isInput = std::ranges::count(model.inputs, name, &ValueInfo::name) > 0;
    bool isStored = std::ranges::any_of(
        model.record.graph.initializers,
        [&](const auto &stored) { return stored->name == name; });
    if (!isInput && !isStored)
      refuse(model, fmt::format("there is no input '{}'", name), where);
    const auto *tensor = std::get_if<Tensor>(&content);
    if (isStored && (!tensor || !tensor->defined()))
      refuse(model, fmt::format("input '{}' is empty", name), where);
    if (isStored)
      checkStored(model, name, *tensor, where);
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

static Value valueOf(const Content &content, bool areFixed) {
  if (const auto *tensor = std::get_if<Tensor>(&content))
    return valueOf(*tensor, areFixed);
  const auto *list = std::get_if<std::vector<Tensor>>(&content);
  if (!list)
    return {};
  std::vector<Value> values;
  for (const Tensor &each : *list)
    values.push_back(valueOf(each, areFixed));
  return Value::ofList(std::move(values));
}

static Content contentOf(const Value &value, DeviceId device) {
  if (value.isNothing())
    return {};
  if (!value.isList())
    return value.tensor(device);
  std::vector<Tensor> tensors;
  for (const Value &each : value.list())
    tensors.push_back(each.tensor(device));
  return tensors;
}

//===- Recording ----------------------------------------------------------===//

namespace {
/// What a model is recorded with.
struct Parts {
  const LoadedModel &model;
  const NamedParams &parameters;
  const std::map<std::string, Tensor> &constants;
  const NamedContents &inputs;
};
} // namespace

static DeviceId deviceOf(const Parts &parts) {
  for (const auto &[name, content] : parts.inputs) {
    if (const auto *tensor = std::get_if<Tensor>(&content))
      return tensor->device();
    const auto *list = std::get_if<std::vector<Tensor>>(&content);
    if (list && !list->empty())
      return list->front().device();
  }
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

static NamedContents record(const Parts &parts, bool areFixed) {
  DeviceId device = deviceOf(parts);
  detail::DeviceScope onDevice(device);
  const GraphRecord &graph = parts.model.record.graph;
  ModelRecorder recorder(parts.model.record, parts.model.name,
                         parts.model.externals, device);
  if (areFixed)
    recorder.expectNumbers();
  Scope scope;
  for (const auto &tensor : graph.initializers)
    if (!parts.inputs.contains(tensor->name))
      scope.set(tensor->name,
                recorder.differentiable(
                    tensor->name, initialValue(parts, *tensor, recorder)));
  for (const auto &[name, content] : parts.inputs)
    scope.set(name, recorder.differentiable(name, valueOf(content, areFixed)));
  recorder.record(graph, scope);
  NamedContents outputs;
  for (const ValueRecord &output : graph.outputs) {
    const Value *value = scope.find(output.name);
    bool isOptional = output.type.kind == TypeRecord::Kind::optional;
    if (!value || (value->isNothing() && !isOptional))
      throw Error(makeError(ErrorKind::unsupported,
                            fmt::format("onnx: {}: output '{}' is no tensor",
                                        parts.model.name, output.name)));
    outputs.insert_or_assign(output.name, contentOf(*value, device));
  }
  return outputs;
}

NamedContents Model::run_contents(const NamedContents &inputs,
                                  Where where) const try {
  const LoadedModel &model = held(loaded, "onnx model", where);
  checkInputs(model, inputs, where);
  detail::SourceScope scope(where);
  Parts parts{model, parameters, constants, inputs};
  auto recorded = [&](bool areFixed) -> std::optional<NamedContents> {
    try {
      return record(parts, areFixed);
    } catch (const NeedsNumbers &) {
      return std::nullopt;
    }
  };
  for (bool areFixed : {false, true})
    if (std::optional<NamedContents> outputs = recorded(areFixed))
      return std::move(*outputs);
  refuse(ErrorKind::unsupported, model,
         "a size that only a run tells is needed before it", where);
} catch (...) {
  detail::raiseExhausted(where);
}

NamedTensors Model::run(const NamedTensors &inputs, Where where) const {
  NamedContents contents(inputs.begin(), inputs.end());
  NamedTensors outputs;
  for (auto &[name, content] : run_contents(contents, where)) {
    auto *tensor = std::get_if<Tensor>(&content);
    if (!tensor)
      detail::raise(makeError(ErrorKind::unsupported,
                              fmt::format("onnx: {}: output '{}' is no tensor: "
                                          "call run_contents",
                                          this->name(), name)),
                    where);
    outputs.emplace(name, std::move(*tensor));
  }
  return outputs;
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
