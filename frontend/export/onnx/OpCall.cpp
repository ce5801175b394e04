/// What rows need of the op that they write.
#include "frontend/export/onnx/OpCall.h"

#include "frontend/import/onnx/Records.h"

#include <sinter/Error.h>

#include <fmt/format.h>

namespace sinter::onnx {

OpCall::OpCall(GraphWriter &writer, uint32_t value)
    : writer(writer), place(value), reader(writer.graph.values[value].attrs) {}

std::vector<uint32_t> OpCall::dims() {
  std::vector<uint32_t> exprs;
  for (const Dim &dim : reader.dims())
    exprs.push_back(dim.expr);
  return exprs;
}

std::vector<int64_t> OpCall::ints() {
  std::span<const int64_t> numbers = reader.ints();
  return {numbers.begin(), numbers.end()};
}

std::vector<std::string> OpCall::elementwise() {
  bool isWhole = false; // an operand has all elements by itself
  std::vector<std::string> operands;
  for (uint32_t each : value().operands)
    isWhole |= writer.names[each].empty()
                   ? !writer.isPutOff(writer.graph.values[each])
                   : true;
  for (uint32_t each : value().operands)
    operands.push_back(isWhole ? writer.narrowOf(each) : writer.nameOf(each));
  return operands;
}

std::string OpCall::number(DType type, Number value) {
  return value.isReal ? writer.file.number(type, value.real)
                      : writer.file.number(type, value.integer);
}

std::string OpCall::make(std::string_view op,
                         const std::vector<std::string> &inputs,
                         const WrittenAttributes &attributes) {
  std::string result = writer.file.uniqueName("v");
  writer.file.node(op, inputs, {&result, 1}, attributes);
  return result;
}

static std::string nameFor(ModelFile &file,
                           const std::map<uint32_t, std::string> &wanted,
                           uint32_t number) {
  auto found = wanted.find(number);
  return found == wanted.end() ? file.uniqueName("v") : found->second;
}

void OpCall::give(std::string_view op, const std::vector<std::string> &inputs,
                  const WrittenAttributes &attributes) {
  giveOne(op, inputs, attributes, 0, 1);
}

void OpCall::giveOne(std::string_view op,
                     const std::vector<std::string> &inputs,
                     const WrittenAttributes &attributes, size_t which,
                     size_t count) {
  std::vector<std::string> results;
  for (size_t i = 0; i < count; ++i)
    results.push_back(i == which ? nameFor(writer.file, writer.wanted, place)
                                 : writer.file.uniqueName("v"));
  writer.file.node(op, inputs, results, attributes);
  writer.bind(place, results[which]);
}

WrittenAttributes OpCall::castTo(DType to) const {
  writer.file.checkElements(to);
  WrittenAttributes attributes = {{"to", int64_t(elementTypeOf(to))}};
  // What is too large becomes infinite or NaN, not the largest number.
  if (isFloat(to) && valueBits(to) == 8 && to != DType::f8e8m0fnu)
    attributes.emplace_back("saturate", int64_t(0));
  return attributes;
}

std::string OpCall::cast(const std::string &name, DType to) {
  return make("Cast", {name}, castTo(to));
}

void OpCall::unsupported(const std::string &why) const {
  throw Error(makeError(ErrorKind::unsupported, why));
}

} // namespace sinter::onnx
