/// Models: inputs, parameters, errors, known shapes.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;
using testing::HasSubstr;

/// y = x w + b, of w [2,3] and b [3].
static Message linearGraph() {
  std::vector<float> weight{1, 2, 3, 4, 5, 6}, bias{10, 20, 30};
  return Message()
      .text(2, "main")
      .message(11, valueMessage("x", 1, {-1, 2}))
      .message(5, tensorMessage("w", 1, {2, 3}, weight))
      .message(5, tensorMessage("b", 1, {3}, bias))
      .message(12, valueMessage("y", 1, {-1, 3}))
      .message(1, nodeMessage("Gemm", {"x", "w", "b"}, {"y"}, {}, "fc"));
}

TEST(OnnxModel, runsOnNamedInputs) {
  onnx::Model model = modelOf(linearGraph());
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].name, "x");
  EXPECT_EQ(model.inputs()[0].type, "f32[s1,2]");
  EXPECT_EQ(model.outputs()[0].type, "f32[s1,3]");
  Tensor x = tensor({{1.f, 0.f}, {0.f, 1.f}});
  auto outputs = model.run({{"x", x}});
  EXPECT_THAT(outputs.at("y").to_vector<float>(),
              ElementsAre(11, 22, 33, 14, 25, 36));
  EXPECT_THAT(model(x).to_vector<float>(), ElementsAre(11, 22, 33, 14, 25, 36));
}

TEST(OnnxModel, takesEverySizeOfAnOpenAxis) {
  onnx::Model model = modelOf(linearGraph());
  for (int64_t rows : {1, 3, 5}) {
    Tensor y = model.forward(ones({rows, 2}));
    EXPECT_EQ(y.dim(0).value, rows);
    EXPECT_THAT(y.to_vector<float>(), testing::Contains(15).Times(rows));
  }
}

TEST(OnnxModel, refusesOtherInputs) {
  onnx::Model model = modelOf(linearGraph());
  Tensor x = ones({1, 2});
  auto run = [&](const onnx::NamedTensors &inputs) {
    return problem([&] { model.run(inputs); });
  };
  EXPECT_THAT(run({}), HasSubstr("net.onnx: input 'x' is missing"));
  EXPECT_THAT(run({{"x", x}, {"z", x}}), HasSubstr("no input 'z'"));
  EXPECT_THAT(run({{"x", ones({1, 3})}}),
              HasSubstr("input 'x' is f32[1,3], the model wants f32[s1,2]"));
  EXPECT_THAT(run({{"x", x.to(DType::f64)}}), HasSubstr("f64[1,2]"));
  EXPECT_THAT(problem([] { onnx::Model().inputs(); }), HasSubstr("empty"));
}

TEST(OnnxModel, trains) {
  onnx::Model model = modelOf(linearGraph());
  std::vector<std::string> names;
  model.visit(
      [&](const std::string &path, const Param &) { names.push_back(path); });
  EXPECT_THAT(names, ElementsAre("w", "b"));
  EXPECT_EQ(model.num_params(), 9);
  optim::Sgd sgd({.lr = 0.001});
  Tensor x = ones({4, 2});
  float before = mean(square(model.forward(x))).item<float>();
  for (int step = 0; step < 3; ++step)
    sgd.step(model, mean(square(model.forward(x))).backward());
  EXPECT_LT(mean(square(model.forward(x))).item<float>(), before);
}

TEST(OnnxModel, savesAndLoadsParameters) {
  onnx::Model model = modelOf(linearGraph()), other = modelOf(linearGraph());
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-onnx-" + std::to_string(getpid()));
  for (auto [name, factor] : {std::pair("w", 2.f), std::pair("b", 3.f)})
    model.visit([&, name = name, factor = factor](const std::string &own,
                                                  Param &param) {
      if (own == name)
        param.set(param.tensor() * factor);
    });
  model.save(path);
  other.load(path);
  std::filesystem::remove(path);
  EXPECT_THAT(other.forward(ones({1, 2})).to_vector<float>(),
              ElementsAre(10 + 30, 14 + 60, 18 + 90));
}

TEST(OnnxModel, namesTheNodeOfAnError) {
  Message graph =
      Message()
          .message(11, valueMessage("x", 1, {-1}))
          .message(12, valueMessage("y", 1, {}))
          .message(1, nodeMessage("Fancy", {"x"}, {"y"}, {}, "layer/fancy"));
  onnx::Model model = modelOf(graph, 13);
  EXPECT_EQ(problem([&] { model.forward(ones({2})); }),
            "onnx: Fancy (opset 13), node 'layer/fancy' of net.onnx: the "
            "operator is not supported (domain ai.onnx)");
}

/// What an op refuses is said of the node that it was recorded for.
TEST(OnnxModel, nodesAreSourceLines) {
  std::vector<float> weight{1, 2, 3};
  Message graph = Message()
                      .message(11, valueMessage("x", 1, {-1, -2}))
                      .message(5, tensorMessage("w", 1, {3, 1}, weight))
                      .message(12, valueMessage("y", 1, {}))
                      .message(1, nodeMessage("Relu", {"x"}, {"h"}))
                      .message(1, nodeMessage("MatMul", {"h", "w"}, {"y"}, {},
                                              "layer/product"));
  onnx::Model model = modelOf(graph);
  try {
    model.forward(ones({1, 2}));
    FAIL() << "the inner dimensions differ";
  } catch (const Error &error) {
    EXPECT_EQ(error.site(), "layer/product (net.onnx):2");
    EXPECT_THAT(error.message(),
                HasSubstr("MatMul (opset 17), node 'layer/product' of "
                          "net.onnx: matmul: inner dimensions differ"));
  }
}

TEST(OnnxModel, sharesNothingBetweenCopies) {
  onnx::Model model = modelOf(linearGraph()), copy = model;
  copy.visit([](const std::string &, Param &param) {
    param.set(param.tensor() * 0.f);
  });
  Tensor x = ones({1, 2});
  EXPECT_THAT(copy.forward(x).to_vector<float>(), ElementsAre(0, 0, 0));
  EXPECT_THAT(model.forward(x).to_vector<float>(), ElementsAre(15, 27, 39));
}

TEST(OnnxModel, refusesVersionsAndAttributesItDoesNotKnow) {
  auto run = [](const Message &node, int64_t opset) {
    Message graph = Message()
                        .message(11, valueMessage("x", 1, {-1}))
                        .message(12, valueMessage("y", 1, {}))
                        .message(1, node);
    onnx::Model model = modelOf(graph, opset);
    return problem([&] { model.forward(ones({2})); });
  };
  EXPECT_THAT(run(nodeMessage("Celu", {"x"}, {"y"}), 11),
              HasSubstr("not supported in this version"));
  EXPECT_THAT(
      run(nodeMessage("Relu", {"x"}, {"y"}, {attributeMessage("beta", 1.f)}),
          17),
      HasSubstr("attribute 'beta' is unknown"));
  EXPECT_THAT(run(nodeMessage("Elu", {"x"}, {"y"},
                              {attributeMessage("alpha", int64_t(1))}),
                  17),
              HasSubstr("attribute 'alpha' is not of type float"));
  EXPECT_THAT(run(nodeMessage("Cast", {"x"}, {"y"}), 17),
              HasSubstr("attribute 'to' is missing"));
  EXPECT_THAT(run(nodeMessage("Cast", {"x"}, {"y"},
                              {attributeMessage("to", int64_t(8))}),
                  17),
              HasSubstr("STRING cannot be computed with"));
}

/// Reshape(x, Concat(Shape(x)[0], [-1])), as exporters write flatten.
TEST(OnnxModel, computesShapesOnTheHost) {
  std::vector<int64_t> zero{0}, rest{-1};
  Message graph =
      Message()
          .message(11, valueMessage("x", 1, {-1, 2, 3}))
          .message(5, tensorMessage("zero", 7, {}, zero))
          .message(5, tensorMessage("axes", 7, {1}, zero))
          .message(5, tensorMessage("rest", 7, {1}, rest))
          .message(12, valueMessage("y", 1, {}))
          .message(1, nodeMessage("Shape", {"x"}, {"dims"}))
          .message(1, nodeMessage("Gather", {"dims", "zero"}, {"batch"}))
          .message(1, nodeMessage("Unsqueeze", {"batch", "axes"}, {"first"}))
          .message(1, nodeMessage("Concat", {"first", "rest"}, {"shape"},
                                  {attributeMessage("axis", int64_t(0))}))
          .message(1, nodeMessage("Reshape", {"x", "shape"}, {"y"}));
  onnx::Model model = modelOf(graph);
  for (int64_t batch : {1, 4}) {
    Tensor x = tensor(std::vector<float>(size_t(batch) * 6, 1), {batch, 2, 3});
    x.dynamic(0);
    Tensor y = model.run({{"x", x}}).at("y");
    EXPECT_EQ(y.dim(0).value, batch);
    EXPECT_EQ(y.dim(1).value, 6);
    // What came from an open axis stays open.
    EXPECT_FALSE(y.dim(0).isConstant());
  }
}

TEST(OnnxModel, runsLoopsWhoseRoundsAreKnown) {
  std::vector<int64_t> rounds{3};
  Message body = Message()
                     .message(11, valueMessage("i", 7, {}))
                     .message(11, valueMessage("on", 9, {}))
                     .message(11, valueMessage("sum", 1, {-1}))
                     .message(12, valueMessage("stay", 9, {}))
                     .message(12, valueMessage("next", 1, {-1}))
                     .message(1, nodeMessage("Identity", {"on"}, {"stay"}))
                     .message(1, nodeMessage("Add", {"sum", "x"}, {"next"}));
  Message graph =
      Message()
          .message(11, valueMessage("x", 1, {-1}))
          .message(5, tensorMessage("rounds", 7, {}, rounds))
          .message(12, valueMessage("y", 1, {}))
          .message(1, nodeMessage("Loop", {"rounds", "", "x"}, {"y"},
                                  {graphAttribute("body", body)}));
  Tensor x = tensor({1.f, 2.f});
  EXPECT_THAT(modelOf(graph).forward(x).to_vector<float>(), ElementsAre(4, 8));
}

TEST(OnnxModel, inlinesFunctionsOfTheModel) {
  Message own = Message().text(1, "own").integer(2, 1);
  Message standard = Message().integer(2, 17);
  Message alpha = Message().text(1, "alpha").text(21, "slope").integer(20, 1);
  Message function =
      Message()
          .text(1, "leaky")
          .text(4, "a")
          .text(5, "b")
          .text(6, "slope")
          .message(7, nodeMessage("LeakyRelu", {"a"}, {"b"}, {alpha}))
          .message(9, standard)
          .text(10, "own");
  Message node =
      nodeMessage("leaky", {"x"}, {"y"}, {attributeMessage("slope", 0.5f)})
          .text(7, "own");
  Message graph = Message()
                      .message(11, valueMessage("x", 1, {-1}))
                      .message(12, valueMessage("y", 1, {}))
                      .message(1, node);
  Message model = modelMessage(graph).message(8, own).message(25, function);
  auto loaded = onnx::load(std::as_bytes(std::span(model.bytes)));
  EXPECT_THAT(loaded.forward(tensor({-2.f, 2.f})).to_vector<float>(),
              ElementsAre(-1, 2));
}

TEST(OnnxModel, errorsOfFilesNameTheFile) {
  EXPECT_THAT(problem([] { onnx::load("/no/such.onnx"); }),
              HasSubstr("/no/such.onnx"));
  std::string bytes = "nonsense";
  EXPECT_THAT(problem([&] {
                onnx::load(std::as_bytes(std::span(bytes)), {}, "bad.onnx");
              }),
              HasSubstr("onnx: bad.onnx: "));
}

/// Floats may stand in a field of numbers, in one part or several.
TEST(OnnxModel, readsNumbersOfFields) {
  std::vector<float> weight{1, 2, 3, 4, 5, 6};
  auto bytesOf = [&](size_t first, size_t last) {
    return std::string_view(
        reinterpret_cast<const char *>(weight.data() + first),
        (last - first) * sizeof(float));
  };
  Message head = Message().integers(1, {6}).integer(2, 1).text(8, "w");
  Message apart = head;
  apart.text(4, bytesOf(0, 2));
  for (size_t i = 2; i < 6; ++i)
    apart.real(4, weight[i]);
  for (const Message &stored : {Message(head).text(4, bytesOf(0, 6)), apart}) {
    Message graph = Message()
                        .message(11, valueMessage("x", 1, {6}))
                        .message(5, stored)
                        .message(12, valueMessage("y", 1, {6}))
                        .message(1, nodeMessage("Add", {"x", "w"}, {"y"}));
    EXPECT_THAT(modelOf(graph).forward(ones({6})).to_vector<float>(),
                ElementsAre(2, 3, 4, 5, 6, 7));
  }
  Message cut = Message(head).text(4, bytesOf(0, 6).substr(1));
  EXPECT_THAT(problem([&] { modelOf(Message().message(5, cut)); }),
              HasSubstr("net.onnx"));
}

/// Nothing is read from a file after it was loaded.
TEST(OnnxModel, filesMayShrinkAfterLoading) {
  Message constant =
      Message()
          .text(1, "value")
          .integer(20, 4)
          .message(5,
                   tensorMessage("c", 1, {5000}, std::vector<float>(5000, 2)));
  Message graph =
      Message()
          .message(11, valueMessage("x", 1, {5000}))
          .message(5, tensorMessage("w", 1, {2}, std::vector<float>{5000, 1}))
          .message(12, valueMessage("y", 1, {}))
          .message(1, nodeMessage("Constant", {}, {"c"}, {constant}))
          .message(1, nodeMessage("Cast", {"w"}, {"shape"},
                                  {attributeMessage("to", int64_t(7))}))
          .message(1, nodeMessage("Add", {"x", "c"}, {"sum"}))
          .message(1, nodeMessage("Reshape", {"sum", "shape"}, {"y"}));
  std::string path = testing::TempDir() + "shrinks.onnx";
  std::ofstream(path, std::ios::binary) << modelMessage(graph).bytes;
  onnx::Model model = onnx::load(path);
  std::filesystem::resize_file(path, 0);
  Tensor y = model.forward(ones({5000}));
  EXPECT_EQ(y.dim(0).value, 5000);
  EXPECT_EQ(y.to_vector<float>().back(), 3);
  std::filesystem::remove(path);
}
