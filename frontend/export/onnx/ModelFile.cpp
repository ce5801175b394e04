/// Messages of a model, and the file that they make.
#include "frontend/export/onnx/ModelFile.h"

#include "frontend/import/onnx/Records.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/graph/Elements.h"

#include <sinter/Error.h>
#include <sinter/version.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace sinter::onnx {

// The numbers of fields are those of onnx.proto.

std::string ModelFile::uniqueName(const std::string &wanted) {
  std::string name = wanted;
  for (size_t again = 1; name.empty() || !names.insert(name).second; ++again)
    name = fmt::format("{}_{}", wanted, again);
  return name;
}

static WireWriter messageOf(const WrittenAttribute &attribute) {
  WireWriter message;
  message.text(1, attribute.name);
  switch (attribute.kind) {
  case WrittenAttribute::Kind::integer:
    message.integer(3, attribute.integer);
    message.integer(20, int64_t(AttributeType::integer));
    break;
  case WrittenAttribute::Kind::real:
    message.real(2, attribute.real);
    message.integer(20, int64_t(AttributeType::real));
    break;
  case WrittenAttribute::Kind::text:
    message.text(4, attribute.text);
    message.integer(20, int64_t(AttributeType::text));
    break;
  case WrittenAttribute::Kind::integers:
    for (int64_t value : attribute.integers)
      message.integer(8, value);
    message.integer(20, int64_t(AttributeType::integers));
    break;
  case WrittenAttribute::Kind::graph:
    message.message(6, attribute.graph);
    message.integer(20, int64_t(AttributeType::graph));
    break;
  }
  return message;
}

void ModelFile::node(std::string_view op, std::span<const std::string> from,
                     std::span<const std::string> to,
                     const WrittenAttributes &attributes) {
  WireWriter message;
  for (const std::string &name : from)
    message.text(1, name);
  for (const std::string &name : to)
    message.text(2, name);
  message.text(3, fmt::format("{}_{}", op, numNodes++));
  message.text(4, op);
  for (const WrittenAttribute &attribute : attributes)
    message.message(5, messageOf(attribute));
  nodes.message(1, message);
}

//===- Tensors ------------------------------------------------------------===//

/// The first opset that has such elements.
static int64_t firstOpsetOf(DType dtype) {
  switch (dtype) {
  case DType::f8e4m3fn:
  case DType::f8e5m2:
  case DType::f8e4m3fnuz:
  case DType::f8e5m2fnuz:
    return 19;
  case DType::i4:
  case DType::u4:
    return 21;
  case DType::f4e2m1:
    return 23;
  case DType::f8e8m0fnu:
    return 24;
  case DType::i2:
  case DType::u2:
    return 25;
  default:
    return 1;
  }
}

void ModelFile::checkElements(DType dtype) const {
  if (int64_t first = firstOpsetOf(dtype); version < first)
    throw Error(makeError(ErrorKind::unsupported,
                          fmt::format("ONNX has {} from opset {} on",
                                      sinter::name(dtype), first)));
}

void ModelFile::initializer(const std::string &name, DType dtype,
                            std::span<const int64_t> dims,
                            std::span<const std::byte> bytes) {
  checkElements(dtype);
  if (valueBits(dtype) < 8 && dtype != DType::boolean)
    throw Error(makeError(ErrorKind::unsupported,
                          fmt::format("'{}': parameters of {}, of which files "
                                      "hold several in a byte",
                                      name, sinter::name(dtype))));
  stored.push_back({name, dtype, {dims.begin(), dims.end()}, bytes});
}

std::string ModelFile::constant(const std::string &key, DType dtype,
                                std::vector<int64_t> dims,
                                std::vector<std::byte> bytes) {
  std::string &name = constants[key];
  if (name.empty()) {
    name = uniqueName("c");
    owned.push_back(std::move(bytes));
    initializer(name, dtype, dims, owned.back());
  }
  return name;
}

std::string ModelFile::integers(const std::vector<int64_t> &values) {
  auto bytes = std::as_bytes(std::span(values));
  return constant(fmt::format("[{}]", fmt::join(values, ",")), DType::i64,
                  {int64_t(values.size())}, {bytes.begin(), bytes.end()});
}

std::string ModelFile::number(DType dtype, double value) {
  std::vector<std::byte> bytes(byteWidth(dtype));
  storeNumber(bytes.data(), dtype, value);
  return constant(fmt::format("{} {}", sinter::name(dtype), value), dtype, {},
                  std::move(bytes));
}

std::string ModelFile::number(DType dtype, int64_t value) {
  if (dtype != DType::i64)
    return number(dtype, double(value));
  auto bytes = std::as_bytes(std::span(&value, 1));
  return constant(fmt::format("i64 {}", value), dtype, {},
                  {bytes.begin(), bytes.end()});
}

//===- Inputs and outputs -------------------------------------------------===//

static WireWriter valueOf(const std::string &name, DType dtype,
                          std::span<const WrittenDim> dims) {
  WireWriter shape, tensor, type, value;
  for (const WrittenDim &dim : dims) {
    WireWriter axis;
    if (dim.size >= 0)
      axis.integer(1, dim.size);
    else if (!dim.name.empty())
      axis.text(2, dim.name);
    shape.message(1, axis);
  }
  tensor.integer(1, int64_t(elementTypeOf(dtype)));
  tensor.message(2, shape);
  type.message(1, tensor);
  value.text(1, name);
  value.message(2, type);
  return value;
}

void ModelFile::input(const std::string &name, DType dtype,
                      std::span<const WrittenDim> dims) {
  checkElements(dtype);
  inputs.message(11, valueOf(name, dtype, dims));
}

void ModelFile::output(const std::string &name, DType dtype,
                       std::span<const WrittenDim> dims) {
  checkElements(dtype);
  outputs.message(12, valueOf(name, dtype, dims));
}

void ModelFile::beginGraph() {
  around.push_back(std::exchange(nodes, WireWriter()));
}

WireWriter ModelFile::endGraph(std::span<const WrittenPort> from,
                               std::span<const WrittenPort> to) {
  WireWriter graph = std::exchange(nodes, std::move(around.back()));
  around.pop_back();
  graph.text(2, uniqueName("body"));
  for (const WrittenPort &port : from)
    graph.message(11, valueOf(port.name, port.dtype, port.dims));
  for (const WrittenPort &port : to)
    graph.message(12, valueOf(port.name, port.dtype, port.dims));
  return graph;
}

//===- The file -----------------------------------------------------------===//

/// The first IR version that has the opset.
static int64_t irVersionOf(int64_t opset) {
  return opset >= 23 ? 11 : opset >= 21 ? 10 : opset >= 19 ? 9 : 8;
}

static WireWriter entry(const char *key, const std::string &value) {
  WireWriter message;
  message.text(1, key);
  message.text(2, value);
  return message;
}

size_t ModelFile::storedBytes() const {
  size_t bytes = 0;
  for (const Stored &tensor : stored)
    bytes += tensor.bytes.size();
  return bytes;
}

namespace {
/// Parts of a file, in order; texts are kept.
struct Parts {
  std::vector<std::unique_ptr<WireWriter>> kept;
  std::vector<std::span<const std::byte>> spans;
  size_t size = 0;

  void add(std::span<const std::byte> bytes) {
    spans.push_back(bytes);
    size += bytes.size();
  }
  void add(WireWriter message) {
    kept.push_back(std::make_unique<WireWriter>(std::move(message)));
    add(kept.back()->bytes());
  }
};
} // namespace

static constexpr size_t alignment = 4096; // so that parts can be mapped
static constexpr size_t smallest = 1024;  // smaller ones stay in the model

Status ModelFile::write(const std::string &path, bool isBeside) const {
  // A message has less than 2 GiB; what is no weight has room beside them.
  constexpr size_t most = (size_t(1) << 31) - (size_t(1) << 26);
  isBeside |= storedBytes() > most;
  std::string beside = path + ".data";
  Parts graph, data;
  static constexpr std::byte zeros[alignment] = {};
  for (const Stored &tensor : stored) {
    bool isApart = isBeside && tensor.bytes.size() >= smallest;
    WireWriter head;
    for (int64_t dim : tensor.dims)
      head.integer(1, dim);
    head.integer(2, int64_t(elementTypeOf(tensor.dtype)));
    head.text(8, tensor.name);
    if (isApart) {
      data.add(std::span(zeros).first((alignment - data.size % alignment) %
                                      alignment));
      head.message(13,
                   entry("location", std::filesystem::path(beside).filename()));
      head.message(13, entry("offset", std::to_string(data.size)));
      head.message(13, entry("length", std::to_string(tensor.bytes.size())));
      head.integer(14, 1);
      data.add(tensor.bytes);
    } else {
      head.open(9, tensor.bytes.size());
    }
    WireWriter field;
    field.open(5, head.size() + (isApart ? 0 : tensor.bytes.size()));
    field.append(head);
    graph.add(std::move(field));
    if (!isApart)
      graph.add(tensor.bytes);
  }
  WireWriter name;
  name.text(2, "main");
  size_t graphBytes =
      nodes.size() + name.size() + graph.size + inputs.size() + outputs.size();
  WireWriter head, opsets;
  head.integer(1, irVersionOf(version));
  head.text(2, "sinter");
  head.text(3, SINTER_VERSION);
  opsets.text(1, "");
  opsets.integer(2, version);
  head.message(8, opsets);
  head.open(7, graphBytes);
  std::vector<std::span<const std::byte>> all = {head.bytes(), nodes.bytes(),
                                                 name.bytes()};
  all.insert(all.end(), graph.spans.begin(), graph.spans.end());
  all.push_back(inputs.bytes());
  all.push_back(outputs.bytes());
  if (isBeside)
    SINTER_TRY(runtime::replaceFile(beside, data.spans));
  return runtime::replaceFile(path, all);
}

} // namespace sinter::onnx
