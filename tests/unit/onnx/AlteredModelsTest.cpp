/// Models that are almost right: what is read is recorded, and nothing worse
/// than an Error comes of it. SINTER_SUITES adds its ONNX cases to what is
/// altered.
#include "tests/unit/onnx/ModelMutator.h"
#include "tests/unit/onnx/ModelWriter.h"
#include "tests/unit/onnx/RunOnOnes.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>
#include <sinter/Onnx.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

using namespace sinter;
using namespace sinter::onnx_test;
namespace fs = std::filesystem;

static Message graphOf(std::initializer_list<Message> nodes) {
  std::vector<int64_t> one{1}, two{2}, three{3};
  std::vector<float> weight{1, 2, 3, 4, 5, 6};
  Message graph = Message()
                      .message(11, valueMessage("x", 1, {-1, 3}))
                      .message(11, valueMessage("i", 7, {2}))
                      .message(5, tensorMessage("one", 7, {1}, one))
                      .message(5, tensorMessage("two", 7, {1}, two))
                      .message(5, tensorMessage("n", 7, {}, three))
                      .message(5, tensorMessage("k", 7, {}, one))
                      .message(5, tensorMessage("w", 1, {3, 2}, weight))
                      .message(12, valueMessage("y", 1, {}));
  for (const Message &node : nodes)
    graph.message(1, node);
  return graph;
}

/// Models with shapes, graphs inside, lists and functions.
static std::vector<std::string> ownModels() {
  Message body = Message()
                     .message(11, valueMessage("k", 7, {}))
                     .message(11, valueMessage("c", 9, {}))
                     .message(11, valueMessage("a", 1, {}))
                     .message(12, valueMessage("d", 9, {}))
                     .message(12, valueMessage("b", 1, {}))
                     .message(1, nodeMessage("Identity", {"c"}, {"d"}))
                     .message(1, nodeMessage("Tanh", {"a"}, {"b"}));
  Message branch = Message()
                       .message(12, valueMessage("r", 1, {}))
                       .message(1, nodeMessage("Relu", {"x"}, {"r"}));
  Message step = Message()
                     .message(11, valueMessage("s", 1, {3}))
                     .message(12, valueMessage("t", 1, {3}))
                     .message(1, nodeMessage("Exp", {"s"}, {"t"}));
  Message function = Message()
                         .text(1, "Twice")
                         .text(4, "p")
                         .text(5, "q")
                         .message(7, nodeMessage("Add", {"p", "p"}, {"q"}))
                         .message(9, Message().integer(2, 17))
                         .text(10, "own");
  auto model = [](const Message &graph) { return modelMessage(graph).bytes; };
  std::string called =
      modelMessage(graphOf({nodeMessage("Twice", {"x"}, {"y"}).text(7, "own")}))
          .message(8, Message().text(1, "own").integer(2, 1))
          .message(25, function)
          .bytes;
  return {
      model(graphOf({nodeMessage("MatMul", {"x", "w"}, {"h"}),
                     nodeMessage("Softmax", {"h"}, {"y"},
                                 {attributeMessage("axis", int64_t(1))})})),
      model(graphOf({nodeMessage("Shape", {"x"}, {"s"}),
                     nodeMessage("Gather", {"s", "one"}, {"g"}),
                     nodeMessage("Concat", {"one", "g", "two"}, {"c"},
                                 {attributeMessage("axis", int64_t(0))}),
                     nodeMessage("Reshape", {"x", "c"}, {"y"})})),
      model(graphOf({nodeMessage("Range", {"n", "n", "n"}, {"r"}),
                     nodeMessage("Slice", {"x", "one", "two"}, {"y"})})),
      model(graphOf({nodeMessage("Loop", {"n", "", "x"}, {"y"},
                                 {graphAttribute("body", body)})})),
      model(graphOf({nodeMessage("Cast", {"n"}, {"f"},
                                 {attributeMessage("to", int64_t(9))}),
                     nodeMessage("If", {"f"}, {"y"},
                                 {graphAttribute("then_branch", branch),
                                  graphAttribute("else_branch", branch)})})),
      model(graphOf(
          {nodeMessage("Scan", {"x"}, {"y"},
                       {graphAttribute("body", step),
                        attributeMessage("num_scan_inputs", int64_t(1))})})),
      model(graphOf({nodeMessage("Split", {"x"}, {"p", "q"},
                                 {attributeMessage("axis", int64_t(0))}),
                     nodeMessage("SequenceConstruct", {"p", "q"}, {"l"}),
                     nodeMessage("SequenceAt", {"l", "k"}, {"y"})})),
      called,
  };
}

static std::vector<std::string> modelsOfSuites() {
  std::vector<std::string> models;
  const char *suites = std::getenv("SINTER_SUITES");
  fs::path folder = fs::path(suites ? suites : "") / "onnx";
  if (!suites || !fs::exists(folder))
    return models;
  constexpr size_t most = 20'000;
  for (const auto &entry : fs::directory_iterator(folder)) {
    fs::path file = entry.path() / "model.onnx";
    if (!fs::exists(file) || fs::file_size(file) > most)
      continue;
    std::ifstream stream(file, std::ios::binary);
    models.emplace_back(std::istreambuf_iterator<char>(stream),
                        std::istreambuf_iterator<char>());
  }
  std::ranges::sort(models);
  return models;
}

/// Why it was not recorded as a whole; empty where it was.
static std::string record(const std::string &bytes) try {
  onnx::Model model =
      onnx::load(std::as_bytes(std::span(bytes)), {.device = device("null")});
  return runOnOnes(model) ? "" : "inputs are not made";
} catch (const Error &error) {
  EXPECT_FALSE(error.message().empty());
  EXPECT_NE(error.kind(), ErrorKind::internal) << error.message();
  return error.message();
}

/// The seed of the first that goes wrong is in the trace.
static void alterAll(const std::vector<std::string> &models, uint64_t count) {
  uint64_t recorded = 0;
  for (uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    const std::string &one = models[seed % models.size()],
                      &other = models[seed * 7919 % models.size()];
    recorded += record(mutateModel(one, other, seed)).empty();
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(recorded, count / 10);
  EXPECT_LT(recorded, count - count / 10);
}

TEST(OnnxAlteredModels, areRecordedOrAnError) {
  std::vector<std::string> models = ownModels();
  for (const std::string &model : models)
    EXPECT_EQ(record(model), "");
  alterAll(models, 5'000);
}

TEST(OnnxAlteredModels, ofSuitesAreRecordedOrAnError) {
  std::vector<std::string> models = modelsOfSuites();
  if (models.empty())
    GTEST_SKIP() << "SINTER_SUITES names no folder with ONNX cases";
  alterAll(models, 20'000);
}
