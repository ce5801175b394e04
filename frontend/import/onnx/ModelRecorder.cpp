/// Records models node by node.
#include "frontend/import/onnx/ModelRecorder.h"

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "frontend/import/onnx/Fold.h"
#include "runtime/support/Progress.h"
#include "runtime/support/Sites.h"

#include <sinter/SourceScope.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sinter::onnx {

const Value *Scope::find(const std::string &name) const {
  auto found = own.find(name);
  if (found != own.end())
    return &found->second;
  return outer ? outer->find(name) : nullptr;
}

ModelRecorder::ModelRecorder(const ModelRecord &model, const std::string &file,
                             ExternalFiles &externals, DeviceId device)
    : source(model), file(file), externals(externals), place(device) {
  for (const NodeRecord &node : model.graph.nodes)
    if (node.op == "Gradient")
      differentiated.insert(node.inputs.begin(), node.inputs.end());
}

Value ModelRecorder::differentiable(const std::string &name,
                                    Value value) const {
  if (!differentiated.contains(name) || value.isNothing() || value.isList() ||
      !isFloat(value.dtype()))
    return value;
  return Value(
      vjp([](std::span<const Tensor> x) { return x[0]; }, {value.tensor(place)})
          .inputs[0]);
}

Value ModelRecorder::stored(const TensorRecord &tensor) {
  auto found = storedValues.find(&tensor);
  if (found == storedValues.end())
    found = storedValues.emplace(&tensor, made(tensor)).first;
  return found->second;
}

Value ModelRecorder::made(const TensorRecord &tensor) {
  std::optional<DType> dtype = computedAs(tensor.type);
  if (!dtype)
    throw Error(makeError(ErrorKind::unsupported,
                          fmt::format("tensor '{}' is of {}, which cannot be "
                                      "computed with",
                                      tensor.name, elementName(tensor.type))));
  TensorBytes elements = elementsOf(tensor, externals);
  if (KnownRef known = knownOf(elements.bytes, *dtype, tensor.dims))
    return Value(known);
  Dims dims(tensor.dims.begin(), tensor.dims.end());
  return detail::leafOf(elements.bytes, *dtype, dims, {{}, place}, {});
}

//===- Errors -------------------------------------------------------------===//

static std::string domainName(const std::string &domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

static int64_t versionOf(const Opsets &opsets, const std::string &domain) {
  auto found = opsets.find(domain);
  return found == opsets.end() ? 0 : found->second;
}

/// A node's own name, or that of its first result.
static std::string nameOf(const NodeRecord &node) {
  if (!node.name.empty())
    return node.name;
  auto named = std::ranges::find_if(
      node.outputs, [](const std::string &output) { return !output.empty(); });
  return named == node.outputs.end() ? "" : *named;
}

void ModelRecorder::fail(const NodeRecord &node, const Opsets &opsets,
                         ErrorInfo error) const {
  std::string domain =
      node.domain.empty() ? "" : fmt::format("{}.", node.domain);
  error.message = fmt::format("onnx: {}{} (opset {}), node '{}' of {}: {}",
                              domain, node.op, versionOf(opsets, node.domain),
                              nameOf(node), file, error.message);
  error.op = node.op;
  detail::raise(std::move(error), SourceLine());
}

//===- Nodes --------------------------------------------------------------===//

void ModelRecorder::record(const GraphRecord &graph, Scope &scope) {
  if (graph.hasSparse)
    throw Error(makeError(ErrorKind::unsupported,
                          fmt::format("onnx: graph '{}' of {} has sparse "
                                      "initializers",
                                      graph.name, file)));
  recordNodes(graph.nodes, opsets ? *opsets : source.opsets, scope);
}

namespace {
/// A value for as long as this lives, also where an error ends that.
template <typename T> class Meanwhile {
public:
  Meanwhile(T &place, T value)
      : place(place), before(std::exchange(place, value)) {}
  ~Meanwhile() { place = before; }
  Meanwhile(const Meanwhile &) = delete;

private:
  T &place;
  T before;
};
} // namespace

void ModelRecorder::recordNodes(const std::vector<NodeRecord> &nodes,
                                const Opsets &used, Scope &scope) {
  Meanwhile<const Opsets *> ownOpsets(opsets, &used);
  Meanwhile<const Scope *> ownScope(current, &scope);
  std::optional<ProgressStep> progress;
  if (&nodes == &source.graph.nodes)
    progress.emplace("recording node", nodes.size());
  Standing here{nodes, scope, standing};
  Meanwhile<const Standing *> ownStanding(standing, &here);
  for (const NodeRecord &node : nodes) {
    std::string label = fmt::format("{} ({})", nameOf(node), file);
    auto number = uint32_t(&node - nodes.data()) + 1;
    here.left = std::span(nodes).subspan(number - 1);
    detail::SourceScope line(internSite(label, number));
    if (progress)
      progress->at(number - 1);
    recordNode(function ? resolved(node) : node, used, scope);
  }
}

/// Errors of nodes inside name the innermost node alone.
namespace {
struct Named : Error {
  using Error::Error;
};
} // namespace

void ModelRecorder::countNode() {
  // A graph of loops in loops ends somewhere.
  constexpr size_t mostNodes = 2'000'000;
  if (++recordedNodes > mostNodes)
    throw Error(
        makeError(ErrorKind::unsupported, "the model records too many nodes"));
}

void ModelRecorder::recordNode(const NodeRecord &node, const Opsets &used,
                               Scope &scope) {
  try {
    countNode();
    dispatch(node, used, scope);
  } catch (const NeedsNumbers &) {
    if (!hasNumbers)
      throw;
    fail(node, used,
         makeError(ErrorKind::unsupported,
                   "a size that the model computes has to be a number here"));
  } catch (const Error &error) {
    if (error.message().starts_with("onnx: "))
      throw;
    ErrorInfo info = makeError(error.kind(), error.message());
    info.shapes = error.shapes();
    info.site = error.site_id();
    fail(node, used, std::move(info));
  }
}

/// Whether all elements that a node needs are constants.
static bool areConstants(const std::vector<Value> &inputs) {
  return std::ranges::all_of(inputs, [](const Value &input) {
    return input.isNothing() || input.isConstant();
  });
}

static std::vector<KnownRef> knownInputs(const std::vector<Value> &inputs,
                                         bool &areAllKnown) {
  std::vector<KnownRef> elements;
  areAllKnown = true;
  for (const Value &input : inputs) {
    elements.push_back(input.isNothing() || input.isList() ? nullptr
                                                           : input.known());
    areAllKnown &= input.isNothing() || elements.back() != nullptr;
    if (!areAllKnown)
      break;
  }
  return elements;
}

/// What the host computes; null where a count, which it does not know, would
/// have to be a number.
static KnownRef foldOpen(const NodeRecord &node, int64_t opset,
                         const std::vector<KnownRef> &elements) {
  try {
    return fold(node, opset, elements);
  } catch (const NeedsNumbers &) {
    if (!std::ranges::any_of(elements, [](const KnownRef &each) {
          return each && hasCounted(*each);
        }))
      throw;
    return nullptr;
  }
}

/// The result of `node` gets to know how it is computed on the host.
static void addSource(Value &result, const NodeRecord &node, int64_t opset,
                      const std::vector<Value> &inputs) {
  unsigned depth = 0;
  for (const Value &input : inputs)
    depth = std::max(depth, input.depth());
  if (depth >= Value::maxDepth || !result.tensor({}).defined())
    return;
  int64_t elements = 1;
  for (Dim dim : result.shape())
    elements = elements > Known::most ? elements : elements * dim.value;
  if (elements > Known::most)
    return;
  result.setSource(
      [node, opset, inputs]() -> KnownRef {
        bool areAllKnown = true;
        auto elements = knownInputs(inputs, areAllKnown);
        return areAllKnown ? foldOpen(node, opset, elements) : nullptr;
      },
      depth + 1);
}

void ModelRecorder::dispatch(const NodeRecord &node, const Opsets &used,
                             Scope &scope) {
  std::vector<Value> inputs;
  for (const std::string &name : node.inputs) {
    const Value *found = name.empty() ? nullptr : scope.find(name);
    inputs.push_back(found ? *found : Value());
  }
  std::vector<Value> results;
  int64_t version = versionOf(used, node.domain);
  if (const FunctionRecord *called = findFunction(node)) {
    results = callFunction(*called, node, std::move(inputs));
  } else {
    const Operator *row = findOperator(node.domain, node.op, version);
    if (!row)
      throw Error(makeError(
          ErrorKind::unsupported,
          isInAnotherVersion(node.domain, node.op)
              ? "the operator is not supported in this version"
              : fmt::format("the operator is not supported (domain {})",
                            domainName(node.domain))));
    bool folds = node.domain.empty() && isFoldable(node);
    if (folds && areConstants(inputs)) {
      bool areAllKnown = true;
      auto elements = knownInputs(inputs, areAllKnown);
      if (KnownRef known = foldOpen(node, version, elements)) {
        scope.set(node.outputs.at(0), Value(known));
        return;
      }
    }
    Call call(*this, *row, node, version, inputs);
    row->rule(call);
    results = std::move(call.results());
    if (folds && !results.empty() && !results[0].isConstant())
      addSource(results[0], node, version, inputs);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty())
      continue;
    if (i >= results.size() || (results[i].isNothing()))
      throw Error(makeError(ErrorKind::unsupported,
                            fmt::format("output {} is not supported", i)));
    scope.set(node.outputs[i],
              differentiable(node.outputs[i], std::move(results[i])));
  }
}

//===- Reading ------------------------------------------------------------===//

namespace {
/// Tensors of values that have to be computed, each once.
class Needed {
public:
  void add(const Value &value) {
    if (value.isList())
      for (const Value &part : value.list())
        add(part);
    else if (!value.isNothing() && !value.known())
      add(value.tensor({}));
  }
  /// By the names that nodes have, also nodes inside of these.
  void add(std::span<const NodeRecord> nodes, const Scope &scope) {
    for (const NodeRecord &node : nodes) {
      for (const std::string &name : node.inputs)
        add(name, scope);
      for (const AttributeRecord &attribute : node.attributes)
        if (attribute.graph) {
          add(attribute.graph->nodes, scope);
          add(attribute.graph->outputs, scope);
        }
    }
  }
  void add(std::span<const ValueRecord> results, const Scope &scope) {
    for (const ValueRecord &result : results)
      add(result.name, scope);
  }
  std::span<const Tensor> tensors() const { return found; }

private:
  void add(const std::string &name, const Scope &scope) {
    if (name.empty() || !names.emplace(name, &scope).second)
      return;
    if (const Value *value = scope.find(name))
      add(*value);
  }
  void add(const Tensor &tensor) {
    const graph::NodeRef &node = tensor.node();
    if (!node->isLeaf() && node->state() == graph::NodeState::pending)
      found.push_back(tensor);
  }

  std::set<std::pair<std::string_view, const Scope *>> names;
  std::vector<Tensor> found;
};
} // namespace

void ModelRecorder::evaluateNeeded() const {
  Needed needed;
  for (const Standing *each = standing; each; each = each->outer) {
    needed.add(each->left, each->scope);
    if (!each->outer)
      needed.add(source.graph.outputs, each->scope);
  }
  eval(needed.tensors());
}

//===- Graphs and functions in nodes --------------------------------------===//

std::vector<Value> ModelRecorder::call(const GraphRecord &graph,
                                       std::vector<Value> inputs) {
  if (inputs.size() != graph.inputs.size())
    throw Error(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("graph '{}' has {} inputs, not {}", graph.name,
                              graph.inputs.size(), inputs.size())));
  countNode();
  Scope scope(current);
  for (const auto &initializer : graph.initializers)
    scope.set(initializer->name, stored(*initializer));
  for (size_t i = 0; i < inputs.size(); ++i)
    scope.set(graph.inputs[i].name, std::move(inputs[i]));
  record(graph, scope);
  std::vector<Value> results;
  for (const ValueRecord &output : graph.outputs) {
    const Value *found = scope.find(output.name);
    results.push_back(found ? *found : Value());
  }
  return results;
}

const FunctionRecord *
ModelRecorder::findFunction(const NodeRecord &node) const {
  for (const FunctionRecord &function : source.functions)
    if (function.name == node.op && function.domain == node.domain &&
        function.overload == node.overload)
      return &function;
  return nullptr;
}

NodeRecord ModelRecorder::resolved(const NodeRecord &node) const {
  NodeRecord own = node;
  std::erase_if(own.attributes, [&](const AttributeRecord &attribute) {
    return !attribute.reference.empty() &&
           std::ranges::find(function->attributes, attribute.reference,
                             &AttributeRecord::name) ==
               function->attributes.end();
  });
  for (AttributeRecord &attribute : own.attributes) {
    if (attribute.reference.empty())
      continue;
    AttributeRecord value = *std::ranges::find(
        function->attributes, attribute.reference, &AttributeRecord::name);
    value.name = attribute.name;
    attribute = std::move(value);
  }
  return own;
}

std::vector<Value> ModelRecorder::callFunction(const FunctionRecord &called,
                                               const NodeRecord &node,
                                               std::vector<Value> inputs) {
  if (inputs.size() > called.inputs.size())
    throw Error(makeError(ErrorKind::invalid_argument,
                          fmt::format("the function has {} inputs, not {}",
                                      called.inputs.size(), inputs.size())));
  countNode();
  FunctionCall callee{&called, called.defaults};
  for (const AttributeRecord &attribute : node.attributes) {
    std::erase_if(callee.attributes, [&](const AttributeRecord &own) {
      return own.name == attribute.name;
    });
    callee.attributes.push_back(attribute);
  }
  Scope scope;
  for (size_t i = 0; i < inputs.size(); ++i)
    scope.set(called.inputs[i], std::move(inputs[i]));
  {
    Meanwhile<const FunctionCall *> own(function, &callee);
    recordNodes(called.nodes, called.opsets, scope);
  }
  std::vector<Value> results;
  for (const std::string &output : called.outputs) {
    const Value *found = scope.find(output);
    results.push_back(found ? *found : Value());
  }
  return results;
}

} // namespace sinter::onnx
