/// Initializers of ONNX models as weights.
#include "tests/unit/onnx/ModelWriter.h"
#include "tests/unit/weights/WeightFiles.h"

#include <sinter/Basic.h>
#include <sinter/Weights.h>

#include <gmock/gmock.h>

#include <fstream>

using namespace sinter;
using namespace sinter::onnx_test;
using sinter::weights_test::problem;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class InitializerFile : public weights_test::WeightFiles {
protected:
  std::string model(const Message &graph) const {
    std::string path = folder / "net.onnx";
    std::ofstream(path, std::ios::binary) << modelMessage(graph).bytes;
    return path;
  }
};

struct Net {
  Param w{"w", {2, 2}, init::zeros()}, b{"b", {2}, init::zeros()};
  SINTER_MODULE(Net, w, b)
};

} // namespace

TEST_F(InitializerFile, LoadIntoAModule) {
  Message outside = Message().text(1, "location").text(2, "w.bin");
  Message external = Message()
                         .integers(1, {2, 2})
                         .integer(2, 1)
                         .text(8, "w")
                         .message(13, outside)
                         .integer(14, 1);
  std::vector<float> w{1, 2, 3, 4}, b{5, 6};
  std::ofstream(folder / "w.bin", std::ios::binary)
      .write(reinterpret_cast<const char *>(w.data()), 16);
  std::string path = model(
      Message().message(5, external).message(5, tensorMessage("b", 1, {2}, b)));
  Net net;
  LoadReport report = load_state(net, path);
  EXPECT_THAT(report.loaded, ElementsAre("w", "b"));
  EXPECT_THAT(net.w.tensor().to_vector<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(net.b.tensor().to_vector<float>(), ElementsAre(5, 6));
}

TEST_F(InitializerFile, ElementsArePackedInManyWays) {
  Message packed = Message().integers(1, {3}).integer(2, 22).text(8, "i4").text(
      9, std::string("\x21\x0f", 2));
  Message numbers =
      Message().integers(1, {2}).integer(2, 6).text(8, "i32").packed(5, {7, 8});
  Message strings =
      Message().integers(1, {1}).integer(2, 8).text(8, "words").text(6, "a");
  StateDict state = read_state(model(
      Message().message(5, packed).message(5, numbers).message(5, strings)));
  EXPECT_EQ(state.format(), "ONNX initializers");
  EXPECT_THAT(state.names(), ElementsAre("i4", "i32"));
  EXPECT_EQ(state.info("i4").type, "INT4");
  EXPECT_THAT(state.at("i4").to_vector<int>(), ElementsAre(1, 2, -1));
  EXPECT_THAT(state.at("i32").to_vector<int>(), ElementsAre(7, 8));
  ASSERT_EQ(state.notes().size(), 1u);
  EXPECT_EQ(state.notes()[0], "'words' is left out: its elements are STRING");
}

TEST_F(InitializerFile, ErrorsNameTheFile) {
  std::string path = folder / "net.onnx";
  std::ofstream(path) << "nothing";
  EXPECT_THAT(problem([&] { read_state(path); }), HasSubstr("io: " + path));
  std::filesystem::remove(path);
  EXPECT_THAT(problem([&] { read_state(path); }), HasSubstr(path));
}
