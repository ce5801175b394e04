/// Reads good and bad ONNX messages.
#include "frontend/import/onnx/CheckModel.h"
#include "frontend/import/onnx/ReadRecords.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "frontend/import/onnx/Wire.h"
#include "tests/unit/onnx/ModelWriter.h"

#include <sinter/Error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx_test;
using testing::HasSubstr;

static std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

/// What is wrong with a model; empty when it is read.
static std::string problem(const std::string &bytes) {
  try {
    readModel(bytesOf(bytes));
  } catch (const Error &error) {
    return error.message();
  }
  return {};
}
static std::string tensorProblem(const Message &tensor) {
  try {
    readTensor(bytesOf(tensor.bytes));
  } catch (const Error &error) {
    return error.message();
  }
  return {};
}

/// y = Relu(x).
static Message reluGraph() {
  return Message()
      .text(2, "main")
      .message(11, valueMessage("x", 1, {-1, 3}))
      .message(12, valueMessage("y", 1, {-1, 3}))
      .message(1, nodeMessage("Relu", {"x"}, {"y"}, {}, "first"));
}

static std::string problemOfGraph(const Message &graph) {
  return problem(modelMessage(graph).bytes);
}

TEST(ReadModel, readsNamesTypesAndNodes) {
  std::string bytes = modelMessage(reluGraph()).bytes;
  ModelRecord model = readModel(bytesOf(bytes));
  EXPECT_EQ(model.irVersion, 8);
  EXPECT_EQ(model.opsets.at(""), 17);
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  EXPECT_EQ(model.graph.nodes[0].op, "Relu");
  EXPECT_EQ(model.graph.nodes[0].name, "first");
  ASSERT_EQ(model.graph.inputs.size(), 1u);
  const TypeRecord &type = model.graph.inputs[0].type;
  EXPECT_EQ(type.element, ElementType::f32);
  EXPECT_EQ(type.shape->at(0).name, "s1");
  EXPECT_EQ(type.shape->at(1).size, 3);
}

TEST(ReadModel, refusesOtherVersions) {
  EXPECT_THAT(problem(modelMessage(reluGraph(), 17, 2).bytes),
              HasSubstr("IR version 2"));
  EXPECT_THAT(problem(modelMessage(reluGraph(), 17, 15).bytes),
              HasSubstr("IR version 15"));
  EXPECT_THAT(problem(modelMessage(reluGraph(), 29).bytes),
              HasSubstr("opset 29"));
  EXPECT_THAT(problem(modelMessage(reluGraph(), 0).bytes),
              HasSubstr("opset 0"));
  EXPECT_EQ(problem(modelMessage(reluGraph(), 1, 3).bytes), "");
  EXPECT_EQ(problem(modelMessage(reluGraph(), 28, 14).bytes), "");
  EXPECT_THAT(problem(Message().integer(1, 8).message(7, reluGraph()).bytes),
              HasSubstr("imports no opset"));
  EXPECT_THAT(problem(""), HasSubstr("no ONNX model"));
}

TEST(ReadModel, refusesBytesThatAreNoMessage) {
  std::string good = modelMessage(reluGraph()).bytes;
  EXPECT_THAT(problem(good.substr(0, good.size() - 2)),
              HasSubstr("longer than what it stands in"));
  EXPECT_THAT(problem(std::string(12, '\xff')), HasSubstr("64 bits"));
  EXPECT_THAT(problem("\x80"), HasSubstr("ends inside a number"));
  EXPECT_THAT(problem(std::string("\x00", 1)), HasSubstr("the number 0"));
  EXPECT_THAT(problem("\x0b"), HasSubstr("wire type 3"));
  EXPECT_THAT(problem(Message().text(1, "8").bytes),
              HasSubstr("field 1 is not an integer"));
  EXPECT_THAT(problem(Message().integer(7, 1).bytes),
              HasSubstr("not a string or a message"));
}

TEST(ReadModel, refusesGraphsInGraphsWithoutEnd) {
  Message graph = reluGraph();
  for (int i = 0; i < 60; ++i)
    graph = Message().message(
        1, nodeMessage("If", {}, {"y"}, {graphAttribute("body", graph)}));
  EXPECT_THAT(problemOfGraph(graph), HasSubstr("deep"));
}

TEST(ReadModel, refusesMoreMemoryThanAFileIsWorth) {
  std::string empty;
  for (int i = 0; i < 2'000'000; ++i)
    empty += std::string("\x0a\x00", 2); // a node without fields
  Message graph;
  graph.bytes = empty;
  EXPECT_THAT(problemOfGraph(graph), HasSubstr("too much memory"));
}

TEST(ReadModel, refusesNamesThatNothingDefines) {
  EXPECT_THAT(problemOfGraph(Message().message(
                  1, nodeMessage("Relu", {"x"}, {"y"}, {}, "n"))),
              HasSubstr("Relu 'n': nothing before it defines 'x'"));
  EXPECT_THAT(problemOfGraph(reluGraph().message(
                  1, nodeMessage("Relu", {"x"}, {"y"}, {}, "n"))),
              HasSubstr("'y' is defined twice"));
  EXPECT_THAT(problemOfGraph(reluGraph().message(12, valueMessage("z", 1, {}))),
              HasSubstr("nothing defines its output 'z'"));
  EXPECT_THAT(problemOfGraph(reluGraph().message(1, nodeMessage("", {}, {}))),
              HasSubstr("has no operator"));
  Message twice = attributeMessage("alpha", 1.0f);
  EXPECT_THAT(problemOfGraph(reluGraph().message(
                  1, nodeMessage("Elu", {"x"}, {"z"}, {twice, twice}))),
              HasSubstr("'alpha' stands twice"));
}

TEST(ReadModel, refusesFunctionsThatCallThemselves) {
  Message opset = Message().text(1, "own").integer(2, 1);
  Message call = nodeMessage("f", {"a"}, {"b"}).text(7, "own");
  Message function = Message()
                         .text(1, "f")
                         .text(4, "a")
                         .text(5, "b")
                         .message(7, call)
                         .message(9, opset)
                         .text(10, "own");
  std::string bytes = modelMessage(reluGraph()).message(25, function).bytes;
  EXPECT_THAT(problem(bytes), HasSubstr("calls itself"));
}

TEST(ReadTensor, refusesElementsThatDoNotFit) {
  auto tensor = [](std::initializer_list<int64_t> dims, int type) {
    return Message().integers(1, dims).integer(2, type).text(8, "w");
  };
  EXPECT_THAT(tensorProblem(tensor({2}, 1).text(9, "1234")),
              HasSubstr("'w' has 4 bytes for 2 elements of FLOAT"));
  EXPECT_THAT(tensorProblem(tensor({2}, 7).packed(7, {1, 2, 3})),
              HasSubstr("3 numbers for 2 elements of INT64"));
  EXPECT_THAT(tensorProblem(tensor({1}, 7).packed(5, {1})),
              HasSubstr("field of another type"));
  EXPECT_THAT(tensorProblem(tensor({-1}, 1)), HasSubstr("an extent of -1"));
  EXPECT_THAT(tensorProblem(tensor({1 << 30, 1 << 30, 1 << 30}, 1)),
              HasSubstr("extent"));
  EXPECT_THAT(tensorProblem(tensor({0, int64_t(1) << 60}, 1)),
              HasSubstr("too large"));
  EXPECT_THAT(tensorProblem(tensor({1}, 27).text(9, "1")),
              HasSubstr("elements of type 27"));
  EXPECT_THAT(tensorProblem(tensor({1}, 3).packed(5, {1}).text(9, "1")),
              HasSubstr("twice"));
  EXPECT_THAT(tensorProblem(tensor({1}, 3).packed(5, {1}).packed(7, {1})),
              HasSubstr("numbers of two fields"));
  EXPECT_THAT(tensorProblem(tensor({2}, 8).text(6, "a")),
              HasSubstr("1 strings for 2 elements"));
  EXPECT_THAT(tensorProblem(tensor({}, 1).message(3, Message())),
              HasSubstr("segments"));
}

/// The elements of a tensor message as integers of T.
template <typename T> static std::vector<T> elements(const Message &message) {
  TensorRecord record = readTensor(bytesOf(message.bytes));
  ExternalFiles none;
  TensorBytes bytes = elementsOf(record, none);
  std::vector<T> values(bytes.bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.bytes.data(), bytes.bytes.size());
  return values;
}

TEST(ReadTensor, readsEveryElementType) {
  for (int type = 1; type <= lastElementType; ++type) {
    if (ElementType(type) == ElementType::string)
      continue;
    size_t size = packedBytes(ElementType(type), 3);
    Message tensor = Message().integers(1, {3}).integer(2, type);
    tensor.text(9, std::string(size, '\1'));
    TensorRecord record = readTensor(bytesOf(tensor.bytes));
    ExternalFiles none;
    size_t width = std::max(elementBits(ElementType(type)) / 8, 1u);
    EXPECT_EQ(elementsOf(record, none).bytes.size(), 3 * width)
        << elementName(ElementType(type));
  }
}

TEST(ReadTensor, readsFieldsOfNumbers) {
  Message half = Message().integers(1, {2}).integer(2, 10);
  EXPECT_EQ(elements<uint16_t>(half.packed(5, {0x3c00, 0x8000})),
            (std::vector<uint16_t>{0x3c00, 0x8000}));
  Message single = Message().integers(1, {2}).integer(2, 1);
  EXPECT_EQ(elements<float>(single.real(4, 1.5f).real(4, -2)),
            (std::vector<float>{1.5f, -2}));
  Message bytes = Message().integers(1, {2}).integer(2, 3);
  EXPECT_EQ(elements<int8_t>(bytes.packed(5, {-1, 127})),
            (std::vector<int8_t>{-1, 127}));
}

TEST(ReadTensor, unpacksElementsOfLessThanAByte) {
  Message four = Message().integers(1, {3}).integer(2, 22);
  EXPECT_EQ(elements<int8_t>(four.text(9, "\xf1\x08")),
            (std::vector<int8_t>{1, -1, -8}));
  Message two = Message().integers(1, {5}).integer(2, 25);
  EXPECT_EQ(elements<uint8_t>(two.text(9, "\xe4\x02")),
            (std::vector<uint8_t>{0, 1, 2, 3, 2}));
}

TEST(ReadTensor, refusesBoolsThatAreNone) {
  Message tensor = Message().integers(1, {1}).integer(2, 9).text(9, "\x02");
  EXPECT_THROW(elements<uint8_t>(tensor), Error);
}
