/// Tensors of the element types that are stored, and conversions to them.
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/BasicOps.h>
#include <sinter/Complex.h>
#include <sinter/Creation.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::ElementsAre;
using testing::HasSubstr;

// Codes of TensorProto.
enum {
  f32 = 1,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  e4m3 = 17,
  e5m2 = 19,
  u4 = 21,
  i4 = 22,
  e8m0 = 24
};

static Message graphOf(int from, int to, std::initializer_list<Message> nodes) {
  Message graph;
  graph.message(11, valueMessage("x", from, {-1}));
  graph.message(12, valueMessage("y", to, {-1}));
  for (const Message &node : nodes)
    graph.message(1, node);
  return graph;
}

static Message toAttribute(int to) {
  return attributeMessage("to", int64_t(to));
}

static Message modeAttribute(std::string_view mode) {
  return Message().text(1, "round_mode").text(4, mode).integer(20, 3);
}

static std::vector<double>
castTo(int to, DType dtype, std::initializer_list<float> numbers,
       std::initializer_list<Message> attributes = {}, int64_t opset = 24) {
  Message node = nodeMessage("Cast", {"x"}, {"y"}, attributes);
  node.message(5, toAttribute(to));
  onnx::Model model = modelOf(graphOf(f32, to, {node}), opset);
  Tensor y = model.forward(tensor(std::vector<float>(numbers)));
  EXPECT_EQ(y.dtype(), dtype);
  return y.to_vector<double>();
}

TEST(OnnxElementTypes, castsSaturateUnlessToldNotTo) {
  auto plain = attributeMessage("saturate", int64_t(0));
  EXPECT_THAT(castTo(e4m3, DType::f8e4m3fn, {1.0625F, 500, -INFINITY}),
              ElementsAre(1, 448, -448));
  EXPECT_THAT(castTo(e5m2, DType::f8e5m2, {1.125F, 6e4F, INFINITY}),
              ElementsAre(1, 57344, 57344));
  EXPECT_THAT(castTo(e5m2, DType::f8e5m2, {3.5F, 7e4F}, {plain}),
              ElementsAre(3.5, INFINITY));
  EXPECT_TRUE(
      std::isnan(castTo(e4m3, DType::f8e4m3fn, {500}, {plain}).front()));
}

TEST(OnnxElementTypes, powersOfTwoAreRoundedAsAsked) {
  std::initializer_list<float> numbers = {1, 1.25F, 1.5F, 3.9F, 0, INFINITY};
  EXPECT_THAT(castTo(e8m0, DType::f8e8m0fnu, numbers),
              ElementsAre(1, 2, 2, 4, 0x1p-127, 0x1p127));
  EXPECT_THAT(castTo(e8m0, DType::f8e8m0fnu, numbers, {modeAttribute("down")}),
              ElementsAre(1, 1, 1, 2, 0x1p-127, 0x1p127));
  EXPECT_THAT(
      castTo(e8m0, DType::f8e8m0fnu, numbers, {modeAttribute("nearest")}),
      ElementsAre(1, 1, 2, 4, 0x1p-127, 0x1p127));
  EXPECT_THAT(problem([&] {
                castTo(e8m0, DType::f8e8m0fnu, {1}, {modeAttribute("odd")});
              }),
              HasSubstr("round_mode 'odd'"));
}

TEST(OnnxElementTypes, integersOfFourBitsKeepTheLowOnes) {
  EXPECT_THAT(castTo(i4, DType::i4, {7.9F, 8, 9, -9, 16}),
              ElementsAre(7, -8, -7, 7, 0));
}

TEST(OnnxElementTypes, integersOfFourBitsSaturateInOldModels) {
  EXPECT_THAT(castTo(i4, DType::i4, {7.9F, 8, -1.9F, -9, 1e9F}, {}, 21),
              ElementsAre(7, 7, -1, -8, 7));
  EXPECT_THAT(castTo(u4, DType::u4, {15.5F, 16, -3}, {}, 23),
              ElementsAre(15, 15, 0));
}

TEST(OnnxElementTypes, packedElementsAreUnpacked) {
  std::vector<uint8_t> packed = {0x71, 0xf8}; // 1, 7, -8, -1
  Message graph =
      graphOf(f32, f32,
              {nodeMessage("Cast", {"w"}, {"v"}, {toAttribute(f32)}),
               nodeMessage("Add", {"x", "v"}, {"y"})})
          .message(5, tensorMessage("w", i4, {4}, packed));
  Tensor y = modelOf(graph, 21).forward(zeros({4}));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(1, 7, -8, -1));
}

TEST(OnnxElementTypes, quantizedFloats) {
  std::vector<float> scale = {2};
  std::vector<uint8_t> zero = {0};
  Message graph =
      graphOf(f32, f32,
              {nodeMessage("QuantizeLinear", {"x", "scale", "zero"}, {"q"}),
               nodeMessage("DequantizeLinear", {"q", "scale"}, {"y"})})
          .message(5, tensorMessage("scale", f32, {}, scale))
          .message(5, tensorMessage("zero", e4m3, {}, zero));
  Tensor y = modelOf(graph, 19).forward(tensor({2.F, 3.F, 2000.F}));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(2, 3, 896));
}

TEST(OnnxElementTypes, largeUnsignedNumbersAreComputedByTheDevice) {
  std::vector<uint64_t> most = {~uint64_t(0)}, two = {2};
  Message graph = graphOf(u64, u64,
                          {nodeMessage("Div", {"most", "two"}, {"half"}),
                           nodeMessage("Add", {"x", "half"}, {"y"})})
                      .message(5, tensorMessage("most", u64, {}, most))
                      .message(5, tensorMessage("two", u64, {}, two));
  Tensor x = tensor(std::vector<uint64_t>{1});
  EXPECT_THAT(modelOf(graph).forward(x).to_vector<uint64_t>(),
              ElementsAre(uint64_t(1) << 63));
}

TEST(OnnxElementTypes, arithmeticOfStoredTypesIsRefused) {
  Message graph =
      graphOf(e5m2, e5m2, {nodeMessage("Add", {"x", "x"}, {"y"}, {}, "sum")});
  onnx::Model model = modelOf(graph);
  EXPECT_THAT(problem([&] { model.forward(ones({2}).to(DType::f8e5m2)); }),
              HasSubstr("cannot compute with f8e5m2"));
}

TEST(OnnxElementTypes, complexNumbers) {
  using C64 = std::complex<float>;
  std::vector<C64> factor = {{0, 1}, {2, 0}};
  Message graph = graphOf(c64, c64,
                          {nodeMessage("Mul", {"x", "factor"}, {"turned"}),
                           nodeMessage("Add", {"turned", "factor"}, {"y"})})
                      .message(5, tensorMessage("factor", c64, {2}, factor));
  Tensor x = tensor(std::vector<C64>{{1, 2}, {3, 4}});
  Tensor y = modelOf(graph).forward(x);
  EXPECT_EQ(y.dtype(), DType::c64);
  EXPECT_THAT(y.to_vector<C64>(), ElementsAre(C64(-2, 2), C64(8, 8)));
}

TEST(OnnxElementTypes, complexNumbersAreCast) {
  Message toWide = nodeMessage("Cast", {"x"}, {"y"});
  toWide.message(5, toAttribute(c128));
  Tensor y = modelOf(graphOf(f32, c128, {toWide})).forward(tensor({1.F, 2.F}));
  EXPECT_EQ(y.dtype(), DType::c128);
  EXPECT_THAT(real(y).to_vector<double>(), ElementsAre(1, 2));
}
