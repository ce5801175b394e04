/// Operands and attributes of one node.
#include "frontend/import/onnx/Call.h"

#include "frontend/CountedRows.h"
#include "frontend/import/onnx/ModelRecorder.h"

#include "sinter/runtime/Result.h"

#include <sinter/Error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace sinter::onnx {

Call::Call(ModelRecorder &recorder, const Operator &row, const NodeRecord &node,
           int64_t opset, std::vector<Value> inputs)
    : owner(recorder), row(row), record(node), version(opset),
      inputs(std::move(inputs)), outputs(node.outputs.size()) {
  checkAttributes();
}

void Call::unsupported(const std::string &what) const {
  throw Error(makeError(ErrorKind::unsupported, what));
}
void Call::invalid(const std::string &what) const {
  throw Error(makeError(ErrorKind::invalid_argument, what));
}

DeviceId Call::device() const { return owner.device(); }

//===- Operands -----------------------------------------------------------===//

const Value &Call::value(size_t input) const {
  if (!has(input))
    invalid(fmt::format("input {} is missing", input));
  return inputs[input];
}

Tensor Call::tensor(size_t input) const {
  const Value &operand = value(input);
  if (operand.isList())
    unsupported(fmt::format("input {} is a sequence", input));
  return operand.tensor(device());
}

std::vector<Tensor> Call::tensors() const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < inputs.size(); ++i)
    all.push_back(tensor(i));
  return all;
}

/// How errors call an operand.
static std::string labelOf(const char *what, size_t input) {
  return fmt::format("{} (input {})", what, input);
}

/// Nothing is evaluated while a function is recorded as a whole.
static void checkEvaluates(const Call &call, const std::string &what) {
  if (!canEvaluate())
    call.unsupported(what + " is computed by the model, and has to be known "
                            "where the model is recorded for a file or by jit");
}

void Call::mustEvaluate(size_t input, const char *what) const {
  checkEvaluates(*this, labelOf(what, input));
  owner.evaluateNeeded();
}

void Call::mustCount(size_t input, const char *what) const {
  if (!detail::leavesCountsOpen())
    mustEvaluate(input, what);
}

KnownRef Call::known(size_t input, const char *what) const {
  return elementsOf(value(input), labelOf(what, input));
}

KnownRef Call::elementsOf(const Value &operand, const std::string &what) const {
  if (operand.isNothing() || operand.isList())
    invalid(what + " is no tensor");
  if (KnownRef elements = operand.known())
    return elements;
  checkEvaluates(*this, what);
  owner.evaluateNeeded();
  KnownRef elements = operand.read();
  if (!elements)
    unsupported(fmt::format("{} has more than the {} elements that are read",
                            what, Known::most));
  return elements;
}

Dims Call::dims(size_t input, const char *what) const {
  KnownRef elements = known(input, what);
  if (elements->isReal())
    invalid(fmt::format("{} (input {}) is of {}", what, input,
                        name(elements->dtype)));
  return elements->integers;
}

std::vector<int64_t> Call::integers(size_t input, const char *what) const {
  return fixed(dims(input, what));
}

std::vector<double> Call::reals(size_t input, const char *what) const {
  KnownRef elements = known(input, what);
  if (elements->isReal())
    return elements->reals;
  std::vector<int64_t> numbers = fixed(elements->integers);
  return {numbers.begin(), numbers.end()};
}

int64_t Call::integer(size_t input, const char *what) const {
  std::vector<int64_t> numbers = integers(input, what);
  if (numbers.size() != 1)
    invalid(fmt::format("{} (input {}) has {} elements, not 1", what, input,
                        numbers.size()));
  return numbers[0];
}

double Call::real(size_t input, const char *what) const {
  std::vector<double> numbers = reals(input, what);
  if (numbers.size() != 1)
    invalid(fmt::format("{} (input {}) has {} elements, not 1", what, input,
                        numbers.size()));
  return numbers[0];
}

void Call::sameDTypes() const {
  for (size_t i = 1; i < inputs.size(); ++i)
    if (has(i) && value(i).dtype() != value(0).dtype())
      invalid(fmt::format("inputs 0 and {} are of {} and {}", i,
                          name(value(0).dtype()), name(value(i).dtype())));
}

//===- Attributes ---------------------------------------------------------===//

const AttributeRecord *Call::find(std::string_view name) const {
  for (const AttributeRecord &attribute : record.attributes)
    if (attribute.name == name)
      return &attribute;
  return nullptr;
}

AttributeSpec Call::spec(std::string_view name) const {
  for (const AttributeSpec &spec : attributesOf(row))
    if (spec.name == name)
      return spec;
  throw Error(
      makeError(ErrorKind::internal,
                fmt::format("the import table has no attribute '{}'", name)));
}

/// Files that are older than types of attributes leave single ones unsaid.
static bool isOfType(const AttributeRecord &attribute, AttributeType wanted) {
  return attribute.type == wanted || attribute.type == AttributeType::undefined;
}

/// Whether it has what its type promises: a graph or tensor may be left out.
static bool isThere(const AttributeRecord &attribute, AttributeType wanted) {
  switch (wanted) {
  case AttributeType::graph:
    return attribute.graph != nullptr;
  case AttributeType::tensor:
    return attribute.tensor != nullptr;
  case AttributeType::type:
    return attribute.typeProto != nullptr;
  default:
    return true;
  }
}

void Call::checkAttributes() const {
  std::vector<AttributeSpec> specs = attributesOf(row);
  for (const AttributeRecord &attribute : record.attributes) {
    auto spec = std::ranges::find(specs, attribute.name, &AttributeSpec::name);
    if (spec == specs.end())
      unsupported(fmt::format("attribute '{}' is unknown", attribute.name));
    if (!isOfType(attribute, spec->type))
      invalid(fmt::format("attribute '{}' is not of type {}", attribute.name,
                          nameOf(spec->type)));
    if (!isThere(attribute, spec->type))
      invalid(fmt::format("attribute '{}' has no {}", attribute.name,
                          nameOf(spec->type)));
  }
  for (const AttributeSpec &spec : specs)
    if (spec.isRequired && !given(spec.name))
      invalid(fmt::format("attribute '{}' is missing", spec.name));
}

int64_t Call::integer(std::string_view name) const {
  if (const AttributeRecord *own = find(name))
    return own->integer;
  return std::strtoll(std::string(spec(name).defaultText).c_str(), nullptr, 10);
}

// A default is a float of the file format, as one that is given.
double Call::real(std::string_view name) const {
  if (const AttributeRecord *own = find(name))
    return double(own->real);
  return double(
      std::strtof(std::string(spec(name).defaultText).c_str(), nullptr));
}

std::string Call::text(std::string_view name) const {
  if (const AttributeRecord *own = find(name))
    return own->text;
  return std::string(spec(name).defaultText);
}

std::vector<int64_t> Call::integers(std::string_view name) const {
  const AttributeRecord *own = find(name);
  return own ? own->integers : std::vector<int64_t>();
}

std::vector<double> Call::reals(std::string_view name) const {
  const AttributeRecord *own = find(name);
  return own ? std::vector<double>(own->reals.begin(), own->reals.end())
             : std::vector<double>();
}

std::vector<std::string> Call::texts(std::string_view name) const {
  const AttributeRecord *own = find(name);
  return own ? own->texts : std::vector<std::string>();
}

const TensorRecord *Call::tensorAttribute(std::string_view name) const {
  const AttributeRecord *own = find(name);
  return own ? own->tensor.get() : nullptr;
}

const GraphRecord *Call::graph(std::string_view name) const {
  const AttributeRecord *own = find(name);
  return own ? own->graph.get() : nullptr;
}

DType Call::dtypeAttribute(std::string_view name) const {
  auto type = ElementType(integer(name));
  std::optional<DType> dtype = computedAs(type);
  if (!dtype)
    unsupported(fmt::format("{} cannot be computed with", elementName(type)));
  return *dtype;
}

int64_t Call::axisOf(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    invalid(fmt::format("axis {} of a tensor of rank {}", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

int64_t Call::axis(std::string_view name, int64_t rank) const {
  return axisOf(integer(name), rank);
}

std::vector<int64_t> Call::axesOf(std::vector<int64_t> axes,
                                  int64_t rank) const {
  std::vector<bool> seen(size_t(rank), false);
  for (int64_t &axis : axes) {
    axis = axisOf(axis, rank);
    if (seen[size_t(axis)])
      invalid(fmt::format("axis {} stands twice", axis));
    seen[size_t(axis)] = true;
  }
  return axes;
}

void Call::give(size_t output, Value value) {
  if (output < outputs.size())
    outputs[output] = std::move(value);
}

} // namespace sinter::onnx
