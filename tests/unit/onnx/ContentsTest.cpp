/// Models whose inputs and outputs are sequences and optionals.
#include "frontend/import/onnx/ReadRecords.h"
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;
using testing::HasSubstr;

static Message tensorType(int element) {
  return Message().message(1, Message().integer(1, element));
}
static Message sequenceOf(const Message &type) {
  return Message().message(4, Message().message(1, type));
}
static Message optionalOf(const Message &type) {
  return Message().message(9, Message().message(1, type));
}
static Message named(std::string_view name, const Message &type) {
  return Message().text(1, name).message(2, type);
}

/// A model that maps -x over a sequence.
static onnx::Model negating() {
  Message body = Message()
                     .message(11, named("a", tensorType(1)))
                     .message(12, named("b", tensorType(1)))
                     .message(1, nodeMessage("Neg", {"a"}, {"b"}));
  return modelOf(Message()
                     .message(11, named("x", sequenceOf(tensorType(1))))
                     .message(12, named("y", sequenceOf(tensorType(1))))
                     .message(1, nodeMessage("SequenceMap", {"x"}, {"y"},
                                             {graphAttribute("body", body)})));
}

TEST(OnnxContents, sequencesGoInAndOut) {
  onnx::Model model = negating();
  EXPECT_EQ(model.inputs()[0].type, "sequence(f32[...])");
  std::vector<Tensor> x{tensor({1.F, 2.F}), tensor({3.F})};
  auto y =
      std::get<std::vector<Tensor>>(model.run_contents({{"x", x}}).at("y"));
  ASSERT_EQ(y.size(), 2U);
  EXPECT_THAT(y[0].to_vector<float>(), ElementsAre(-1, -2));
  EXPECT_THAT(y[1].to_vector<float>(), ElementsAre(-3));
  auto none = model.run_contents({{"x", std::vector<Tensor>()}}).at("y");
  EXPECT_TRUE(std::get<std::vector<Tensor>>(none).empty());
}

TEST(OnnxContents, othersThanTheModelWantsAreErrors) {
  onnx::Model model = negating();
  EXPECT_THAT(problem([&] { model.run_contents({{"x", ones({2})}}); }),
              HasSubstr("input 'x' is f32[2], the model wants "
                        "sequence(f32[...])"));
  std::vector<Tensor> integers{ones({1}, {DType::i64, {}})};
  EXPECT_THAT(problem([&] { model.run_contents({{"x", integers}}); }),
              HasSubstr("input 'x' is sequence(i64[1])"));
  EXPECT_THAT(problem([&] { model.run_contents({{"x", {}}}); }),
              HasSubstr("input 'x' is nothing"));
  EXPECT_THAT(problem([&] { model.run_contents({}); }),
              HasSubstr("input 'x' is missing"));
  onnx::Model split =
      modelOf(Message()
                  .message(11, named("x", tensorType(1)))
                  .message(12, named("y", sequenceOf(tensorType(1))))
                  .message(1, nodeMessage("SplitToSequence", {"x"}, {"y"})));
  EXPECT_THAT(problem([&] { split.run({{"x", ones({2})}}); }),
              HasSubstr("output 'y' is no tensor: call run_contents"));
}

TEST(OnnxContents, optionalsMayBeNothing) {
  onnx::Model model = modelOf(
      Message()
          .message(11, named("x", optionalOf(tensorType(1))))
          .message(12, named("has", tensorType(9)))
          .message(1, nodeMessage("OptionalHasElement", {"x"}, {"has"})),
      18);
  auto has = [&](const onnx::Content &x) {
    return std::get<Tensor>(model.run_contents({{"x", x}}).at("has"))
        .item<bool>();
  };
  EXPECT_FALSE(has({}));
  EXPECT_TRUE(has(ones({2})));
}

TEST(OnnxContents, filesOfOptionalSequencesAreRead) {
  Message one = tensorMessage("a", 1, {1}, std::vector<float>{4});
  Message list = Message().integer(2, 1).message(3, one).message(3, one);
  Message optional = Message().integer(2, 3).message(5, list);
  auto bytes = [](const Message &message) {
    return std::as_bytes(std::span(message.bytes));
  };
  EXPECT_EQ(onnx::readOptionalSequence(bytes(optional))->size(), 2U);
  EXPECT_FALSE(onnx::readOptionalSequence(bytes(Message().integer(2, 3))));
  Message tensor = Message().integer(2, 1).message(3, one);
  EXPECT_THROW(onnx::readOptionalSequence(bytes(tensor)), Error);
}
