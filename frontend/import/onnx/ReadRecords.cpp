/// ONNX messages: which field is what.
#include "frontend/import/onnx/ReadRecords.h"

#include "frontend/import/onnx/CheckModel.h"
#include "frontend/import/onnx/Wire.h"

#include <bit>
#include <limits>
#include <utility>

namespace sinter::onnx {

static void readGraph(WireReader &reader, GraphRecord &graph);

/// A message in a field, counted, by `read(reader, record)`.
template <typename T, typename F>
static void readMessage(const WireReader &field, T &record, F &&read) {
  field.budget().take(sizeof(T) + 32);
  WireReader inner(field.bytes(), field.budget());
  read(inner, record);
}
template <typename T, typename F>
static void addMessage(const WireReader &field, std::vector<T> &list,
                       F &&read) {
  readMessage(field, list.emplace_back(), read);
}

static void addIntegers(const WireReader &field, std::vector<int64_t> &list) {
  field.numbers(WireType::varint, [&](uint64_t bits) {
    field.budget().take(sizeof(int64_t));
    list.push_back(int64_t(bits));
  });
}

static int32_t shortInteger(const WireReader &field) {
  int64_t value = field.integer();
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max())
    throwMalformed("a code of " + std::to_string(value));
  return int32_t(value);
}

//===- Tensors ------------------------------------------------------------===//

static int64_t decimal(const std::string &text, const char *what) {
  int64_t value = 0;
  for (char digit : text)
    if (digit < '0' || digit > '9' ||
        __builtin_mul_overflow(value, int64_t(10), &value) ||
        __builtin_add_overflow(value, int64_t(digit - '0'), &value))
      throwMalformed(std::string("external data with the ") + what + " " +
                     text);
  if (text.empty())
    throwMalformed(std::string("external data without a number as its ") +
                   what);
  return value;
}

static void readExternalEntry(WireReader &reader, ExternalData &external) {
  std::string key, value;
  while (reader.next()) {
    if (reader.field() == 1)
      key = reader.text();
    else if (reader.field() == 2)
      value = reader.text();
  }
  if (key == "location")
    external.location = value;
  else if (key == "offset")
    external.offset = decimal(value, "offset");
  else if (key == "length")
    external.length = decimal(value, "length");
}

static void addNumbers(const WireReader &reader, TensorRecord &tensor,
                       NumberField field, WireType scalar) {
  auto bytes = reader.numberBytes(scalar);
  if (bytes.empty())
    return;
  if (tensor.field != NumberField::none && tensor.field != field)
    throwMalformed("tensor '" + tensor.name + "' has numbers of two fields");
  tensor.field = field;
  reader.budget().take(sizeof(std::span<const std::byte>));
  tensor.numbers.push_back(bytes);
}

static void readTensorFields(WireReader &reader, TensorRecord &tensor) {
  bool isExternal = false;
  ExternalData external;
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      addIntegers(reader, tensor.dims);
      break;
    case 2:
      tensor.type = ElementType(shortInteger(reader));
      break;
    case 3:
      throwMalformed("a tensor in segments");
    case 4:
      addNumbers(reader, tensor, NumberField::f32, WireType::fixed32);
      break;
    case 5:
      addNumbers(reader, tensor, NumberField::i32, WireType::varint);
      break;
    case 6:
      reader.bytes();
      ++tensor.numStrings;
      break;
    case 7:
      addNumbers(reader, tensor, NumberField::i64, WireType::varint);
      break;
    case 8:
      tensor.name = reader.text();
      break;
    case 9:
      tensor.raw = reader.bytes();
      break;
    case 10:
      addNumbers(reader, tensor, NumberField::f64, WireType::fixed64);
      break;
    case 11:
      addNumbers(reader, tensor, NumberField::u64, WireType::varint);
      break;
    case 13:
      readMessage(reader, external, readExternalEntry);
      break;
    case 14:
      isExternal = shortInteger(reader) == 1;
      break;
    default: // documentation, metadata, and what is newer
      break;
    }
  }
  if (isExternal)
    tensor.external = std::move(external);
}

static std::shared_ptr<const TensorRecord>
sharedTensor(const WireReader &reader) {
  auto tensor = std::make_shared<TensorRecord>();
  readMessage(reader, *tensor, readTensorFields);
  checkTensor(*tensor);
  return tensor;
}

//===- Types --------------------------------------------------------------===//

static void readAxis(WireReader &reader, AxisRecord &axis) {
  while (reader.next()) {
    if (reader.field() == 1)
      axis.size = reader.integer();
    else if (reader.field() == 2)
      axis.name = reader.text();
  }
}

static void readShape(WireReader &reader, std::vector<AxisRecord> &axes) {
  while (reader.next())
    if (reader.field() == 1)
      addMessage(reader, axes, readAxis);
}

static void readTensorType(WireReader &reader, TypeRecord &type) {
  while (reader.next()) {
    if (reader.field() == 1)
      type.element = ElementType(shortInteger(reader));
    else if (reader.field() == 2)
      readMessage(reader, type.shape.emplace(), readShape);
  }
}

static void readType(WireReader &reader, TypeRecord &type);

static void readNestedType(WireReader &reader, TypeRecord &type) {
  while (reader.next()) {
    if (reader.field() != 1)
      continue;
    auto inner = std::make_shared<TypeRecord>();
    readMessage(reader, *inner, readType);
    type.inner = std::move(inner);
  }
}

static void readType(WireReader &reader, TypeRecord &type) {
  using Kind = TypeRecord::Kind;
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      type.kind = Kind::tensor;
      readMessage(reader, type, readTensorType);
      break;
    case 4:
    case 9:
      type.kind = reader.field() == 4 ? Kind::sequence : Kind::optional;
      readMessage(reader, type, readNestedType);
      break;
    case 5:
    case 7:
    case 8:
      type.kind = Kind::other;
      break;
    default:
      break;
    }
  }
}

static void readValue(WireReader &reader, ValueRecord &value) {
  while (reader.next()) {
    if (reader.field() == 1)
      value.name = reader.text();
    else if (reader.field() == 2)
      readMessage(reader, value.type, readType);
  }
}

//===- Nodes --------------------------------------------------------------===//

/// One value of an attribute; the lists are in readAttribute.
static bool readSingle(WireReader &reader, AttributeRecord &attribute) {
  switch (reader.field()) {
  case 2:
    attribute.real = reader.real();
    return true;
  case 3:
    attribute.integer = reader.integer();
    return true;
  case 4:
    attribute.text = reader.text();
    return true;
  case 5:
    attribute.tensor = sharedTensor(reader);
    return true;
  case 6: {
    auto graph = std::make_shared<GraphRecord>();
    readMessage(reader, *graph, readGraph);
    attribute.graph = std::move(graph);
    return true;
  }
  case 14: {
    auto type = std::make_shared<TypeRecord>();
    readMessage(reader, *type, readType);
    attribute.typeProto = std::move(type);
    return true;
  }
  default:
    return false;
  }
}

/// The type of an attribute of a file that is too old to say it.
static AttributeType impliedType(const AttributeRecord &attribute) {
  if (attribute.tensor)
    return AttributeType::tensor;
  if (attribute.graph)
    return AttributeType::graph;
  if (!attribute.reals.empty())
    return AttributeType::reals;
  if (!attribute.integers.empty())
    return AttributeType::integers;
  return attribute.texts.empty() ? AttributeType::undefined
                                 : AttributeType::texts;
}

static void readAttribute(WireReader &reader, AttributeRecord &attribute) {
  while (reader.next()) {
    if (readSingle(reader, attribute))
      continue;
    switch (reader.field()) {
    case 1:
      attribute.name = reader.text();
      break;
    case 7:
      reader.numbers(WireType::fixed32, [&](uint64_t bits) {
        reader.budget().take(sizeof(float));
        attribute.reals.push_back(std::bit_cast<float>(uint32_t(bits)));
      });
      break;
    case 8:
      addIntegers(reader, attribute.integers);
      break;
    case 9:
      attribute.texts.push_back(reader.text());
      break;
    case 20:
      attribute.type = AttributeType(shortInteger(reader));
      break;
    case 21:
      attribute.reference = reader.text();
      break;
    default: // lists of tensors and graphs: the type says that they are there
      break;
    }
  }
  if (attribute.type == AttributeType::undefined)
    attribute.type = impliedType(attribute);
}

static void readNode(WireReader &reader, NodeRecord &node) {
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      node.inputs.push_back(reader.text());
      break;
    case 2:
      node.outputs.push_back(reader.text());
      break;
    case 3:
      node.name = reader.text();
      break;
    case 4:
      node.op = reader.text();
      break;
    case 5:
      addMessage(reader, node.attributes, readAttribute);
      break;
    case 7:
      node.domain = reader.text();
      break;
    case 8:
      node.overload = reader.text();
      break;
    default:
      break;
    }
  }
  if (node.domain == "ai.onnx")
    node.domain.clear();
}

static void readGraph(WireReader &reader, GraphRecord &graph) {
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      addMessage(reader, graph.nodes, readNode);
      break;
    case 2:
      graph.name = reader.text();
      break;
    case 5:
      graph.initializers.push_back(sharedTensor(reader));
      break;
    case 11:
      addMessage(reader, graph.inputs, readValue);
      break;
    case 12:
      addMessage(reader, graph.outputs, readValue);
      break;
    case 15:
      graph.hasSparse = true;
      break;
    default:
      break;
    }
  }
}

//===- Models -------------------------------------------------------------===//

static void addOpset(const WireReader &field, Opsets &opsets) {
  std::pair<std::string, int64_t> opset;
  readMessage(field, opset, [](WireReader &reader, auto &read) {
    while (reader.next()) {
      if (reader.field() == 1)
        read.first = reader.text();
      else if (reader.field() == 2)
        read.second = reader.integer();
    }
  });
  if (opset.first == "ai.onnx")
    opset.first.clear();
  opsets[opset.first] = opset.second;
}

static void readFunction(WireReader &reader, FunctionRecord &function) {
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      function.name = reader.text();
      break;
    case 4:
      function.inputs.push_back(reader.text());
      break;
    case 5:
      function.outputs.push_back(reader.text());
      break;
    case 6:
      function.attributes.push_back(reader.text());
      break;
    case 7:
      addMessage(reader, function.nodes, readNode);
      break;
    case 9:
      addOpset(reader, function.opsets);
      break;
    case 10:
      function.domain = reader.text();
      break;
    case 11:
      addMessage(reader, function.defaults, readAttribute);
      break;
    case 13:
      function.overload = reader.text();
      break;
    default:
      break;
    }
  }
}

ModelRecord readModel(std::span<const std::byte> file) {
  ReadBudget budget(file.size());
  WireReader reader(file, budget);
  ModelRecord model;
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      model.irVersion = reader.integer();
      break;
    case 2:
      model.producer = reader.text();
      break;
    case 7:
      readMessage(reader, model.graph, readGraph);
      break;
    case 8:
      addOpset(reader, model.opsets);
      break;
    case 25:
      addMessage(reader, model.functions, readFunction);
      break;
    default:
      break;
    }
  }
  checkModel(model);
  return model;
}

TensorRecord readTensor(std::span<const std::byte> file) {
  ReadBudget budget(file.size());
  WireReader reader(file, budget);
  TensorRecord tensor;
  readTensorFields(reader, tensor);
  checkTensor(tensor);
  return tensor;
}

std::vector<TensorRecord> readSequence(std::span<const std::byte> file) {
  ReadBudget budget(file.size());
  WireReader reader(file, budget);
  std::vector<TensorRecord> tensors;
  while (reader.next()) {
    if (reader.field() == 2 && reader.integer() > 1)
      throwMalformed("a sequence of something other than tensors");
    if (reader.field() != 3)
      continue;
    addMessage(reader, tensors, readTensorFields);
    checkTensor(tensors.back());
  }
  return tensors;
}

std::optional<TensorRecord> readOptional(std::span<const std::byte> file) {
  ReadBudget budget(file.size());
  WireReader reader(file, budget);
  std::optional<TensorRecord> tensor;
  while (reader.next()) {
    if (reader.field() == 2 && reader.integer() > 1)
      throwMalformed("an optional of something other than a tensor");
    if (reader.field() != 3)
      continue;
    readMessage(reader, tensor.emplace(), readTensorFields);
    checkTensor(*tensor);
  }
  return tensor;
}

std::optional<std::vector<TensorRecord>>
readOptionalSequence(std::span<const std::byte> file) {
  constexpr int64_t ofSequences = 3;
  ReadBudget budget(file.size());
  WireReader reader(file, budget);
  std::optional<std::vector<TensorRecord>> tensors;
  while (reader.next()) {
    if (reader.field() == 2 && reader.integer() != ofSequences)
      throwMalformed("an optional of something other than a sequence");
    if (reader.field() == 5)
      tensors = readSequence(reader.bytes());
  }
  return tensors;
}

} // namespace sinter::onnx
