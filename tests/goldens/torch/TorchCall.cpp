/// Binding arguments to parameters, and finding the rule.
#include "tests/goldens/torch/TorchCall.h"

#include "sinter/runtime/OpTable.h"

#include <charconv>

namespace sinter::goldens {

using JsonKind = runtime::json::Kind;

void refuse(std::string_view what) {
  throw Error({ErrorKind::unsupported, std::string(what), "", {}, 0});
}

bool isTorchCall(const Case &golden) {
  return golden.attrs.find("args") && golden.attrs.find("kwargs");
}

//===- Arguments ----------------------------------------------------------===//

std::optional<Tensor> given(const OpCall &call, std::string_view name) {
  auto found = call.inputs.find(name);
  return found == call.inputs.end() ? std::nullopt
                                    : std::optional(found->second);
}

Tensor operand(const OpCall &call, std::string_view name) {
  if (auto tensor = given(call, name))
    return *tensor;
  if (!call.attrs.has(name))
    refuse("an operand is missing");
  return full({}, call.attrs.number(name));
}

static std::string elementName(std::string_view list, size_t index) {
  return std::string(list) + "." + std::to_string(index);
}

Tensors tensorList(const OpCall &call, std::string_view name) {
  Tensors tensors;
  while (auto tensor = given(call, elementName(name, tensors.size())))
    tensors.push_back(*tensor);
  return tensors;
}

Axes reducedAxes(const OpCall &call, std::string_view name) {
  std::vector<int64_t> axes = call.attrs.list(name);
  return axes.empty() ? Axes() : Axes(axes);
}

//===- Binding ------------------------------------------------------------===//

namespace {

struct Parameter {
  std::string_view name;
  bool isLine = false; ///< `x@`
  bool isRest = false; ///< `xs*`
};

/// Brings the arguments of one call to their names.
class Binder {
public:
  Binder(const Case &golden, const Values &tensors, const TorchRule &rule);

  const Values &operands() const { return bound; }
  const Json &attributes() const { return attrs; }
  /// Whether results of one element have rank 0 in PyTorch.
  bool isOfScalars() const { return lines > 0 && scalars == lines; }

private:
  const Parameter &named(std::string_view name) const;
  void bind(const Parameter &parameter, const Json &value);
  void bindTensor(const Parameter &parameter, std::string name,
                  const Json &value);
  void bindList(const Parameter &parameter, const std::vector<Json> &values);

  const Case &golden;
  const Values &tensors;
  std::vector<Parameter> parameters;
  Values bound;
  Json attrs;
  size_t lines = 0, scalars = 0;
};

} // namespace

static std::vector<Parameter> parse(std::string_view text) {
  std::vector<Parameter> parameters;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    Parameter parameter{word, word.ends_with('@'), word.ends_with('*')};
    if (parameter.isLine || parameter.isRest)
      parameter.name.remove_suffix(1);
    parameters.push_back(parameter);
  }
  return parameters;
}

static bool isTensor(const Json &value) {
  return value.is(JsonKind::object) && value.find("tensor");
}

Binder::Binder(const Case &golden, const Values &tensors, const TorchRule &rule)
    : golden(golden), tensors(tensors), parameters(parse(rule.parameters)) {
  attrs.kind = JsonKind::object;
  const std::vector<Json> &args = golden.attrs.find("args")->elements;
  const Json &kwargs = *golden.attrs.find("kwargs");
  bool takesRest = !parameters.empty() && parameters[0].isRest;
  if (takesRest)
    bindList(parameters[0], args);
  for (size_t i = 0; i < args.size() && !takesRest; ++i) {
    if (i >= parameters.size())
      refuse(golden.op + ": too many arguments");
    bind(parameters[i], args[i]);
  }
  for (size_t i = 0; i < kwargs.keys.size(); ++i)
    bind(named(kwargs.keys[i]), kwargs.elements[i]);
}

const Parameter &Binder::named(std::string_view name) const {
  auto found = std::ranges::find(parameters, name, &Parameter::name);
  if (found == parameters.end())
    refuse(golden.op + ": no argument " + std::string(name));
  return *found;
}

void Binder::bindTensor(const Parameter &parameter, std::string name,
                        const Json &value) {
  Tensor tensor = tensors.find(value.find("tensor")->string)->second;
  lines += parameter.isLine;
  if (parameter.isLine && tensor.rank() == 0) {
    ++scalars;
    tensor = unsqueeze(tensor, 0);
  }
  bound.insert_or_assign(std::move(name), std::move(tensor));
}

void Binder::bindList(const Parameter &parameter,
                      const std::vector<Json> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    bindTensor(parameter, elementName(parameter.name, i), values[i]);
}

void Binder::bind(const Parameter &parameter, const Json &value) {
  if (isTensor(value))
    return bindTensor(parameter, std::string(parameter.name), value);
  bool isList = value.is(JsonKind::array) && !value.elements.empty() &&
                std::ranges::all_of(value.elements, isTensor);
  if (isList)
    return bindList(parameter, value.elements);
  if (value.is(JsonKind::null))
    return;
  attrs.keys.emplace_back(parameter.name);
  attrs.elements.push_back(value);
}

//===- Rules --------------------------------------------------------------===//

static const TorchTable &rules() {
  static const TorchTable table = [] {
    TorchTable all = torchMath();
    for (auto part : {torchReductions, torchShapes, torchIndexing, torchImages,
                      torchLayers, torchLosses})
      all.merge(part());
    return all;
  }();
  return table;
}

/// `nn.functional.gelu` and `special.erfc` are `gelu` and `erfc`.
static std::string_view plainName(std::string_view op) {
  for (std::string_view prefix : {"nn.functional.", "special."})
    if (op.starts_with(prefix))
      op.remove_prefix(prefix.size());
  return op;
}

/// A function that no table names is called as other golden cases call their
/// op of that name, by one or two tensors.
static TorchRule ruleOf(const Case &golden) {
  auto found = rules().find(golden.op);
  if (found != rules().end())
    return found->second;
  size_t count = golden.attrs.find("args")->elements.size();
  return {count == 2 ? "a b" : "x", nullptr, plainName(golden.op)};
}

/// The number of a golden case's result: the only one, or the position that
/// its name says.
static size_t positionOf(std::string_view name) {
  if (name == "indices")
    return 1;
  size_t position = 0;
  std::from_chars(name.data(), name.data() + name.size(), position);
  return position;
}

static Tensors recordGolden(const Case &golden, const TorchRule &rule,
                            const Binder &binder) {
  Case other = golden;
  other.op = rule.golden.empty() ? plainName(golden.op) : rule.golden;
  other.attrs = binder.attributes();
  other.inputs.clear();
  for (const auto &[name, tensor] : binder.operands())
    other.inputs.push_back(name);
  // A rule of one result asks for its name.
  if (other.outputs.size() == 1)
    other.outputs = {"y"};
  std::optional<Values> values = recordSingle(other, binder.operands());
  if (!values && graph::findOp(other.op) != graph::noOp)
    throw Error({ErrorKind::internal,
                 golden.op + ": the op table has this op, the tables of the "
                             "golden cases have no rule for it",
                 golden.op,
                 {},
                 0});
  if (!values)
    refuse(golden.op + ": there is no such function");
  Tensors results(values->size());
  for (auto &[name, tensor] : *values)
    results[positionOf(name)] = tensor;
  return results;
}

Values recordTorch(const Case &golden, const Values &inputs) {
  TorchRule rule = ruleOf(golden);
  Binder binder(golden, inputs, rule);
  Tensors results =
      rule.record ? rule.record({binder.operands(), Attrs(binder.attributes())})
                  : recordGolden(golden, rule, binder);
  Values values;
  for (size_t i = 0; i < results.size(); ++i) {
    bool isScalar = binder.isOfScalars() && results[i].numel() == 1;
    values.emplace(std::to_string(i),
                   isScalar ? reshape(results[i], Dims{}) : results[i]);
  }
  return values;
}

} // namespace sinter::goldens
