/// What is decided by values that the model computes: it is read when the model
/// runs; where a file is made of it, sizes stay open and others are an error.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>
#include <sinter/Onnx.h>
#include <sinter/model.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;
using testing::HasSubstr;

/// x + 1 goes into the nodes as `a`; `y` comes out.
static Message graphOf(std::initializer_list<Message> nodes, int type = 1) {
  Message graph;
  Message open = Message().integer(1, type);
  graph.message(11,
                Message().text(1, "x").message(2, Message().message(1, open)));
  graph.message(12, Message().text(1, "y"));
  if (type == 1)
    graph.message(5, tensorMessage("one", 1, {}, std::vector<float>{1}));
  else
    graph.message(5, tensorMessage("one", 7, {}, std::vector<int64_t>{1}));
  graph.message(1, nodeMessage("Add", {"x", "one"}, {"a"}));
  for (const Message &node : nodes)
    graph.message(1, node);
  return graph;
}

static Tensor run(const Message &graph, const Tensor &x, int64_t opset = 17) {
  return modelOf(graph, opset).run({{"x", x}}).at("y");
}

static std::vector<int64_t> sizesOf(const Tensor &x) {
  std::vector<int64_t> sizes;
  for (Dim dim : x.shape())
    sizes.push_back(dim.value);
  return sizes;
}

TEST(OnnxCounted, nonZeroOfWhatTheModelComputes) {
  Message graph = graphOf({nodeMessage("NonZero", {"a"}, {"y"})});
  Tensor y = run(graph, tensor<float>({{-1, 0, 1}, {1, -1, -1}}));
  EXPECT_THAT(sizesOf(y), ElementsAre(2, 3));
  EXPECT_THAT(y.to_vector<int64_t>(), ElementsAre(0, 0, 1, 1, 2, 0));
  EXPECT_THAT(sizesOf(run(graph, full({5000}, -1.F))), ElementsAre(1, 0));
  EXPECT_THAT(sizesOf(run(graph, full({}, 1.F))), ElementsAre(1, 1));
}

TEST(OnnxCounted, whatIsNeededBehindReadsIsComputedOnce) {
  Message keep = attributeMessage("keepdims", int64_t(0));
  Message graph = graphOf({nodeMessage("Transpose", {"x"}, {"t"}),
                           nodeMessage("MatMul", {"a", "t"}, {"p"}),
                           nodeMessage("ReduceSum", {"p"}, {"sum"}, {keep}),
                           nodeMessage("NonZero", {"sum"}, {"some"}),
                           nodeMessage("ReduceMax", {"p"}, {"most"}, {keep}),
                           nodeMessage("NonZero", {"most"}, {"others"}),
                           nodeMessage("Sub", {"p", "most"}, {"y"})});
  Tensor x = full({64, 1024}, 0.5F).eval();
  reset_stats();
  Tensor y = run(graph, x);
  EXPECT_THAT(y.to_vector<float>(), testing::Each(0));
  // The product reads x twice, and nothing else is that large.
  EXPECT_LT(stats().bytes_read, 3 * 64 * 1024 * sizeof(float));
}

TEST(OnnxCounted, compressByWhatTheModelComputes) {
  Message cast =
      nodeMessage("Cast", {"a"}, {"c"}, {attributeMessage("to", int64_t(9))});
  Message graph = graphOf({cast, nodeMessage("Compress", {"x", "c"}, {"y"})});
  EXPECT_THAT(run(graph, tensor({3.F, -1.F, 5.F})).to_vector<float>(),
              ElementsAre(3, 5));
  Message axis =
      graphOf({nodeMessage("Flatten", {"a"}, {"f"}),
               nodeMessage("ReduceSum", {"f"}, {"s"},
                           {attributeMessage("keepdims", int64_t(0))}),
               nodeMessage("Compress", {"x", "s"}, {"y"})});
  EXPECT_THAT(problem([&] { run(axis, ones({2})); }),
              HasSubstr("the condition is no vector"));
}

TEST(OnnxCounted, uniqueOfWhatTheModelComputes) {
  Message graph =
      graphOf({nodeMessage("Unique", {"a"}, {"u", "first", "which", "y"},
                           {attributeMessage("sorted", int64_t(0))})});
  EXPECT_THAT(
      run(graph, tensor({4.F, 2.F, 4.F, 2.F, 4.F, 0.F})).to_vector<int64_t>(),
      ElementsAre(3, 2, 1));
}

TEST(OnnxCounted, boxesThatAreKept) {
  Message graph;
  for (const char *name : {"x", "scores"})
    graph.message(11, Message().text(1, name).message(
                          2, Message().message(1, Message().integer(1, 1))));
  graph.message(12, Message().text(1, "y"))
      .message(5, tensorMessage("most", 7, {1}, std::vector<int64_t>{2}))
      .message(5, tensorMessage("overlap", 1, {1}, std::vector<float>{.5F}))
      .message(5, tensorMessage("least", 1, {1}, std::vector<float>{.2F}))
      .message(1, nodeMessage("Sigmoid", {"scores"}, {"s"}))
      .message(1, nodeMessage("NonMaxSuppression",
                              {"x", "s", "most", "overlap", "least"}, {"y"}));
  Tensor boxes =
      tensor<float>(
          {{0, 0, 1, 1}, {1, 1.1F, 0, .1F}, {0, 10, 1, 11}, {0, 30, 1, 31}})
          .reshape({1, 4, 4});
  Tensor scores =
      tensor({2.F, 3.F, 1.F, -5.F, -5.F, -5.F, 1.F, 1.F}).reshape({1, 2, 4});
  Tensor y = modelOf(graph).run({{"x", boxes}, {"scores", scores}}).at("y");
  EXPECT_THAT(y.to_vector<int64_t>(),
              ElementsAre(0, 0, 1, 0, 0, 2, 0, 1, 2, 0, 1, 3));
}

//===- Shapes and conditions ----------------------------------------------===//

TEST(OnnxCounted, shapesThatTheModelComputes) {
  Message graph = graphOf({nodeMessage("ReduceMax", {"a"}, {"n"}),
                           nodeMessage("Expand", {"x", "n"}, {"y"})},
                          7);
  EXPECT_THAT(sizesOf(run(graph, full({1, 1}, 2, {DType::i64, {}}))),
              ElementsAre(1, 3));
}

/// What `nodes` make of x = {1, 0, 0, 0} and n, a vector of one number that is
/// 2, which is read; in a file it is an error that names the node.
static void expectRead(std::initializer_list<Message> nodes,
                       std::initializer_list<int64_t> sizes, const char *what) {
  auto number = [](std::string_view name, int64_t each) {
    return tensorMessage(name, 7, {1}, std::vector<int64_t>{each});
  };
  Message graph = graphOf({nodeMessage("ReduceMax", {"a"}, {"n"})}, 7);
  graph.message(5, number("zero", 0)).message(5, number("open", -1));
  for (const Message &node : nodes)
    graph.message(1, node);
  onnx::Model model = modelOf(graph);
  // Has no value yet.
  Tensor x = tensor<int64_t>({1, 0, 0, 0}) + 0;
  EXPECT_THAT(sizesOf(model.run({{"x", x}}).at("y")),
              testing::ElementsAreArray(sizes));
  auto jitted =
      jit([&](const Tensor &own) { return model.run({{"x", own}}).at("y"); });
  EXPECT_THAT(problem([&] { jitted(ones({4}, {DType::i64, {}})); }),
              AllOf(HasSubstr("(opset 17), node 'y' of net.onnx: "),
                    HasSubstr(std::string(what) + " is computed by the model, "
                                                  "and has to be known")));
}

TEST(OnnxCounted, sizesThatTheModelComputesAreRead) {
  Message cast =
      nodeMessage("Cast", {"x"}, {"f"}, {attributeMessage("to", int64_t(1))});
  Message real =
      nodeMessage("Cast", {"n"}, {"r"}, {attributeMessage("to", int64_t(1))});
  Message both = nodeMessage("Concat", {"n", "n"}, {"b"},
                             {attributeMessage("axis", int64_t(0))});
  Message wide = nodeMessage("Concat", {"n", "open"}, {"b"},
                             {attributeMessage("axis", int64_t(0))});
  Message one = nodeMessage("Squeeze", {"n"}, {"s"});
  Message nothing = nodeMessage("Squeeze", {"zero"}, {"z"});
  expectRead({both, nodeMessage("Pad", {"x", "b"}, {"y"})}, {8},
             "pads (input 1)");
  expectRead({nodeMessage("Slice", {"x", "zero", "n"}, {"y"})}, {2},
             "ends (input 2)");
  expectRead({nodeMessage("Slice", {"x", "n", "n"}, {"y"})}, {0},
             "starts (input 1)");
  expectRead({nodeMessage("Tile", {"x", "n"}, {"y"})}, {8},
             "repeats (input 1)");
  expectRead({wide, nodeMessage("Reshape", {"x", "b"}, {"y"})}, {2, 2},
             "the shape (input 1)");
  expectRead({nodeMessage("ConstantOfShape", {"n"}, {"y"})}, {2},
             "the shape (input 0)");
  expectRead({one, nothing, nodeMessage("Range", {"z", "s", "s"}, {"y"})}, {1},
             "limit (input 1)");
  expectRead({cast, nodeMessage("Resize", {"f", "", "", "n"}, {"y"})}, {2},
             "sizes (input 3)");
  expectRead({cast, real, nodeMessage("Resize", {"f", "", "r"}, {"y"})}, {8},
             "scales (input 2)");
}

/// Floats of sizes, as paddings to a multiple of 32 are computed.
TEST(OnnxCounted, largestSizesAreComputedOnTheHost) {
  Message toReal =
      nodeMessage("Cast", {"n"}, {"r"}, {attributeMessage("to", int64_t(1))});
  Message toInteger =
      nodeMessage("Cast", {"m"}, {"k"}, {attributeMessage("to", int64_t(7))});
  for (auto [op, size] : {std::pair("ReduceMax", 5), {"ReduceMin", 2}}) {
    onnx::Model model =
        modelOf(graphOf({nodeMessage("Shape", {"a"}, {"n"}), toReal,
                         nodeMessage(op, {"r"}, {"m"}), toInteger,
                         nodeMessage("ConstantOfShape", {"k"}, {"y"})}));
    auto jitted =
        jit([&](const Tensor &x) { return model.run({{"x", x}}).at("y"); });
    EXPECT_THAT(sizesOf(jitted(ones({5, 2}))), ElementsAre(size));
  }
}

static Message branchOf(const char *op) {
  return Message()
      .message(12, Message().text(1, op))
      .message(1, nodeMessage(op, {"a"}, {op}));
}

TEST(OnnxCounted, conditionsThatTheModelComputes) {
  Message graph =
      graphOf({nodeMessage("ReduceSum", {"a"}, {"s"},
                           {attributeMessage("keepdims", int64_t(0))}),
               nodeMessage("Greater", {"s", "one"}, {"holds"}),
               nodeMessage("If", {"holds"}, {"y"},
                           {graphAttribute("then_branch", branchOf("Neg")),
                            graphAttribute("else_branch", branchOf("Exp"))})});
  EXPECT_THAT(run(graph, tensor({1.F, 2.F})).to_vector<float>(),
              ElementsAre(-2, -3));
  EXPECT_THAT(run(graph, tensor({-1.F, -1.F})).to_vector<float>(),
              ElementsAre(1, 1));
}

/// Doubles until the sum is 20.
TEST(OnnxCounted, loopsThatEndByWhatTheyCompute) {
  Message body =
      Message()
          .message(11, valueMessage("i", 7, {}))
          .message(11, valueMessage("on", 9, {}))
          .message(11, valueMessage("v", 1, {-1}))
          .message(12, valueMessage("goes", 9, {}))
          .message(12, valueMessage("next", 1, {-1}))
          .message(1, nodeMessage("Add", {"v", "v"}, {"next"}))
          .message(1, nodeMessage("ReduceSum", {"next"}, {"s"},
                                  {attributeMessage("keepdims", int64_t(0))}))
          .message(1, nodeMessage("Less", {"s", "end"}, {"goes"}));
  Message graph = graphOf({nodeMessage("Loop", {"", "", "a"}, {"y"},
                                       {graphAttribute("body", body)})});
  graph.message(5, tensorMessage("end", 1, {}, std::vector<float>{20}));
  EXPECT_THAT(run(graph, tensor({0.F, 1.F})).to_vector<float>(),
              ElementsAre(8, 16));
}

/// In a function that is recorded as a whole nothing can be read.
TEST(OnnxCounted, isAnErrorWhereAProgramIsMade) {
  onnx::Model model = modelOf(
      graphOf({nodeMessage("NonZero", {"a"}, {"y"}, {}, "head/where")}));
  auto jitted =
      jit([&](const Tensor &x) { return model.run({{"x", x}}).at("y"); });
  std::string text = problem([&] { jitted(ones({3})); });
  EXPECT_THAT(text, HasSubstr("NonZero (opset 17), node 'head/where' of "
                              "net.onnx: the tensor (input 0) is computed by "
                              "the model"));
  onnx::Model shaped = modelOf(
      graphOf({nodeMessage("Expand", {"x", "a"}, {"y"}, {}, "wide")}, 7));
  auto wide =
      jit([&](const Tensor &x) { return shaped.run({{"x", x}}).at("y"); });
  EXPECT_THAT(problem([&] { wide(ones({1}, {DType::i64, {}})); }),
              HasSubstr("node 'wide' of net.onnx: the shape (input 1) is "
                        "computed by the model"));
}

//===- In files -----------------------------------------------------------===//

namespace {

/// The file that a model of one input of floats becomes.
class FileOf {
public:
  FileOf(const Message &graph, const Tensor &example) : model(modelOf(graph)) {
    char name[] = "/tmp/sinter-counted-XXXXXX";
    std::filesystem::path folder = ::mkdtemp(name);
    std::string path = folder / "net.sinter";
    export_model(path, [&](const Tensor &x) { return model.forward(x); },
                 example, {.targets = {"cpu"}});
    session.emplace(deploy::Model(path, {.device = "cpu"}));
    std::filesystem::remove_all(folder);
  }

  /// Runs the file, and the model as it is: they have to agree.
  template <typename T> std::vector<T> operator()(const Tensor &x) {
    std::vector<int64_t> dims = sizesOf(x);
    std::vector<float> values = x.to_vector<float>();
    deploy::Tensor input{std::span<const float>(values), dims};
    auto outputs = session->run({input});
    Tensor expected = model.forward(x);
    EXPECT_EQ(std::vector<int64_t>(outputs[0].dims().begin(),
                                   outputs[0].dims().end()),
              sizesOf(expected));
    auto given = outputs[0].values<T>();
    std::vector<T> result(given.begin(), given.end());
    EXPECT_EQ(result, expected.to_vector<T>());
    return result;
  }

private:
  onnx::Model model;
  std::optional<deploy::Session> session;
};

Message columnsOf(const char *from, const char *to) {
  return nodeMessage("Transpose", {from}, {to});
}

} // namespace

TEST(OnnxCounted, positionsStayOpenInFiles) {
  FileOf file(
      graphOf({nodeMessage("NonZero", {"a"}, {"p"}), columnsOf("p", "rows"),
               nodeMessage("GatherND", {"a", "rows"}, {"y"})}),
      ones({2, 3}));
  EXPECT_THAT(file.operator()<float>(tensor<float>({{-1, 0, 1}, {1, -1, 3}})),
              ElementsAre(1, 2, 2, 4));
  EXPECT_THAT(file.operator()<float>(full({2, 3}, -1.F)), ElementsAre());
}

TEST(OnnxCounted, slicesOfRowsThatAreCounted) {
  Message graph = graphOf({nodeMessage("Greater", {"a", "one"}, {"c"}),
                           nodeMessage("Compress", {"a", "c"}, {"k"},
                                       {attributeMessage("axis", int64_t(0))}),
                           nodeMessage("Slice", {"k", "from", "to"}, {"y"})});
  graph.message(5, tensorMessage("from", 7, {1}, std::vector<int64_t>{1}));
  graph.message(5, tensorMessage("to", 7, {1}, std::vector<int64_t>{3}));
  FileOf file(graph, ones({5}));
  EXPECT_THAT(file.operator()<float>(tensor({1.F, -1.F, 2.F, 3.F, 4.F})),
              ElementsAre(3, 4));
  EXPECT_THAT(file.operator()<float>(tensor({-1.F, -1.F, 2.F, 3.F, -4.F})),
              ElementsAre(4));
  EXPECT_THAT(file.operator()<float>(tensor({-1.F, -1.F, 2.F, -3.F, -4.F})),
              ElementsAre());
  EXPECT_THAT(file.operator()<float>(full({5}, -1.F)), ElementsAre());
}

/// Where there are no rows, others are given; and both are numbered.
TEST(OnnxCounted, branchesOfOtherNumbersOfRows) {
  Message then = Message()
                     .message(12, valueMessage("t", 1, {-1}))
                     .message(1, nodeMessage("Identity", {"others"}, {"t"}));
  Message otherwise = Message()
                          .message(12, valueMessage("e", 1, {-1}))
                          .message(1, nodeMessage("ReduceMax", {"k"}, {"m"}))
                          .message(1, nodeMessage("Sub", {"k", "m"}, {"e"}));
  Message keep = attributeMessage("keepdims", int64_t(0));
  Message graph = graphOf(
      {nodeMessage("Greater", {"a", "one"}, {"c"}),
       nodeMessage("Compress", {"a", "c"}, {"k"}),
       nodeMessage("Shape", {"k"}, {"s"}),
       nodeMessage("ReduceProd", {"s"}, {"n"}, {keep}),
       nodeMessage("Equal", {"n", "none"}, {"isEmpty"}),
       nodeMessage("If", {"isEmpty"}, {"r"},
                   {graphAttribute("then_branch", then),
                    graphAttribute("else_branch", otherwise)}),
       nodeMessage("Shape", {"r"}, {"rs"}),
       nodeMessage("Gather", {"rs", "none"}, {"rn"}),
       nodeMessage("Range", {"none", "rn", "step"}, {"i"}),
       nodeMessage("Cast", {"i"}, {"f"}, {attributeMessage("to", int64_t(1))}),
       nodeMessage("Add", {"r", "f"}, {"y"})});
  graph.message(5, tensorMessage("none", 7, {}, std::vector<int64_t>{0}));
  graph.message(5, tensorMessage("step", 7, {}, std::vector<int64_t>{1}));
  graph.message(5, tensorMessage("others", 1, {2}, std::vector<float>{7, 9}));
  FileOf file(graph, ones({4}));
  EXPECT_THAT(file.operator()<float>(tensor({1.F, 4.F, -1.F, 2.F})),
              ElementsAre(-3, 1, 0));
  EXPECT_THAT(file.operator()<float>(full({4}, -1.F)), ElementsAre(7, 10));
}

/// A size as a tensor, and an error that names the node that needs a number.
TEST(OnnxCounted, sizesAreValuesToo) {
  FileOf file(graphOf({nodeMessage("NonZero", {"a"}, {"p"}),
                       nodeMessage("Shape", {"p"}, {"y"})}),
              ones({7}));
  EXPECT_THAT(
      file.operator()<int64_t>(tensor({0.F, -1.F, 1.F, -1.F, -1.F, -1.F, 5.F})),
      ElementsAre(1, 3));
  Message graph = graphOf(
      {nodeMessage("NonZero", {"a"}, {"p"}),
       nodeMessage("DepthToSpace", {"p"}, {"y"},
                   {attributeMessage("blocksize", int64_t(2))}, "odd")});
  EXPECT_THAT(problem([&] { FileOf(graph, ones({7})); }),
              HasSubstr("node 'odd' of net.onnx"));
}

//===- Others -------------------------------------------------------------===//

TEST(OnnxCounted, bitsOfNumbers) {
  auto bits = [](const Tensor &x, int64_t to) {
    Message graph = graphOf(
        {nodeMessage("BitCast", {"a"}, {"y"}, {attributeMessage("to", to)})});
    return run(graph, x, 26);
  };
  EXPECT_THAT(bits(tensor({0.F, -3.F}), 6).to_vector<int32_t>(),
              ElementsAre(0x3f800000, int32_t(0xc0000000)));
  EXPECT_THAT(problem([&] { bits(ones({2}), 7); }),
              HasSubstr("elements of f32 as i64 of another width"));
  // Integers of 4 bits have a byte each, but are none.
  auto bitsOf = [](const Tensor &x, int64_t from, int64_t to) {
    Message graph = graphOf(
        {nodeMessage("Cast", {"a"}, {"b"}, {attributeMessage("to", from)}),
         nodeMessage("BitCast", {"b"}, {"y"}, {attributeMessage("to", to)})});
    return run(graph, x, 26);
  };
  EXPECT_THAT(problem([&] { bitsOf(ones({2}), 22, 3); }),
              HasSubstr("elements of i4 as i8 of another width"));
  Tensor all = bitsOf(tensor({-7.F}), 23, 22); // -6 of f4e2m1 as of i4
  EXPECT_THAT(all.to(DType::i32).to_vector<int32_t>(), ElementsAre(-1));
}

TEST(OnnxCounted, sequencesOfNumbersAreCounted) {
  auto texts = [](std::string_view name, std::string_view value) {
    return Message().text(1, name).text(4, value).integer(20, 3);
  };
  Message node = nodeMessage("TfIdfVectorizer", {"a"}, {"y"},
                             {attributeMessage("max_gram_length", int64_t(2)),
                              attributeMessage("min_gram_length", int64_t(1)),
                              attributeMessage("max_skip_count", int64_t(1)),
                              texts("mode", "TF"),
                              attributeMessage("ngram_counts", {0, 2}),
                              attributeMessage("ngram_indexes", {2, 0, 1}),
                              attributeMessage("pool_int64s", {3, 4, 3, 4})});
  Tensor x = tensor<int64_t>({{2, 3, 2, 3}, {0, 3, 3, 2}});
  Tensor y = run(graphOf({node}, 7), x);
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(2, 2, 2, 2, 0, 1));
  Message strings = node;
  strings.message(
      5, Message().text(1, "pool_strings").text(9, "a").integer(20, 8));
  EXPECT_THAT(problem([&] { run(graphOf({strings}, 7), x); }),
              HasSubstr("TfIdfVectorizer (opset 17), node 'y' of net.onnx: a "
                        "pool of strings"));
}

TEST(OnnxCounted, gradientsOfTheGraph) {
  Message node =
      nodeMessage("Gradient", {"x"}, {"y"},
                  {Message().text(1, "xs").text(9, "x").integer(20, 8),
                   Message().text(1, "y").text(4, "square").integer(20, 3)});
  node.text(7, "ai.onnx.preview.training");
  Message graph = graphOf({nodeMessage("Mul", {"a", "a"}, {"square"}), node});
  Message model = modelMessage(graph);
  model.message(8, Message().text(1, "ai.onnx.preview.training").integer(2, 1));
  auto loaded = onnx::load(std::as_bytes(std::span(model.bytes)));
  EXPECT_THAT(loaded.forward(tensor({1.F, -3.F})).to_vector<float>(),
              ElementsAre(4, -4));
}

TEST(OnnxCounted, determinants) {
  Message graph = graphOf({nodeMessage("Det", {"a"}, {"y"})});
  EXPECT_NEAR(run(graph, tensor<float>({{0, 1}, {2, 3}})).item<float>(), -2,
              1e-5);
}
