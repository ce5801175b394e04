/// Arguments and results of nodes.
#include "frontend/import/torch/Call.h"

#include "frontend/import/torch/ProgramRecorder.h"

#include <sinter/Error.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::torch {

int64_t fixed(Dim dim) {
  if (!dim.isConstant())
    throw NeedsNumbers();
  return dim.value;
}

std::vector<int64_t> fixed(const Dims &dims) {
  std::vector<int64_t> numbers;
  for (Dim dim : dims)
    numbers.push_back(fixed(dim));
  return numbers;
}

Call::Call(ProgramRecorder &recorder, const NodeRecord &node,
           const GraphRecord &graph, std::vector<Value> values)
    : owner(recorder), record(node), graphRecord(graph),
      values(std::move(values)), isRead(this->values.size()) {}

DeviceId Call::device() const { return owner.device(); }

//===- Errors -------------------------------------------------------------===//

void Call::unsupported(const std::string &what) const {
  throw Error(makeError(ErrorKind::unsupported, what));
}
void Call::invalid(const std::string &what) const {
  throw Error(makeError(ErrorKind::invalid_argument, what));
}
void Call::wrongKind(std::string_view name, const Value &value,
                     const char *wanted) const {
  invalid(fmt::format("argument '{}' is {}, not {}", name, nameOf(value.kind),
                      wanted));
}

void Call::checkAllRead() const {
  for (size_t i = 0; i < values.size(); ++i)
    if (!isRead[i] && !values[i].isNone())
      unsupported(
          fmt::format("argument '{}' is not supported", record.inputs[i].name));
}

//===- Arguments ----------------------------------------------------------===//

int64_t Call::indexOf(std::string_view name) const {
  auto found = std::ranges::find(record.inputs, name, &NamedArgument::name);
  if (found == record.inputs.end())
    return -1;
  int64_t index = found - record.inputs.begin();
  isRead[size_t(index)] = true;
  return index;
}

const Value &Call::value(std::string_view name) const {
  static const Value &none = *new Value();
  int64_t index = indexOf(name);
  return index < 0 ? none : values[size_t(index)];
}

const Value &Call::at(size_t position) const {
  if (position >= values.size())
    invalid(fmt::format("argument {} is missing", position));
  isRead[position] = true;
  return values[position];
}

bool Call::has(std::string_view name) const { return !value(name).isNone(); }

const Value &Call::required(std::string_view name) const {
  const Value &found = value(name);
  if (found.isNone())
    invalid(fmt::format("argument '{}' is missing", name));
  return found;
}

Tensor Call::tensor(std::string_view name) const {
  const Value &found = required(name);
  if (!found.isTensor())
    wrongKind(name, found, "a tensor");
  return found.stored->read();
}

std::optional<Tensor> Call::optionalTensor(std::string_view name) const {
  if (!has(name))
    return std::nullopt;
  return tensor(name);
}

std::vector<Tensor> Call::tensors(std::string_view name) const {
  const Value &found = required(name);
  if (!found.isList())
    wrongKind(name, found, "a list");
  std::vector<Tensor> all;
  for (const Value &each : found.list) {
    if (!each.isTensor() && !each.isNone())
      wrongKind(name, each, "a tensor");
    all.push_back(each.isNone() ? Tensor() : each.stored->read());
  }
  return all;
}

Dim Call::dim(std::string_view name) const {
  const Value &found = required(name);
  if (found.kind == Value::Kind::boolean && !found.isOpen)
    return Dim(found.isTrue);
  if (!found.isInteger())
    wrongKind(name, found, "an integer");
  return found.integer;
}

/// An integer stands for a list of one.
Dims Call::dims(std::string_view name) const {
  const Value &found = required(name);
  if (found.isInteger())
    return {found.integer};
  if (!found.isList())
    wrongKind(name, found, "a list");
  Dims all;
  for (const Value &each : found.list) {
    if (!each.isInteger())
      wrongKind(name, each, "an integer");
    all.push_back(each.integer);
  }
  return all;
}

int64_t Call::integer(std::string_view name) const { return fixed(dim(name)); }
int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

std::vector<int64_t> Call::integers(std::string_view name) const {
  return has(name) ? fixed(dims(name)) : std::vector<int64_t>();
}

std::vector<int64_t> Call::integers(std::string_view name, size_t count,
                                    int64_t otherwise) const {
  std::vector<int64_t> all = integers(name);
  if (all.empty())
    all = {otherwise};
  if (all.size() == 1)
    all.resize(count, all[0]);
  if (all.size() != count)
    invalid(fmt::format("argument '{}' has {} numbers for {} axes", name,
                        all.size(), count));
  return all;
}

double Call::real(std::string_view name) const {
  const Value &found = required(name);
  if (found.kind == Value::Kind::real)
    return found.real;
  return double(integer(name));
}
double Call::real(std::string_view name, double otherwise) const {
  return has(name) ? real(name) : otherwise;
}

bool Call::flag(std::string_view name, bool otherwise) const {
  const Value &found = value(name);
  if (found.isNone())
    return otherwise;
  if (found.isInteger())
    return fixed(found.integer) != 0;
  if (found.kind != Value::Kind::boolean)
    wrongKind(name, found, "a bool");
  if (found.isOpen)
    throw NeedsNumbers();
  return found.isTrue;
}

std::string Call::text(std::string_view name, std::string otherwise) const {
  const Value &found = value(name);
  if (found.isNone())
    return otherwise;
  if (found.kind != Value::Kind::text)
    wrongKind(name, found, "a string");
  return found.text;
}

std::optional<DType> Call::dtype(std::string_view name) const {
  const Value &found = value(name);
  if (found.isNone())
    return std::nullopt;
  if (found.kind != Value::Kind::dtype)
    wrongKind(name, found, "a dtype");
  std::optional<DType> dtype = dtypeOf(found.code);
  if (!dtype)
    unsupported(dtypeText(found.code));
  return dtype;
}

const GraphRecord &Call::graph(std::string_view name) const {
  const Value &found = required(name);
  if (found.kind != Value::Kind::graph)
    wrongKind(name, found, "a graph");
  return *found.graph;
}

void Call::ignore(std::initializer_list<std::string_view> names) const {
  for (std::string_view name : names)
    indexOf(name);
}

int64_t Call::axisOf(int64_t axis, int64_t rank) const {
  int64_t most = std::max<int64_t>(rank, 1);
  if (axis < -most || axis >= most)
    invalid(fmt::format("axis {} of a tensor of rank {}", axis, rank));
  return axis < 0 ? axis + most : axis;
}
int64_t Call::axis(std::string_view name, int64_t rank) const {
  return axisOf(integer(name), rank);
}
int64_t Call::axis(std::string_view name, int64_t rank,
                   int64_t otherwise) const {
  return axisOf(integer(name, otherwise), rank);
}

bool Call::hasMisstatedArgument() const {
  return std::ranges::any_of(values, hasMisstated);
}

const TensorRecord *Call::inputRecord(std::string_view name) const {
  auto argument = std::ranges::find(record.inputs, name, &NamedArgument::name);
  if (argument == record.inputs.end() ||
      values[size_t(argument - record.inputs.begin())].isMisstated)
    return nullptr;
  auto found = graphRecord.tensors.find(argument->value.text);
  return found == graphRecord.tensors.end() ? nullptr : &found->second;
}

//===- Results ------------------------------------------------------------===//

const TensorRecord *Call::outputRecord(size_t output) const {
  // A list of tensors is one output.
  const std::vector<ArgumentRecord> *all = &record.outputs;
  if (all->size() == 1 && (*all)[0].kind == ArgumentRecord::Kind::list)
    all = &(*all)[0].elements;
  if (output >= all->size())
    return nullptr;
  auto found = graphRecord.tensors.find((*all)[output].text);
  return found == graphRecord.tensors.end() ? nullptr : &found->second;
}

DType Call::outputDType(size_t output) const {
  const TensorRecord *tensor = outputRecord(output);
  if (!tensor)
    invalid(fmt::format("the file does not describe result {}", output));
  std::optional<DType> dtype = dtypeOf(tensor->dtype);
  if (!dtype)
    unsupported(dtypeText(tensor->dtype));
  return *dtype;
}

void Call::giveView(std::string_view source, View view) {
  tensor(source);
  give(Value(std::make_shared<Stored>(value(source).stored, std::move(view))));
}

void Call::giveViews(std::string_view source, std::vector<View> views) {
  tensor(source);
  std::vector<Value> list;
  for (View &view : views)
    list.emplace_back(
        std::make_shared<Stored>(value(source).stored, std::move(view)));
  give(Value::ofList(std::move(list)));
}

void Call::change(std::string_view name, const Tensor &changed) {
  tensor(name);
  value(name).stored->write(changed);
}

} // namespace sinter::torch
