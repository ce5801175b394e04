/// Rules at the edges of what they take.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Memory.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;
using testing::HasSubstr;

static Message textsAttribute(std::string_view name, std::string_view value) {
  return Message().text(1, name).text(9, value).integer(20, 8);
}

/// A graph of x to y, both of open shapes.
static Message graphOf(int type, std::initializer_list<Message> nodes,
                       std::initializer_list<int64_t> dims = {-1}) {
  Message graph;
  graph.message(11, valueMessage("x", type, dims));
  graph.message(12, valueMessage("y", type, {}));
  for (const Message &node : nodes)
    graph.message(1, node);
  return graph;
}

template <typename T>
static Message constant(std::string_view name, int type,
                        std::initializer_list<int64_t> dims,
                        std::vector<T> elements) {
  return tensorMessage(name, type, dims, elements);
}

TEST(OnnxRules, sequencesHoldNoSequences) {
  Message inner = nodeMessage("SequenceConstruct", {"x"}, {"s"});
  Message at = nodeMessage("SequenceAt", {"t", "x"}, {"y"});
  for (const Message &outer :
       {nodeMessage("SequenceConstruct", {"s"}, {"t"}),
        nodeMessage("SequenceInsert", {"s", "s"}, {"t"})}) {
    onnx::Model model = modelOf(graphOf(1, {inner, outer, at}));
    EXPECT_THAT(problem([&] { model.forward(ones({2})); }),
                HasSubstr("a sequence of sequences"));
  }
}

TEST(OnnxRules, sequencesHaveFewParts) {
  Message split = nodeMessage("SplitToSequence", {"x"}, {"s"});
  Message join = nodeMessage("ConcatFromSequence", {"s"}, {"y"},
                             {attributeMessage("axis", int64_t(0))});
  onnx::Model model = modelOf(graphOf(1, {split, join}));
  EXPECT_THAT(problem([&] { model.forward(zeros({int64_t(1) << 21})); }),
              HasSubstr("so many parts"));
}

/// A slice of nothing, whose other axis is long, ends at once.
TEST(OnnxRules, longAxesWithoutElementsAreNotFolded) {
  constexpr int64_t length = int64_t(1) << 31;
  std::vector<int64_t> none, zero{0}, end{length}, axis{1};
  Message graph =
      graphOf(7, {nodeMessage("Slice", {"e", "zero", "end", "axis"}, {"s"}),
                  nodeMessage("Size", {"s"}, {"n"}),
                  nodeMessage("Add", {"x", "n"}, {"y"})})
          .message(5, constant("e", 7, {0, length}, none))
          .message(5, constant("zero", 7, {1}, zero))
          .message(5, constant("end", 7, {1}, end))
          .message(5, constant("axis", 7, {1}, axis));
  Tensor y = modelOf(graph).forward(full({1}, 3, {DType::i64, {}}));
  EXPECT_THAT(y.to_vector<int64_t>(), ElementsAre(3));
}

TEST(OnnxRules, emptyLoopsInLoopsEnd) {
  std::vector<int64_t> rounds{90'000};
  Message head = Message()
                     .message(11, valueMessage("i", 7, {}))
                     .message(11, valueMessage("on", 9, {}))
                     .message(11, valueMessage("v", 1, {-1}));
  Message inner = head;
  inner.message(12, valueMessage("on", 9, {}))
      .message(12, valueMessage("v", 1, {-1}));
  Message outer = head;
  outer.message(12, valueMessage("on", 9, {}))
      .message(12, valueMessage("w", 1, {-1}))
      .message(1, nodeMessage("Loop", {"rounds", "", "v"}, {"w"},
                              {graphAttribute("body", inner)}));
  Message graph = graphOf(1, {nodeMessage("Loop", {"rounds", "", "x"}, {"y"},
                                          {graphAttribute("body", outer)})})
                      .message(5, constant("rounds", 7, {}, rounds));
  EXPECT_THAT(problem([&] { modelOf(graph).forward(ones({2})); }),
              HasSubstr("too many nodes"));
}

TEST(OnnxRules, roundsShareTheWeightsOfTheirBody) {
  constexpr int64_t length = 1 << 18;
  std::vector<int64_t> rounds{100};
  std::vector<float> w(size_t(length), 1);
  Message body = Message()
                     .message(11, valueMessage("i", 7, {}))
                     .message(11, valueMessage("on", 9, {}))
                     .message(11, valueMessage("v", 1, {-1}))
                     .message(5, constant("w", 1, {length}, w))
                     .message(12, valueMessage("on", 9, {}))
                     .message(12, valueMessage("next", 1, {-1}))
                     .message(1, nodeMessage("Add", {"v", "w"}, {"next"}));
  Message graph = graphOf(1, {nodeMessage("Loop", {"rounds", "", "x"}, {"y"},
                                          {graphAttribute("body", body)})})
                      .message(5, constant("rounds", 7, {}, rounds));
  onnx::Model model = modelOf(graph);
  Tensor x = zeros({length});
  uint64_t before = memory().in_use;
  Tensor y = model.forward(x);
  EXPECT_LT(memory().in_use - before, 10 * uint64_t(length) * sizeof(float));
}

TEST(OnnxRules, rangesOfIntegersAreExact) {
  constexpr int64_t large = (int64_t(1) << 53) + 1;
  auto range = [](int64_t start, int64_t limit, int64_t delta) {
    Message graph = graphOf(7,
                            {nodeMessage("Range", {"a", "b", "c"}, {"r"}),
                             nodeMessage("Add", {"r", "x"}, {"y"})},
                            {1});
    graph.message(5, constant("a", 7, {}, std::vector{start}))
        .message(5, constant("b", 7, {}, std::vector{limit}))
        .message(5, constant("c", 7, {}, std::vector{delta}));
    return modelOf(graph)
        .forward(zeros({1}, {DType::i64, {}}))
        .to_vector<int64_t>();
  };
  EXPECT_THAT(range(large, large + 3, 2), ElementsAre(large, large + 2));
  EXPECT_THAT(range(5, -1, -3), ElementsAre(5, 2));
  EXPECT_THAT(range(0, std::numeric_limits<int64_t>::max(), large * 1023),
              ElementsAre(0, large * 1023));
}

TEST(OnnxRules, melWeightsRefuseFrequenciesThatDoNotFit) {
  auto weights = [](float rate, float high) {
    Message graph =
        graphOf(1,
                {nodeMessage("MelWeightMatrix",
                             {"bins", "length", "rate", "low", "high"}, {"w"}),
                 nodeMessage("Add", {"w", "x"}, {"y"})},
                {1});
    graph.message(5, constant("bins", 7, {}, std::vector<int64_t>{2}))
        .message(5, constant("length", 7, {}, std::vector<int64_t>{4}))
        .message(5, constant("rate", 1, {}, std::vector{rate}))
        .message(5, constant("low", 1, {}, std::vector{0.f}))
        .message(5, constant("high", 1, {}, std::vector{high}));
    return modelOf(graph).forward(zeros({1})).numel();
  };
  EXPECT_EQ(weights(8000, 4000), 6);
  EXPECT_EQ(weights(1e-6f, 4000), 6);
  for (float high : {std::numeric_limits<float>::infinity(), -1e9f, 1e30f})
    EXPECT_THAT(problem([&] { weights(8000, high); }),
                HasSubstr("the frequencies do not fit"));
}

TEST(OnnxRules, impliedEinsumOfRepeatedLabelsIsTheTrace) {
  Message equation = Message().text(1, "equation").text(4, "ii").integer(20, 3);
  onnx::Model model = modelOf(
      graphOf(1, {nodeMessage("Einsum", {"x"}, {"y"}, {equation})}, {-1, -2}));
  Tensor y = model.forward(tensor({{1.f, 2.f}, {3.f, 4.f}}));
  EXPECT_EQ(y.rank(), 0);
  EXPECT_EQ(y.item<float>(), 5);
}

/// Sigmoid takes no alpha, so the one that is given is the second function's.
TEST(OnnxRules, activationsTakeAlphasInOrder) {
  std::vector<float> w(3, -1), r(3, 0);
  Message alpha =
      Message().text(1, "activation_alpha").real(7, 0.5f).integer(20, 6);
  Message names = textsAttribute("activations", "Sigmoid").text(9, "LeakyRelu");
  Message graph =
      graphOf(1, {nodeMessage("GRU", {"x", "w", "r"}, {"y"}, {alpha, names})},
              {1, 1, 1})
          .message(5, constant("w", 1, {1, 3, 1}, w))
          .message(5, constant("r", 1, {1, 3, 1}, r));
  float y = modelOf(graph).forward(ones({1, 1, 1})).to_vector<float>()[0];
  // (1 - sigmoid(-1)) * leaky_relu(-1).
  EXPECT_NEAR(y, -0.5f * 0.7310586f, 1e-5);
}

static std::vector<float> resizedBy(float scale, int64_t size) {
  Message graph = graphOf(1, {nodeMessage("Resize", {"x", "s"}, {"y"})})
                      .message(5, constant("s", 1, {1}, std::vector{scale}));
  return modelOf(graph, 10)
      .forward(arange(size).to(DType::f32))
      .to_vector<float>();
}

TEST(OnnxRules, sizesOfScalesAreFloats) {
  EXPECT_EQ(resizedBy(0.7f, 10).size(), 7u);
}

TEST(OnnxRules, nearestOfResize10RoundsUpWhereItShrinks) {
  EXPECT_THAT(resizedBy(0.75f, 4), ElementsAre(0, 2, 3));
  EXPECT_THAT(resizedBy(1.5f, 2), ElementsAre(0, 0, 1));
}

TEST(OnnxRules, inputsAreOfTheirTypes) {
  Message identity = nodeMessage("Identity", {"x"}, {"y"});
  onnx::Model empty = modelOf(graphOf(1, {identity}, {0, 2}));
  EXPECT_THAT(problem([&] { empty.forward(ones({1, 2})); }),
              HasSubstr("the model wants f32[0,2]"));
  std::vector<float> w{1, 2};
  onnx::Model stored =
      modelOf(graphOf(1, {nodeMessage("Add", {"x", "w"}, {"y"})})
                  .message(5, constant("w", 1, {2}, w)));
  Tensor x = ones({2});
  EXPECT_THAT(stored.run({{"x", x}, {"w", x}}).at("y").to_vector<float>(),
              ElementsAre(2, 2));
  EXPECT_THAT(problem([&] { stored.run({{"x", x}, {"w", x.to(DType::f64)}}); }),
              HasSubstr("input 'w' is f64[2], its initializer"));
}

// 3 to the 6th is not the 728 that 728.9999 would be cut to.
TEST(OnnxRules, powersOfIntegersAreWhole) {
  Message graph = graphOf(7, {nodeMessage("Pow", {"x", "six"}, {"y"})})
                      .message(5, constant("six", 1, {}, std::vector{6.f}));
  std::vector<int64_t> powers;
  for (int64_t x = 0; x < 40; ++x)
    powers.push_back(x * x * x * x * x * x);
  EXPECT_EQ(modelOf(graph).forward(arange(40)).to_vector<int64_t>(), powers);
}

TEST(OnnxRules, largeIntegersAreComputedInDoubles) {
  constexpr int64_t large = (int64_t(1) << 24) + 1;
  auto run = [&](const Message &node) {
    Message graph =
        graphOf(7, {node}).message(5, constant("one", 1, {}, std::vector{1.f}));
    return modelOf(graph)
        .forward(full({1}, large, {DType::i64, {}}))
        .to_vector<int64_t>();
  };
  EXPECT_THAT(run(nodeMessage("ReduceMean", {"x"}, {"y"})), ElementsAre(large));
  EXPECT_THAT(run(nodeMessage("ReduceL2", {"x"}, {"y"})), ElementsAre(large));
  EXPECT_THAT(run(nodeMessage("Pow", {"x", "one"}, {"y"})), ElementsAre(large));
}

/// One node makes lists of two lengths; what is between stays of numbers.
TEST(OnnxRules, resizedAxesHaveNumbers) {
  Message up = nodeMessage("Resize", {"x", "", "scales"}, {"u"});
  Message add = nodeMessage("ConvTranspose", {"u", "w"}, {"y"});
  Message graph =
      graphOf(1, {up, add}, {1, 1, -1, -1})
          .message(5,
                   constant("scales", 1, {4}, std::vector<float>{1, 1, 2, 3}))
          .message(5, constant("w", 1, {1, 1, 1, 1}, std::vector<float>{2}));
  Tensor y = modelOf(graph).forward(ones({1, 1, 2, 3}));
  EXPECT_EQ(y.dim(2).value, 4);
  EXPECT_EQ(y.dim(3).value, 9);
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(36, 2));
}

//===- At the edges -------------------------------------------------------===//

static Tensor edges(std::string_view op, const Tensor &x,
                    std::initializer_list<Message> attributes = {},
                    int64_t opset = 19) {
  Message open = Message().integer(1, 1);
  Message graph = Message()
                      .message(11, Message().text(1, "x").message(
                                       2, Message().message(1, open)))
                      .message(12, Message().text(1, "y"))
                      .message(1, nodeMessage(op, {"x"}, {"y"}, attributes));
  return modelOf(graph, opset).forward(x);
}

TEST(OnnxRules, softmaxOfNothingIsNothing) {
  for (const char *op : {"Softmax", "LogSoftmax", "Hardmax"})
    for (int64_t opset : {11, 19})
      EXPECT_EQ(edges(op, zeros({2, 0}), {}, opset).numel(), 0) << op;
}

TEST(OnnxRules, theSignOfNanIsNan) {
  std::vector<float> signs =
      edges("Sign", tensor({NAN, -2.F, 0.F, 3.F})).to_vector<float>();
  EXPECT_TRUE(std::isnan(signs[0]));
  EXPECT_THAT(std::vector<float>(signs.begin() + 1, signs.end()),
              ElementsAre(-1, 0, 1));
}

/// From opset 6 on bounds that are left out are those of f32.
TEST(OnnxRules, oldClipHasDefaults) {
  float most = std::numeric_limits<float>::max();
  Tensor x = tensor({INFINITY, -INFINITY, 2.F});
  EXPECT_THAT(edges("Clip", x, {}, 6).to_vector<float>(),
              ElementsAre(most, -most, 2));
  EXPECT_THAT(
      edges("Clip", x, {attributeMessage("max", 1.F)}, 6).to_vector<float>(),
      ElementsAre(1, -most, 1));
}

static std::vector<float> padded(const char *mode,
                                 const std::vector<int64_t> &pads) {
  Message graph =
      graphOf(1, {nodeMessage(
                     "Pad", {"x", "pads"}, {"y"},
                     {Message().text(1, "mode").text(4, mode).integer(20, 3)})})
          .message(5, constant("pads", 7, {2}, pads));
  return modelOf(graph, 19).forward(tensor({1.F, 2.F, 3.F})).to_vector<float>();
}

TEST(OnnxRules, paddingsMayBeLongerThanTheAxis) {
  EXPECT_THAT(padded("wrap", {4, 3}),
              ElementsAre(3, 1, 2, 3, 1, 2, 3, 1, 2, 3));
  EXPECT_THAT(padded("reflect", {4, 3}),
              ElementsAre(1, 2, 3, 2, 1, 2, 3, 2, 1, 2));
  EXPECT_THAT(padded("wrap", {-1, 3}), ElementsAre(2, 3, 2, 3, 2));
}

/// Positions of the largest elements, also where nothing is larger than what is
/// padded, and of windows whose elements stand apart.
TEST(OnnxRules, positionsOfTheLargestElements) {
  auto positions = [](const Tensor &x, std::initializer_list<Message> more) {
    Message open = Message().integer(1, 1);
    Message node = nodeMessage("MaxPool", {"x"}, {"values", "y"}, more);
    Message graph = Message()
                        .message(11, Message().text(1, "x").message(
                                         2, Message().message(1, open)))
                        .message(12, Message().text(1, "y"))
                        .message(1, node);
    return modelOf(graph, 12).forward(x).to_vector<int64_t>();
  };
  Tensor x = full({1, 1, 2, 3}, -INFINITY);
  EXPECT_THAT(positions(x, {attributeMessage("kernel_shape", {2, 2}),
                            attributeMessage("strides", {2, 2}),
                            attributeMessage("pads", {1, 1, 1, 1})}),
              ElementsAre(0, 1, 3, 4));
  Tensor row = tensor({1.F, 5.F, 2.F, 4.F, 5.F, 9.F}).reshape({1, 1, 6});
  EXPECT_THAT(positions(row, {attributeMessage("kernel_shape", {2}),
                              attributeMessage("dilations", {3}),
                              attributeMessage("pads", {1, 1})}),
              ElementsAre(2, 3, 1, 5, 3));
}

TEST(OnnxRules, zerosHaveAScale) {
  Message graph = graphOf(
      1, {nodeMessage("DynamicQuantizeLinear", {"x"}, {"q", "y", "z"})});
  EXPECT_EQ(modelOf(graph).forward(zeros({3})).item<float>(), 1);
}

/// Places that scales of f32 put between two elements, and large numbers.
TEST(OnnxRules, roundsAsFloatsDo) {
  EXPECT_THAT(
      edges("HardSwish", tensor({3e38F, -3e38F, 1.F})).to_vector<float>(),
      ElementsAre(3e38F, 0, testing::FloatNear(2.F / 3, 1e-6F)));
  auto texts = [](std::string_view name, std::string_view value) {
    return Message().text(1, name).text(4, value).integer(20, 3);
  };
  Message graph =
      graphOf(1, {nodeMessage("Resize", {"x", "", "scales"}, {"y"},
                              {texts("mode", "nearest"),
                               texts("nearest_mode", "ceil"),
                               texts("coordinate_transformation_mode",
                                     "half_pixel_symmetric")})})
          .message(5, constant("scales", 1, {1}, std::vector<float>{.75F}));
  Tensor y = modelOf(graph, 19).forward(arange(7).to(DType::f32));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(1, 2, 3, 5, 6));
}

/// What counts of a window is told without a walk through it.
TEST(OnnxRules, dilatedMeansOfLargeWindows) {
  auto mean = [](std::initializer_list<int64_t> sizes,
                 std::initializer_list<int64_t> pads, bool counts) {
    Message pool = nodeMessage(
        "AveragePool", {"x"}, {"y"},
        {attributeMessage("kernel_shape", sizes),
         attributeMessage("pads", pads), attributeMessage("dilations", {2}),
         attributeMessage("count_include_pad", int64_t(counts))});
    return modelOf(graphOf(1, {pool}, {1, 1, 5}), 22);
  };
  Tensor x = arange(1, 6).to(DType::f32).reshape({1, 1, 5});
  // Windows of 0 2 4, 1 3 5, 2 4 0 and so on.
  EXPECT_THAT(mean({3}, {1, 1}, false).forward(x).to_vector<float>(),
              ElementsAre(3, 3, 3));
  EXPECT_THAT(mean({3}, {1, 1}, true).forward(x).to_vector<float>(),
              ElementsAre(2, 3, 2));
  EXPECT_THAT(mean({3}, {2, 0}, false).forward(x).to_vector<float>(),
              ElementsAre(2, 3, 3));
  onnx::Model huge = mean({1 << 30}, {0, (int64_t(1) << 31) - 6}, false);
  problem([&] { huge.forward(x); }); // soon
}
