/// If and Loop whose conditions the model computes.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;
using testing::HasSubstr;

static constexpr int floats = 1, integers = 7, booleans = 9;

/// x, of two elements, whose sum is `s`, to y.
static Message graphOf(std::initializer_list<Message> nodes) {
  std::vector<float> zero{0}, hundred{100};
  Message graph;
  graph.message(11, valueMessage("x", floats, {2}))
      .message(12, valueMessage("y", floats, {2}))
      .message(5, tensorMessage("zero", floats, {}, zero))
      .message(5, tensorMessage("hundred", floats, {}, hundred))
      .message(1, nodeMessage("ReduceSum", {"x"}, {"s"},
                              {attributeMessage("keepdims", int64_t(0))}));
  for (const Message &node : nodes)
    graph.message(1, node);
  return graph;
}

/// Values that only a run computes.
static Tensor computed(float a, float b) {
  return sqrt(tensor(std::vector<float>{a, b}) + 0.0f) *
         tensor(std::vector<float>{1, 1});
}

static uint64_t programsMade() { return stats().compiles + stats().disk_hits; }

static Message branchOf(const Message &node, std::string_view result) {
  return Message().message(1, node).message(
      12, valueMessage(std::string(result), floats, {2}));
}

static Message ifNode(const Message &taken, const Message &other) {
  return nodeMessage("If", {"c"}, {"y"},
                     {graphAttribute("then_branch", taken),
                      graphAttribute("else_branch", other)});
}

TEST(OnnxControls, branchesThatTheModelChooses) {
  onnx::Model model = modelOf(
      graphOf({nodeMessage("Greater", {"s", "hundred"}, {"c"}),
               ifNode(branchOf(nodeMessage("Mul", {"x", "x"}, {"t"}), "t"),
                      branchOf(nodeMessage("Neg", {"x"}, {"e"}), "e"))}));
  EXPECT_THAT(model.forward(computed(9, 16)).to_vector<float>(),
              ElementsAre(-3, -4));
  uint64_t before = programsMade();
  EXPECT_THAT(model.forward(computed(10000, 4)).to_vector<float>(),
              ElementsAre(10000, 4));
  EXPECT_EQ(programsMade(), before);
}

TEST(OnnxControls, branchesOfOtherTypesAreRefused) {
  onnx::Model model = modelOf(
      graphOf({nodeMessage("Greater", {"s", "hundred"}, {"c"}),
               ifNode(branchOf(nodeMessage("Mul", {"x", "x"}, {"t"}), "t"),
                      branchOf(nodeMessage("Neg", {"s"}, {"e"}), "e"))}));
  EXPECT_THAT(problem([&] { model.forward(computed(9, 16)); }),
              HasSubstr("the model computes the condition, and result 0 is "
                        "f32[2] in one branch and f32[] in the other"));
}

/// Doubles v until its sum is no longer below 100.
static Message bodyOf() {
  return Message()
      .message(11, valueMessage("i", integers, {}))
      .message(11, valueMessage("on", booleans, {}))
      .message(11, valueMessage("v", floats, {2}))
      .message(12, valueMessage("more", booleans, {}))
      .message(12, valueMessage("w", floats, {2}))
      .message(1, nodeMessage("Add", {"v", "v"}, {"w"}))
      .message(1, nodeMessage("ReduceSum", {"w"}, {"t"},
                              {attributeMessage("keepdims", int64_t(0))}))
      .message(1, nodeMessage("Less", {"t", "hundred"}, {"more"}));
}

TEST(OnnxControls, roundsThatTheModelDecides) {
  onnx::Model model = modelOf(graphOf({nodeMessage(
      "Loop", {"", "", "x"}, {"y"}, {graphAttribute("body", bodyOf())})}));
  EXPECT_THAT(model.forward(computed(1, 9)).to_vector<float>(),
              ElementsAre(32, 96));
  uint64_t before = programsMade();
  EXPECT_THAT(model.forward(computed(2500, 0)).to_vector<float>(),
              ElementsAre(100, 0));
  EXPECT_EQ(programsMade(), before);
}

TEST(OnnxControls, theFirstConditionCounts) {
  onnx::Model model =
      modelOf(graphOf({nodeMessage("Less", {"s", "zero"}, {"c"}),
                       nodeMessage("Loop", {"", "c", "x"}, {"y"},
                                   {graphAttribute("body", bodyOf())})}));
  EXPECT_THAT(model.forward(computed(1, 9)).to_vector<float>(),
              ElementsAre(1, 3));
}

TEST(OnnxControls, theMostRoundsCount) {
  std::vector<int64_t> two{2};
  Message loop = nodeMessage("Loop", {"two", "", "x"}, {"y"},
                             {graphAttribute("body", bodyOf())});
  onnx::Model known = modelOf(
      graphOf({loop}).message(5, tensorMessage("two", integers, {}, two)));
  EXPECT_THAT(known.forward(computed(1, 9)).to_vector<float>(),
              ElementsAre(4, 12));
  onnx::Model counted =
      modelOf(graphOf({nodeMessage("Cast", {"s"}, {"two"},
                                   {attributeMessage("to", int64_t(7))}),
                       loop}));
  EXPECT_THAT(counted.forward(computed(1, 4)).to_vector<float>(),
              ElementsAre(8, 16));
}

TEST(OnnxControls, resultsOfEachRoundAreRefused) {
  Message body = bodyOf()
                     .message(12, valueMessage("u", floats, {2}))
                     .message(1, nodeMessage("Identity", {"w"}, {"u"}));
  onnx::Model model = modelOf(graphOf({nodeMessage(
      "Loop", {"", "", "x"}, {"y", "all"}, {graphAttribute("body", body)})}));
  EXPECT_THAT(problem([&] { model.forward(computed(1, 9)); }),
              HasSubstr("the model computes how many rounds there are, and "
                        "results have as many rows"));
}
