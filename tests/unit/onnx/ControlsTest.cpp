/// If and Loop whose conditions the model computes.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Jit.h>
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

/// Recorded as a whole, where nothing can be read.
static std::string problemOfFile(const onnx::Model &model) {
  auto jitted = jit([&](const Tensor &x) { return model.forward(x); });
  return problem([&] { jitted(ones({2})); });
}

/// What is no `cond` is decided by the condition, which is read.
TEST(OnnxControls, branchesOfOtherTypes) {
  onnx::Model model = modelOf(
      graphOf({nodeMessage("Greater", {"s", "hundred"}, {"c"}),
               ifNode(branchOf(nodeMessage("Mul", {"x", "x"}, {"t"}), "t"),
                      branchOf(nodeMessage("Neg", {"s"}, {"e"}), "e"))}));
  EXPECT_THAT(model.forward(computed(9, 16)).to_vector<float>(),
              ElementsAre(-7));
  EXPECT_THAT(model.forward(computed(10000, 4)).to_vector<float>(),
              ElementsAre(10000, 4));
  EXPECT_THAT(problemOfFile(model),
              HasSubstr("the model computes the condition, and result 0 is "
                        "f32[2] in one branch and f32[] in the other"));
}

TEST(OnnxControls, branchesThatReadThemselves) {
  onnx::Model model = modelOf(graphOf(
      {nodeMessage("Greater", {"s", "hundred"}, {"c"}),
       ifNode(branchOf(nodeMessage("NonZero", {"x"}, {"t"}), "t"),
              branchOf(nodeMessage("Fancy", {"x"}, {"e"}, {}, "odd"), "e"))}));
  EXPECT_THAT(model.forward(computed(20000, 0)).to_vector<int64_t>(),
              ElementsAre(0));
  EXPECT_THAT(problem([&] { model.forward(computed(9, 16)); }),
              HasSubstr("Fancy (opset 17), node 'odd'"));
  EXPECT_THAT(problemOfFile(model),
              HasSubstr("NonZero (opset 17), node 't' of net.onnx: the tensor "
                        "(input 0) is computed by the model"));
}

TEST(OnnxControls, branchesOfSequences) {
  Message one = branchOf(nodeMessage("SequenceConstruct", {"x"}, {"t"}), "t");
  Message two =
      branchOf(nodeMessage("SequenceConstruct", {"x", "x"}, {"e"}), "e");
  Message choice = nodeMessage(
      "If", {"c"}, {"l"},
      {graphAttribute("then_branch", one), graphAttribute("else_branch", two)});
  onnx::Model model =
      modelOf(graphOf({nodeMessage("Greater", {"s", "hundred"}, {"c"}), choice,
                       nodeMessage("ConcatFromSequence", {"l"}, {"y"},
                                   {attributeMessage("axis", int64_t(0))})}));
  EXPECT_THAT(model.forward(computed(9, 16)).to_vector<float>(),
              ElementsAre(3, 4, 3, 4));
  EXPECT_THAT(problemOfFile(model), HasSubstr("a list or an optional"));
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

/// With the rows of all rounds as y.
static Message keepingLoop(std::string_view most, std::string_view condition) {
  Message body = bodyOf()
                     .message(12, valueMessage("u", floats, {2}))
                     .message(1, nodeMessage("Identity", {"w"}, {"u"}));
  return nodeMessage("Loop", {most, condition, "x"}, {"last", "y"},
                     {graphAttribute("body", body)});
}

TEST(OnnxControls, resultsOfEachRound) {
  onnx::Model model = modelOf(graphOf({keepingLoop("", "")}));
  EXPECT_THAT(model.forward(computed(100, 900)).to_vector<float>(),
              ElementsAre(20, 60, 40, 120));
  EXPECT_THAT(problemOfFile(model),
              HasSubstr("the model computes how many rounds there are, and "
                        "results have as many rows"));
}

TEST(OnnxControls, resultsOfAsManyRoundsAsTheModelComputes) {
  onnx::Model model = modelOf(graphOf(
      {nodeMessage("Cast", {"s"}, {"n"}, {attributeMessage("to", int64_t(7))}),
       keepingLoop("n", "")}));
  EXPECT_THAT(model.forward(computed(1, 1)).to_vector<float>(),
              ElementsAre(2, 2, 4, 4));
  Tensor none = model.forward(computed(0, 0));
  EXPECT_EQ(none.rank(), 2);
  EXPECT_EQ(none.dim(0).value, 0);
  EXPECT_EQ(none.dim(1).value, 2);
}

/// v and the vector so far, which gets longer, until v is 10.
TEST(OnnxControls, valuesThatGrow) {
  Message body =
      Message()
          .message(11, valueMessage("i", integers, {}))
          .message(11, valueMessage("on", booleans, {}))
          .message(11, valueMessage("v", floats, {-1}))
          .message(12, valueMessage("more", booleans, {}))
          .message(12, valueMessage("w", floats, {-1}))
          .message(1, nodeMessage("Concat", {"v", "x"}, {"w"},
                                  {attributeMessage("axis", int64_t(0))}))
          .message(1, nodeMessage("ReduceSum", {"w"}, {"t"},
                                  {attributeMessage("keepdims", int64_t(0))}))
          .message(1, nodeMessage("Less", {"t", "hundred"}, {"more"}));
  onnx::Model model = modelOf(graphOf({nodeMessage(
      "Loop", {"", "", "x"}, {"y"}, {graphAttribute("body", body)})}));
  EXPECT_EQ(model.forward(computed(400, 400)).numel(), 6);
  EXPECT_THAT(problemOfFile(model), HasSubstr("value 0 changes from f32[2]"));
}

TEST(OnnxControls, sequencesThatGrow) {
  Message body =
      Message()
          .message(11, valueMessage("i", integers, {}))
          .message(11, valueMessage("on", booleans, {}))
          .message(11, Message().text(1, "l"))
          .message(12, valueMessage("more", booleans, {}))
          .message(12, Message().text(1, "m"))
          .message(1, nodeMessage("SequenceInsert", {"l", "x"}, {"m"}))
          .message(1, nodeMessage("ConcatFromSequence", {"m"}, {"w"},
                                  {attributeMessage("axis", int64_t(0))}))
          .message(1, nodeMessage("ReduceSum", {"w"}, {"t"},
                                  {attributeMessage("keepdims", int64_t(0))}))
          .message(1, nodeMessage("Less", {"t", "hundred"}, {"more"}));
  onnx::Model model =
      modelOf(graphOf({nodeMessage("SequenceEmpty", {}, {"none"}),
                       nodeMessage("Loop", {"", "", "none"}, {"all"},
                                   {graphAttribute("body", body)}),
                       nodeMessage("ConcatFromSequence", {"all"}, {"y"},
                                   {attributeMessage("axis", int64_t(0))})}));
  EXPECT_THAT(model.forward(computed(900, 400)).to_vector<float>(),
              ElementsAre(30, 20, 30, 20));
  EXPECT_THAT(problemOfFile(model), HasSubstr("a list or an optional"));
}

/// The type of an attribute promises what the file may lack.
TEST(OnnxControls, graphsAndTensorsMayBeMissing) {
  auto typed = [](const char *name, int64_t type) {
    return Message().text(1, name).integer(20, type);
  };
  auto problemOf = [](const Message &node) {
    Message graph = Message()
                        .message(11, valueMessage("x", 1, {2}))
                        .message(12, valueMessage("y", 1, {}))
                        .message(1, node);
    return problem([&] { modelOf(graph, 11).forward(ones({2})); });
  };
  EXPECT_THAT(
      problemOf(nodeMessage("Loop", {"", "", "x"}, {"y"}, {typed("body", 5)})),
      HasSubstr("attribute 'body' has no graph"));
  EXPECT_THAT(
      problemOf(nodeMessage("Constant", {}, {"y"}, {typed("value", 4)})),
      HasSubstr("attribute 'value' has no tensor"));
}

/// An operand too many that is no value.
TEST(OnnxControls, operandsThatAreNoneMayFollow) {
  std::vector<int64_t> zero{0}, three{3}, one{1};
  Message graph =
      Message()
          .message(11, valueMessage("x", 7, {3}))
          .message(5, tensorMessage("a", 7, {}, zero))
          .message(5, tensorMessage("b", 7, {}, three))
          .message(5, tensorMessage("c", 7, {}, one))
          .message(12, valueMessage("y", 7, {}))
          .message(1, nodeMessage("Range", {"a", "b", "c", ""}, {"r"}))
          .message(1, nodeMessage("Add", {"x", "r"}, {"y"}));
  Tensor y = modelOf(graph, 11).forward(ones({3}, {DType::i64, {}}));
  EXPECT_THAT(y.to_vector<int>(), ElementsAre(1, 2, 3));
}
