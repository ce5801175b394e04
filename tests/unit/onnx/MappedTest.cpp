/// Models whose parameters stay in their files.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Memory.h>
#include <sinter/Onnx.h>
#include <sinter/optim/Sgd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;

/// With `mmap` the parameters are the file's bytes, which training leaves as
/// they are, and which live as long as they are needed.
TEST(OnnxModel, parametersMayStayInTheFile) {
  constexpr int64_t count = 1 << 20;
  Message tensor = tensorMessage("w", 1, {count}, std::vector<float>(count, 2));
  Message graph = Message()
                      .message(11, valueMessage("x", 1, {count}))
                      .message(5, tensor)
                      .message(12, valueMessage("y", 1, {count}))
                      .message(1, nodeMessage("Mul", {"x", "w"}, {"y"}));
  // Elements in a file begin anywhere; those that begin oddly are copied.
  for (size_t lead = 0; lead < 4; ++lead) {
    std::string path = testing::TempDir() + "stays.onnx";
    std::string bytes = modelMessage(graph).bytes;
    bytes = Message().text(6, std::string(lead, 'd')).bytes + bytes; // a doc
    std::ofstream(path, std::ios::binary) << bytes;
    size_t before = memory(device("cpu")).in_use;
    onnx::Model model =
        onnx::load(path, {.device = device("cpu"), .mmap = true});
    size_t copied = memory(device("cpu")).in_use - before;
    EXPECT_TRUE(copied == 0 || copied >= 4 * count) << copied;
    std::filesystem::remove(path);

    Tensor x = ones({count});
    EXPECT_EQ(model.forward(x).to_vector<float>().back(), 2);
    optim::Sgd sgd({.lr = 0.5});
    for (int step = 1; step <= 3; ++step) {
      sgd.step(model, sum(model.forward(x)).backward());
      EXPECT_EQ(model.forward(x).to_vector<float>().front(), 2 - 0.5f * step);
    }
  }
}

/// Two models of one file, and two names of one range, are apart when they
/// learn.
TEST(OnnxModel, whatStaysInTheFileIsShared) {
  Message outside = Message().text(1, "location").text(2, "shared.bin");
  auto stored = [&](std::string_view name) {
    return Message()
        .integers(1, {4})
        .integer(2, 1)
        .text(8, name)
        .message(13, outside)
        .integer(14, 1);
  };
  Message graph = Message()
                      .message(11, valueMessage("x", 1, {4}))
                      .message(5, stored("a"))
                      .message(5, stored("b"))
                      .message(12, valueMessage("y", 1, {4}))
                      .message(1, nodeMessage("Mul", {"x", "a"}, {"p"}))
                      .message(1, nodeMessage("Add", {"p", "b"}, {"y"}));
  std::string folder = testing::TempDir();
  std::vector<float> values{1, 2, 3, 4};
  std::ofstream(folder + "shared.bin", std::ios::binary)
      .write(reinterpret_cast<const char *>(values.data()), 16);
  std::ofstream(folder + "shares.onnx", std::ios::binary)
      << modelMessage(graph).bytes;
  auto load = [&] {
    return onnx::load(folder + "shares.onnx",
                      {.device = device("cpu"), .mmap = true});
  };
  onnx::Model model = load(), other = load();
  Tensor x = full({4}, 2.0f);
  optim::Sgd sgd({.lr = 1});
  sgd.step(model, sum(model.forward(x)).backward());
  EXPECT_THAT(model.forward(x).to_vector<float>(), ElementsAre(-2, 1, 4, 7));
  EXPECT_THAT(other.forward(x).to_vector<float>(), ElementsAre(3, 6, 9, 12));
  std::filesystem::remove(folder + "shared.bin");
  EXPECT_THAT(other.forward(x).to_vector<float>(), ElementsAre(3, 6, 9, 12));
  std::filesystem::remove(folder + "shares.onnx");
}
