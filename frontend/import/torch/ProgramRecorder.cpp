/// Records programs node by node.
#include "frontend/import/torch/ProgramRecorder.h"

#include "frontend/Raise.h"
#include "frontend/import/torch/Expressions.h"
#include "runtime/support/Progress.h"
#include "runtime/support/Sites.h"

#include <sinter/BasicOps.h>
#include <sinter/Shaping.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sinter::torch {

using Is = ArgumentRecord::Kind;

//===- Errors -------------------------------------------------------------===//

static std::string textOf(const PythonLine &line) {
  return line.file.empty() ? "" : fmt::format(" ({}:{})", line.file, line.line);
}

static std::string resultOf(const NodeRecord &node) {
  for (const ArgumentRecord &output : node.outputs) {
    if (!output.text.empty())
      return output.text;
    for (const ArgumentRecord &element : output.elements)
      if (!element.text.empty())
        return element.text;
  }
  return "";
}

void ProgramRecorder::fail(const NodeRecord &node, ErrorInfo error) const {
  error.message =
      fmt::format("torch: {}, node '{}' of {}{}: {}", node.target,
                  resultOf(node), file, textOf(node.line), error.message);
  error.op = node.target;
  detail::raise(std::move(error), SourceLine());
}

void ProgramRecorder::countNode() {
  // A graph of loops in loops ends somewhere.
  constexpr size_t mostNodes = 500'000;
  if (++recordedNodes > mostNodes)
    throw Error(makeError(ErrorKind::unsupported,
                          "the program records too many nodes"));
}

//===- Arguments ----------------------------------------------------------===//

static Value named(const std::string &name, const Scope &scope) {
  auto found = scope.find(name);
  if (found == scope.end())
    throw Error(makeError(
        ErrorKind::io, fmt::format("'{}' is given by no node before", name)));
  return found->second;
}

Value ProgramRecorder::valueOf(const ArgumentRecord &argument,
                               const Scope &scope) const {
  Value value;
  switch (argument.kind) {
  case Is::none:
    return value;
  case Is::tensor:
  case Is::symInt:
  case Is::symFloat:
  case Is::symBool:
    return named(argument.text, scope);
  case Is::integer:
    return Value::ofInteger(argument.integer);
  case Is::real:
    return Value::ofReal(argument.real);
  case Is::boolean:
    return Value::ofBoolean(argument.integer != 0);
  case Is::string:
  case Is::device:
    value.kind = Value::Kind::text;
    value.text = argument.text;
    return value;
  case Is::dtype:
    value.kind = Value::Kind::dtype;
    value.code = argument.integer;
    return value;
  case Is::memoryFormat:
  case Is::layout:
    value.kind = Value::Kind::code;
    value.code = argument.integer;
    return value;
  case Is::complex:
    value.kind = Value::Kind::complex;
    value.real = argument.real;
    value.imaginary = argument.imaginary;
    return value;
  case Is::graph:
    value.kind = Value::Kind::graph;
    value.graph = argument.graph;
    return value;
  case Is::object:
    throw Error(makeError(ErrorKind::unsupported,
                          fmt::format("an object of class {}", argument.text)));
  case Is::list:
  case Is::dict:
    break;
  }
  std::vector<Value> list;
  for (const ArgumentRecord &element : argument.elements)
    list.push_back(valueOf(element, scope));
  value = Value::ofList(std::move(list));
  if (argument.kind == Is::dict) {
    value.kind = Value::Kind::dict;
    value.keys = argument.keys;
  }
  return value;
}

//===- Nodes --------------------------------------------------------------===//

std::vector<Value> ProgramRecorder::record(const GraphRecord &graph,
                                           Scope &scope) {
  std::optional<ProgressStep> progress;
  if (depth == 0)
    progress.emplace("recording node", graph.nodes.size());
  for (const NodeRecord &node : graph.nodes) {
    auto number = uint32_t(&node - graph.nodes.data()) + 1;
    bool isNamed = !node.line.file.empty();
    SiteId site =
        isNamed
            ? internSite(node.line.file, node.line.line)
            : internSite(fmt::format("{} ({})", resultOf(node), file), number);
    detail::SourceScope line(site);
    if (progress)
      progress->at(number - 1);
    recordNode(node, graph, scope);
  }
  std::vector<Value> outputs;
  for (const ArgumentRecord &output : graph.outputs)
    outputs.push_back(valueOf(output, scope));
  return outputs;
}

void ProgramRecorder::recordNode(const NodeRecord &node,
                                 const GraphRecord &graph, Scope &scope) {
  try {
    countNode();
    dispatch(node, graph, scope);
  } catch (const NeedsNumbers &) {
    if (!hasNumbers)
      throw;
    fail(node,
         makeError(ErrorKind::unsupported,
                   "a size that the program computes has to be a number here"));
  } catch (const Error &error) {
    if (error.message().starts_with("torch: "))
      throw;
    ErrorInfo info = makeError(error.kind(), error.message());
    info.shapes = error.shapes();
    info.site = error.site_id();
    fail(node, std::move(info));
  }
}

/// Tensors that nobody else changes.
static void copyResults(std::vector<Value> &results) {
  for (Value &result : results) {
    if (result.isTensor())
      result = Value(result.stored->read());
    copyResults(result.list);
  }
}

void ProgramRecorder::dispatch(const NodeRecord &node, const GraphRecord &graph,
                               Scope &scope) {
  FoundOperator found = findOperator(node.target);
  if (!found.row)
    throw Error(
        makeError(ErrorKind::unsupported, "the operator is not supported"));
  std::vector<Value> values;
  for (const NamedArgument &argument : node.inputs)
    values.push_back(valueOf(argument.value, scope));
  Call call(*this, node, graph, std::move(values));
  found.row->rule(call);
  call.checkAllRead();
  if (found.isCopy)
    copyResults(call.results());
  if (found.isInPlace)
    finishInPlace(call);
  define(node, graph, std::move(call.results()), call.hasMisstatedArgument(),
         scope);
}

/// What was computed goes where the first operand is.
void ProgramRecorder::finishInPlace(Call &call) {
  const Value &target = call.at(0);
  if (!target.isTensor() || call.results().empty() ||
      !call.results()[0].isTensor())
    call.unsupported("a change in place");
  Tensor old = target.stored->read();
  Tensor result = call.results()[0].stored->read().to(old.dtype());
  if (result.rank() != old.rank())
    result = broadcast(result, old.shape());
  target.stored->write(expand(result, old.shape()));
  call.results()[0] = target;
}

//===- Results ------------------------------------------------------------===//

static std::string typeOf(const TensorRecord &record) {
  std::optional<DType> dtype = dtypeOf(record.dtype);
  std::string text =
      dtype ? std::string(sinter::name(*dtype)) : dtypeText(record.dtype);
  text += '[';
  for (const SizeRecord &size : record.sizes)
    text += (text.back() == '[' ? "" : ",") +
            (size.number ? std::to_string(*size.number) : size.expression);
  return text + ']';
}

void ProgramRecorder::setSymbols(const Symbols &symbols) {
  for (const auto &[name, size] : symbols) {
    sizes.emplace(name, size.value);
    if (!size.isConstant())
      open.insert(name);
  }
}

/// A size that is open where the file has a number, or the other way around, is
/// equal to it in this recording only: numbers are recorded then.
bool ProgramRecorder::isAsRecorded(const Tensor &tensor,
                                   const TensorRecord &record) const {
  if (dtypeOf(record.dtype) != tensor.dtype() ||
      int64_t(record.sizes.size()) != tensor.rank())
    return false;
  for (size_t i = 0; i < record.sizes.size(); ++i) {
    const SizeRecord &size = record.sizes[i];
    Dim dim = tensor.dim(int64_t(i));
    std::optional<int64_t> wanted =
        size.number ? size.number : evaluate(size.expression, sizes);
    if (wanted && *wanted != dim.value)
      return false;
    bool isOpen =
        !size.number && std::ranges::any_of(symbolsOf(size.expression),
                                            [&](const std::string &symbol) {
                                              return open.contains(symbol);
                                            });
    if (wanted && !hasNumbers && isOpen == dim.isConstant())
      throw NeedsNumbers();
  }
  return true;
}

/// What is recorded has the type that PyTorch found: a rule that misreads an
/// operator is noticed where it does. Of what is computed from a tensor that
/// the file misstates, it has the dtype.
void ProgramRecorder::defineOne(const ArgumentRecord &output,
                                const GraphRecord &graph, Value result,
                                bool mayDiffer, Scope &scope) {
  auto record = graph.tensors.find(output.text);
  if (result.isTensor() && record != graph.tensors.end()) {
    const Tensor &tensor = result.stored->read();
    bool differs = !isAsRecorded(tensor, record->second);
    mayDiffer = (mayDiffer || result.isMisstated) &&
                dtypeOf(record->second.dtype) == tensor.dtype();
    if (differs && !mayDiffer)
      throw Error(makeError(ErrorKind::invalid_argument,
                            fmt::format("the result is {}, the file says {}",
                                        graph::typeString(*tensor.node()),
                                        typeOf(record->second))));
    result.isMisstated = differs;
  }
  scope.insert_or_assign(output.text, std::move(result));
}

void ProgramRecorder::define(const NodeRecord &node, const GraphRecord &graph,
                             std::vector<Value> results, bool mayDiffer,
                             Scope &scope) {
  // Several results are given one by one, or as a list; files do as they like.
  bool wantsList = node.outputs.size() == 1 && node.outputs[0].kind == Is::list;
  bool hasList = results.size() == 1 && results[0].isList();
  if (wantsList && !hasList)
    results = {Value::ofList(std::move(results))};
  else if (!wantsList && hasList)
    results = std::vector<Value>(results[0].list);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ArgumentRecord &output = node.outputs[i];
    if (output.kind == Is::none)
      continue;
    bool isList = output.kind == Is::list;
    if (i >= results.size())
      throw Error(makeError(ErrorKind::unsupported,
                            fmt::format("result {} is not supported", i)));
    if (!isList) {
      defineOne(output, graph, std::move(results[i]), mayDiffer, scope);
      continue;
    }
    if (!results[i].isList() ||
        results[i].list.size() != output.elements.size())
      throw Error(makeError(ErrorKind::invalid_argument,
                            fmt::format("result {} is {} of {} elements", i,
                                        nameOf(results[i].kind),
                                        results[i].list.size())));
    for (size_t k = 0; k < output.elements.size(); ++k)
      if (output.elements[k].kind != Is::none)
        defineOne(output.elements[k], graph, std::move(results[i].list[k]),
                  mayDiffer, scope);
  }
}

//===- Graphs in nodes ----------------------------------------------------===//

std::vector<Value> ProgramRecorder::call(const GraphRecord &graph,
                                         std::vector<Value> inputs) {
  if (inputs.size() != graph.inputs.size())
    throw Error(makeError(ErrorKind::invalid_argument,
                          fmt::format("a graph has {} inputs, not {}",
                                      graph.inputs.size(), inputs.size())));
  constexpr unsigned mostDepth = 32;
  if (++depth > mostDepth)
    throw Error(
        makeError(ErrorKind::unsupported, "graphs in graphs, too deep"));
  countNode();
  Scope scope;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!graph.inputs[i].text.empty())
      scope.insert_or_assign(graph.inputs[i].text, std::move(inputs[i]));
  std::vector<Value> outputs = record(graph, scope);
  --depth;
  return outputs;
}

} // namespace sinter::torch
