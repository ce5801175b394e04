/// Windows with paddings that `auto_pad` asks for, and gaps between them.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;

using Numbers = std::vector<float>;

static Message paddedBy(std::string_view automatic) {
  return Message().text(1, "auto_pad").text(4, automatic).integer(20, 3);
}

/// 1, 2, ... as a row of one image.
static Tensor countTo(int64_t size) {
  return (arange(size).to(DType::f32) + 1.0F).reshape({1, 1, size});
}

static Numbers pooled(const char *op, int64_t extent, int64_t kernel,
                      int64_t stride, std::string_view automatic,
                      int64_t dilation = 1) {
  Message node =
      nodeMessage(op, {"x"}, {"y"},
                  {attributeMessage("kernel_shape", {kernel}),
                   attributeMessage("strides", {stride}), paddedBy(automatic)});
  if (dilation != 1)
    node.message(5, attributeMessage("dilations", {dilation}));
  Message graph = Message()
                      .message(11, valueMessage("x", 1, {1, 1, -1}))
                      .message(12, valueMessage("y", 1, {1, 1, -2}))
                      .message(1, node);
  return modelOf(graph, 19).forward(countTo(extent)).to_vector<float>();
}

/// There is no padding that takes elements away: windows start at the first.
TEST(OnnxWindows, poolsWithGapsStartAtTheFirstElement) {
  for (const char *automatic : {"SAME_UPPER", "SAME_LOWER"}) {
    for (const char *op : {"MaxPool", "AveragePool", "LpPool"}) {
      EXPECT_THAT(pooled(op, 8, 1, 3, automatic), ElementsAre(1, 4, 7)) << op;
      EXPECT_THAT(pooled(op, 10, 1, 4, automatic), ElementsAre(1, 5, 9)) << op;
    }
    EXPECT_THAT(pooled("MaxPool", 12, 2, 5, automatic), ElementsAre(2, 7, 12));
    EXPECT_THAT(pooled("AveragePool", 12, 2, 5, automatic),
                ElementsAre(1.5F, 6.5F, 11.5F));
    EXPECT_THAT(pooled("MaxPool", 13, 2, 5, automatic, 2),
                ElementsAre(3, 8, 13));
  }
  EXPECT_THAT(pooled("MaxPool", 9, 2, 4, "SAME_UPPER"), ElementsAre(2, 6, 9));
  EXPECT_THAT(pooled("MaxPool", 9, 2, 4, "SAME_LOWER"), ElementsAre(1, 5, 9));
}

/// x is 1, 2, 3, the kernel 1, .1, .01 or less of it.
static Numbers transposed(int64_t kernel, int64_t stride,
                          std::string_view automatic, int64_t named = 0) {
  Numbers all{1, .1F, .01F};
  all.resize(size_t(kernel));
  Message node =
      nodeMessage("ConvTranspose", {"x", "w"}, {"y"},
                  {attributeMessage("strides", {stride}), paddedBy(automatic)});
  if (named != 0)
    node.message(5, attributeMessage("output_shape", {named}));
  Message graph = Message()
                      .message(11, valueMessage("x", 1, {1, 1, 3}))
                      .message(12, valueMessage("y", 1, {1, 1, -1}))
                      .message(5, tensorMessage("w", 1, {1, 1, kernel}, all))
                      .message(1, node);
  return modelOf(graph, 19).forward(countTo(3)).to_vector<float>();
}

/// As the text of the operator, and the reference of the onnx package, have it:
/// output_shape = input_shape * strides, what no window reaches at both ends.
TEST(OnnxWindows, transposedConvolutionsWithGapsFillTheirShape) {
  EXPECT_EQ(transposed(1, 2, "SAME_UPPER"), (Numbers{0, 1, 0, 2, 0, 3}));
  EXPECT_EQ(transposed(1, 2, "SAME_LOWER"), (Numbers{1, 0, 2, 0, 3, 0}));
  for (const char *automatic : {"SAME_UPPER", "SAME_LOWER"})
    EXPECT_EQ(transposed(2, 4, automatic),
              (Numbers{0, 1, .1F, 0, 0, 2, .2F, 0, 0, 3, .3F, 0}));
  EXPECT_EQ(transposed(3, 2, "SAME_UPPER"),
            (Numbers{1, .1F, 2 + .01F, .2F, 3 + .02F, .3F}));
  EXPECT_EQ(transposed(3, 2, "SAME_LOWER"),
            (Numbers{.1F, 2 + .01F, .2F, 3 + .02F, .3F, .03F}));
  EXPECT_EQ(transposed(2, 2, "SAME_UPPER", 9),
            (Numbers{0, 0, 1, .1F, 2, .2F, 3, .3F, 0}));
  EXPECT_EQ(transposed(2, 2, "SAME_LOWER", 9),
            (Numbers{0, 1, .1F, 2, .2F, 3, .3F, 0, 0}));
}
