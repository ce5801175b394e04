/// Checks of models that need no knowledge of operators.
#include "frontend/import/onnx/CheckModel.h"

#include "frontend/import/onnx/Wire.h"

#include "sinter/runtime/Result.h"

#include <sinter/Error.h>

#include <fmt/format.h>

#include <functional>
#include <set>
#include <unordered_set>

namespace sinter::onnx {

//===- Tensors ------------------------------------------------------------===//

int64_t countElements(const TensorRecord &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      throwMalformed(
          fmt::format("tensor '{}' has an extent of {}", tensor.name, dim));
  // Dims of 2^62 and 0 are no tensor either.
  int64_t ceiling = 1;
  for (int64_t dim : tensor.dims)
    if (__builtin_mul_overflow(ceiling, std::max<int64_t>(dim, 1), &ceiling) ||
        ceiling > int64_t(1) << 48)
      throwMalformed(fmt::format("tensor '{}' is too large", tensor.name));
  return count;
}

size_t packedBytes(ElementType type, int64_t elements) {
  return (size_t(elements) * elementBits(type) + 7) / 8;
}

/// How many numbers the fields of a tensor hold: two for one complex number,
/// one for a byte of packed elements.
static int64_t numbersOf(ElementType type, int64_t elements) {
  if (type == ElementType::c64 || type == ElementType::c128)
    return 2 * elements;
  if (elementBits(type) < 8)
    return int64_t(packedBytes(type, elements));
  return elements;
}

static NumberField fieldOf(ElementType type) {
  switch (type) {
  case ElementType::f32:
  case ElementType::c64:
    return NumberField::f32;
  case ElementType::f64:
  case ElementType::c128:
    return NumberField::f64;
  case ElementType::i64:
    return NumberField::i64;
  case ElementType::u32:
  case ElementType::u64:
    return NumberField::u64;
  default:
    return NumberField::i32;
  }
}

static WireType scalarOf(NumberField field) {
  return field == NumberField::f32   ? WireType::fixed32
         : field == NumberField::f64 ? WireType::fixed64
                                     : WireType::varint;
}

static int64_t countNumbers(const TensorRecord &tensor) {
  int64_t count = 0;
  WireType scalar = scalarOf(tensor.field);
  size_t width = scalar == WireType::fixed32 ? 4 : 8;
  for (std::span<const std::byte> part : tensor.numbers) {
    if (scalar != WireType::varint && part.size() % width == 0) {
      count += int64_t(part.size() / width);
      continue;
    }
    WireReader::NumberReader reader(part, scalar);
    for (uint64_t bits; reader.next(bits);)
      ++count;
  }
  return count;
}

static void checkFill(const TensorRecord &tensor, int64_t elements) {
  if (tensor.raw) {
    size_t wanted = packedBytes(tensor.type, elements);
    if (!tensor.numbers.empty())
      throwMalformed(
          fmt::format("tensor '{}' has its elements twice", tensor.name));
    if (tensor.raw->size() != wanted)
      throwMalformed(fmt::format("tensor '{}' has {} bytes for {} elements of "
                                 "{}",
                                 tensor.name, tensor.raw->size(), elements,
                                 elementName(tensor.type)));
    return;
  }
  int64_t count = countNumbers(tensor);
  if (count != numbersOf(tensor.type, elements))
    throwMalformed(fmt::format("tensor '{}' has {} numbers for {} elements of "
                               "{}",
                               tensor.name, count, elements,
                               elementName(tensor.type)));
  if (count != 0 && tensor.field != fieldOf(tensor.type))
    throwMalformed(fmt::format("tensor '{}' has its elements in a field of "
                               "another type",
                               tensor.name));
}

void checkTensor(const TensorRecord &tensor) {
  auto code = int32_t(tensor.type);
  if (code <= 0 || code > lastElementType)
    throwMalformed(fmt::format("tensor '{}' has elements of {}", tensor.name,
                               elementName(tensor.type)));
  int64_t elements = countElements(tensor);
  if (tensor.external) {
    if (tensor.raw || !tensor.numbers.empty())
      throwMalformed(
          fmt::format("tensor '{}' has its elements twice", tensor.name));
  } else if (tensor.type == ElementType::string) {
    if (int64_t(tensor.numStrings) != elements)
      throwMalformed(fmt::format("tensor '{}' has {} strings for {} elements",
                                 tensor.name, tensor.numStrings, elements));
  } else {
    checkFill(tensor, elements);
  }
}

//===- Names --------------------------------------------------------------===//

namespace {
/// The names that are defined where a graph stands.
class Names {
public:
  explicit Names(const Names *outer = nullptr) : outer(outer) {}

  void define(const std::string &name, const std::string &where) {
    if (!name.empty() && !own.insert(name).second)
      throwMalformed(fmt::format("{}: '{}' is defined twice", where, name));
  }
  void add(const std::string &name) { own.insert(name); }
  bool contains(const std::string &name) const {
    return own.contains(name) || (outer && outer->contains(name));
  }

private:
  std::unordered_set<std::string> own;
  const Names *outer;
};
} // namespace

static std::string labelOf(const NodeRecord &node) {
  return fmt::format("{} '{}'", node.op, node.name);
}

static void checkGraph(const GraphRecord &graph, const Names *outer);

static void checkNodes(const std::vector<NodeRecord> &nodes, Names &names) {
  for (const NodeRecord &node : nodes) {
    if (node.op.empty())
      throwMalformed(fmt::format("node '{}' has no operator", node.name));
    for (const std::string &input : node.inputs)
      if (!input.empty() && !names.contains(input))
        throwMalformed(fmt::format("{}: nothing before it defines '{}'",
                                   labelOf(node), input));
    std::set<std::string_view> attributes;
    for (const AttributeRecord &attribute : node.attributes) {
      if (!attributes.insert(attribute.name).second)
        throwMalformed(fmt::format("{}: attribute '{}' stands twice",
                                   labelOf(node), attribute.name));
      if (attribute.graph)
        checkGraph(*attribute.graph, &names);
    }
    for (const std::string &output : node.outputs)
      names.define(output, labelOf(node));
  }
}

static void checkGraph(const GraphRecord &graph, const Names *outer) {
  Names names(outer);
  std::string where = fmt::format("graph '{}'", graph.name);
  std::set<std::string> inputs, stored;
  for (const ValueRecord &input : graph.inputs) {
    names.define(input.name, where);
    inputs.insert(input.name);
  }
  // An initializer may be the default of an input.
  for (const auto &initializer : graph.initializers) {
    if (!stored.insert(initializer->name).second)
      throwMalformed(
          fmt::format("{}: '{}' is defined twice", where, initializer->name));
    names.add(initializer->name);
  }
  checkNodes(graph.nodes, names);
  for (const ValueRecord &output : graph.outputs)
    if (!output.name.empty() && !names.contains(output.name))
      throwMalformed(fmt::format("{}: nothing defines its output '{}'", where,
                                 output.name));
}

//===- Functions ----------------------------------------------------------===//

using FunctionKey = std::tuple<std::string, std::string, std::string>;

namespace {
/// Looks for functions that end up calling themselves.
class CallChecker {
public:
  explicit CallChecker(const std::vector<FunctionRecord> &functions) {
    for (const FunctionRecord &function : functions) {
      FunctionKey key{function.domain, function.name, function.overload};
      if (!byName.emplace(key, &function).second)
        throwMalformed(fmt::format("function '{}' of domain '{}' is defined "
                                   "twice",
                                   function.name, function.domain));
    }
  }

  void checkAll() {
    for (const auto &[key, function] : byName)
      check(*function);
  }

private:
  void check(const FunctionRecord &function) {
    if (done.contains(&function))
      return;
    if (!open.insert(&function).second || open.size() > 64)
      throwMalformed(fmt::format("function '{}' calls itself, or functions "
                                 "call each other more than 64 deep",
                                 function.name));
    checkCalls(function.nodes);
    open.erase(&function);
    done.insert(&function);
  }
  void checkCalls(const std::vector<NodeRecord> &nodes) {
    for (const NodeRecord &node : nodes) {
      auto found = byName.find({node.domain, node.op, node.overload});
      if (found != byName.end())
        check(*found->second);
      for (const AttributeRecord &attribute : node.attributes)
        if (attribute.graph)
          checkCalls(attribute.graph->nodes);
    }
  }

  std::map<FunctionKey, const FunctionRecord *> byName;
  std::set<const FunctionRecord *> open, done;
};
} // namespace

static void checkFunction(const FunctionRecord &function) {
  Names names;
  std::string where = fmt::format("function '{}'", function.name);
  for (const std::string &input : function.inputs)
    names.define(input, where);
  checkNodes(function.nodes, names);
  for (const std::string &output : function.outputs)
    if (!output.empty() && !names.contains(output))
      throwMalformed(
          fmt::format("{}: nothing defines its output '{}'", where, output));
}

//===- Versions -----------------------------------------------------------===//

[[noreturn]] static void throwVersion(std::string what) {
  throw Error(makeError(ErrorKind::unsupported, "onnx: " + std::move(what)));
}

static void checkOpsets(const Opsets &opsets) {
  auto own = opsets.find("");
  if (own != opsets.end() &&
      (own->second < oldestOpset || own->second > newestOpset))
    throwVersion(fmt::format("opset {}; {} to {} are read", own->second,
                             oldestOpset, newestOpset));
}

void checkModel(const ModelRecord &model) {
  if (model.irVersion == 0 && model.opsets.empty() && model.graph.nodes.empty())
    throwMalformed("the file is no ONNX model");
  if (model.irVersion < oldestIr || model.irVersion > newestIr)
    throwVersion(fmt::format("IR version {}; {} to {} are read",
                             model.irVersion, oldestIr, newestIr));
  if (model.opsets.empty())
    throwMalformed("the model imports no opset");
  checkOpsets(model.opsets);
  CallChecker(model.functions).checkAll();
  for (const FunctionRecord &function : model.functions) {
    checkOpsets(function.opsets);
    checkFunction(function);
  }
  checkGraph(model.graph, nullptr);
}

} // namespace sinter::onnx
