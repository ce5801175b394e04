/// Every row of the import table on operands and attributes of all kinds, most
/// of which do not fit: it is recorded, or an Error that names the operator.
#include "frontend/import/onnx/Operators.h"
#include "tests/unit/onnx/ModelWriter.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx_test;
using testing::AnyOf;
using testing::HasSubstr;

namespace {

/// Values of attributes: sensible ones, small ones, and such as no model has.
enum class Style : uint8_t { sensible, zero, negative, huge };

int64_t integerOf(Style style) {
  switch (style) {
  case Style::sensible:
    return 1;
  case Style::zero:
    return 0;
  case Style::negative:
    return -1;
  case Style::huge:
    return std::numeric_limits<int64_t>::max();
  }
  return 0;
}

/// An attribute of its type; empty for what is left out.
std::optional<Message> attributeOf(const AttributeSpec &spec, Style style) {
  int64_t integer = integerOf(style);
  Message attribute;
  attribute.text(1, spec.name).integer(20, int(spec.type));
  switch (spec.type) {
  case AttributeType::integer:
    return attribute.integer(3, integer);
  case AttributeType::integers:
    return attribute.integers(8, {integer, integer});
  case AttributeType::real:
    return attribute.real(2, style == Style::huge ? NAN : float(integer));
  case AttributeType::reals:
    return attribute.real(7, float(integer)).real(7, float(integer));
  case AttributeType::text:
    return attribute.text(4, spec.defaultText);
  default:
    return std::nullopt;
  }
}

Message nodeOf(const Operator &row, int arity, Style style, bool isWhole) {
  Message node;
  for (int i = 0; i < arity; ++i)
    node.text(1, "x" + std::to_string(i));
  node.text(2, "y").text(4, row.name).text(7, row.domain);
  for (const AttributeSpec &spec : attributesOf(row))
    if (isWhole || spec.isRequired)
      if (auto attribute = attributeOf(spec, style))
        node.message(5, *attribute);
  return node;
}

Tensor operand(DType dtype, int64_t rank, int64_t extent) {
  Dims dims;
  dims.resize(static_cast<size_t>(rank), Dim(extent));
  std::vector<uint8_t> bytes;
  bytes.resize(static_cast<size_t>(std::pow(extent, rank)), 1);
  return tensor(bytes, dims, {dtype, device("null")});
}

Model modelOf(const Operator &row, const Message &node, int arity, int type) {
  Message graph;
  graph.message(1, node).message(12, Message().text(1, "y"));
  for (int i = 0; i < arity; ++i) {
    Message open = Message().integer(1, type); // a tensor of any rank
    graph.message(11, Message()
                          .text(1, "x" + std::to_string(i))
                          .message(2, Message().message(1, open)));
  }
  int64_t version = row.domain[0] == '\0' ? row.since : 17;
  Message model = modelMessage(graph, version);
  model.message(8, Message()
                       .text(1, row.domain)
                       .integer(2, row.domain[0] == '\0' ? row.since : 1));
  return load(std::as_bytes(std::span(model.bytes)), {.device = device("null")},
              "any.onnx");
}

void record(const Operator &row, int arity, Style style, bool isWhole,
            DType dtype, int type) {
  Message node = nodeOf(row, arity, style, isWhole);
  Model model = modelOf(row, node, arity, type);
  for (int64_t rank : {0, 1, 3, 4})
    for (int64_t extent : {0, 3}) {
      NamedTensors inputs;
      for (int i = 0; i < arity; ++i)
        inputs["x" + std::to_string(i)] =
            operand(dtype, i == 0 ? rank : rank % 3, extent);
      try {
        model.run(inputs);
      } catch (const Error &error) {
        EXPECT_THAT(error.message(),
                    AnyOf(HasSubstr(row.name), HasSubstr("is no tensor")));
        EXPECT_NE(error.kind(), ErrorKind::internal) << error.message();
      }
    }
}

class EveryOperator : public testing::TestWithParam<Style> {};

} // namespace

TEST_P(EveryOperator, isRecordedOrAnError) {
  for (const Operator &row : operators())
    for (bool isWhole : {false, true})
      for (int arity = 0; arity <= 4; ++arity)
        for (auto [dtype, type] : {std::pair(DType::f32, 1), {DType::i64, 7}}) {
          SCOPED_TRACE(std::string(row.name) + " " + std::to_string(arity));
          record(row, arity, GetParam(), isWhole, dtype, type);
        }
}

INSTANTIATE_TEST_SUITE_P(Styles, EveryOperator,
                         testing::Values(Style::sensible, Style::zero,
                                         Style::negative, Style::huge));
