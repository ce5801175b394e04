/// Convolutions of integers, and models whose tensors are quantized.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::onnx_test;

static constexpr int floats = 1, bytes = 2, signedBytes = 3;

static Message quantizedImage() {
  return Message()
      .message(11, valueMessage("x", bytes, {1, -1, 3}))
      .message(12, valueMessage("y", 6, {1, -2, -3}));
}

/// Sums of many products are exact, also where floats have no such numbers.
TEST(OnnxQuantized, sumsOfManyProductsAreExact) {
  constexpr int64_t channels = 600;
  std::vector<uint8_t> weight(2 * channels, 255);
  Message graph =
      quantizedImage()
          .message(5, tensorMessage("w", bytes, {2, channels, 1}, weight))
          .message(1, nodeMessage("ConvInteger", {"x", "w"}, {"y"}));
  std::vector<int32_t> image(channels * 3, 255);
  image[1] = 254;
  Tensor x = tensor(image, {1, channels, 3}).to(DType::u8);
  constexpr int32_t whole = channels * 255 * 255;
  EXPECT_THAT(modelOf(graph, 17).forward(x).to_vector<int32_t>(),
              testing::ElementsAre(whole, whole - 255, whole, whole,
                                   whole - 255, whole));
}

/// x is 1, 0.5, 0, of codes 12, 11, 10; the weights are (code - zero) * scale,
/// with a scale for each channel; zeros stand around the image.
TEST(OnnxQuantized, convolutionsOfWhatCodesStandFor) {
  Message axis = attributeMessage("axis", int64_t(0));
  for (int8_t z : {int8_t(0), int8_t(3)}) {
    std::vector<int8_t> codes{int8_t(1 + z), int8_t(2 + z), int8_t(-4 + z),
                              int8_t(8 + z)};
    Message graph =
        Message()
            .message(11, valueMessage("x", floats, {1, 1, 3}))
            .message(12, valueMessage("y", floats, {1, 2, -1}))
            .message(5, tensorMessage("s", floats, {}, std::vector{0.5F}))
            .message(5, tensorMessage("z", bytes, {}, std::vector<uint8_t>{10}))
            .message(5, tensorMessage("w", signedBytes, {2, 1, 2}, codes))
            .message(
                5, tensorMessage("ws", floats, {2}, std::vector{0.25F, 0.125F}))
            .message(5, tensorMessage("wz", signedBytes, {2},
                                      std::vector<int8_t>{z, z}))
            .message(1, nodeMessage("QuantizeLinear", {"x", "s", "z"}, {"q"}))
            .message(1, nodeMessage("DequantizeLinear", {"q", "s", "z"}, {"d"}))
            .message(1, nodeMessage("DequantizeLinear", {"w", "ws", "wz"},
                                    {"dw"}, {axis}))
            .message(1, nodeMessage("Conv", {"d", "dw"}, {"y"},
                                    {attributeMessage("pads", {1, 1})}));
    Tensor x = tensor(std::vector{1.0F, 0.5F, 0.0F}, {1, 1, 3});
    EXPECT_THAT(modelOf(graph, 17).forward(x).to_vector<float>(),
                testing::ElementsAre(0.5F, 0.5F, 0.125F, 0, 1, 0, -0.25F, 0));
  }
}
