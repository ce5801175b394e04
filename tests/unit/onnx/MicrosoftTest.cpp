/// Operators of com.microsoft beside the numbers of ONNX Runtime 1.32 (CPU).
#include "tests/unit/onnx/LoadModel.h"

#include <sinter/Basic.h>
#include <sinter/Onnx.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace sinter;
using namespace sinter::onnx_test;
using testing::HasSubstr;

static Message textAttribute(std::string_view name, std::string_view value) {
  return Message().text(1, name).text(4, value).integer(20, 3);
}
static Message realsAttribute(std::string_view name,
                              std::initializer_list<float> values) {
  Message attribute = Message().text(1, name).integer(20, 6);
  for (float value : values)
    attribute.real(7, value);
  return attribute;
}

//===- Operands -----------------------------------------------------------===//

static size_t countOf(const Dims &dims) {
  size_t count = 1;
  for (Dim dim : dims)
    count *= size_t(dim.value);
  return count;
}

/// sin(seed * (i^2 + 1)).
static Tensor wave(double seed, const Dims &dims) {
  std::vector<float> values;
  for (size_t i = 0; i < countOf(dims); ++i)
    values.push_back(float(std::sin(double(i * i + 1) * seed)));
  return tensor(values, dims);
}
/// Bytes that go through all of their range.
template <typename T> static Tensor codes(size_t seed, const Dims &dims) {
  std::vector<T> values;
  int least = std::is_signed_v<T> ? -128 : 0;
  for (size_t i = 0; i < countOf(dims); ++i)
    values.push_back(T(int((i * i * seed + 3 * i) % 256) + least));
  return tensor(values, dims);
}
template <typename T>
static Tensor integers(const Dims &dims, const std::vector<T> &values) {
  return tensor(values, dims);
}
static Tensor number(float value) { return tensor(std::vector{value}, {}); }

static int typeOf(DType dtype) {
  switch (dtype) {
  case DType::u8:
    return 2;
  case DType::i8:
    return 3;
  case DType::i32:
    return 6;
  case DType::i64:
    return 7;
  case DType::boolean:
    return 9;
  default:
    return 1;
  }
}

//===- Cases --------------------------------------------------------------===//

namespace {
struct Case {
  const char *name, *op;
  std::vector<Tensor> operands; ///< an empty one is left out
  std::vector<Message> attributes;
  size_t output;             ///< which one is compared
  std::vector<double> first; ///< its first elements
  double size;               ///< the sum of all of them without signs
};
} // namespace

static Tensor run(const Case &one) {
  Message node, graph;
  onnx::NamedTensors inputs;
  for (size_t i = 0; i < one.operands.size(); ++i) {
    const Tensor &operand = one.operands[i];
    std::string name = operand.defined() ? "x" + std::to_string(i) : "";
    node.text(1, name);
    if (!operand.defined())
      continue;
    Message open = Message().integer(1, typeOf(operand.dtype()));
    graph.message(
        11, Message().text(1, name).message(2, Message().message(1, open)));
    inputs[name] = operand;
  }
  for (size_t i = 0; i <= one.output; ++i)
    node.text(2, "y" + std::to_string(i));
  node.text(4, one.op).text(7, "com.microsoft");
  for (const Message &attribute : one.attributes)
    node.message(5, attribute);
  std::string result = "y" + std::to_string(one.output);
  graph.message(1, node).message(12, Message().text(1, result));
  Message model = modelMessage(graph);
  model.message(8, Message().text(1, "com.microsoft").integer(2, 1));
  return onnx::load(std::as_bytes(std::span(model.bytes)), {}, "net.onnx")
      .run(inputs)
      .at(result);
}

static void check(const Case &one) {
  SCOPED_TRACE(one.name);
  std::vector<double> got = run(one).to_vector<double>();
  ASSERT_GE(got.size(), one.first.size());
  for (size_t i = 0; i < one.first.size(); ++i)
    EXPECT_NEAR(got[i], one.first[i], 1e-4 + 1e-5 * std::fabs(one.first[i]))
        << i;
  double size = 0;
  for (double each : got)
    size += std::fabs(each);
  EXPECT_NEAR(size, one.size, 1e-4 * (1 + one.size));
}

static std::vector<Case> attentions() {
  return {
      {"attention",
       "Attention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {8, 24}), wave(0.3, {24})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {2.729472, -0.6331129, -2.407187, 0.09422584, 1.017807, -0.3127432},
       52.53627},
      {"lengthsOfKeys",
       "Attention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {8, 24}), wave(0.3, {24}),
        integers<int32_t>({2}, {2, 3})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {2.720928, -0.5787328, -2.498271, -0.07966956, 0.9298835, -0.2289254},
       53.04186},
      {"endsAndBeginnings",
       "Attention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {8, 24}), wave(0.3, {24}),
        integers<int32_t>({4}, {2, 3, 0, 1})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {2.720928, -0.5787328, -2.498271, -0.07966956, 0.9298835, -0.2289254},
       56.99082},
      {"flagsOfKeys",
       "Attention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {8, 24}), wave(0.3, {24}),
        integers<int32_t>({2, 3}, {1, 1, 0, 1, 0, 1})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {2.720928, -0.5787328, -2.498271, -0.07966956, 0.9298835, -0.2289254},
       54.86845},
      {"flagsOfQueries",
       "Attention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {8, 24}), wave(0.3, {24}),
        integers<int32_t>(
            {2, 3, 3}, {1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {2.720928, -0.5787328, -2.498271, -0.07966956, 0.9298835, -0.2289254},
       50.08269},
      {"causalAfterAPast",
       "Attention",
       {wave(0.1, {2, 3, 8}),
        wave(0.2, {8, 24}),
        wave(0.3, {24}),
        {},
        wave(0.4, {2, 2, 2, 5, 4})},
       {attributeMessage("num_heads", int64_t(2)),
        attributeMessage("unidirectional", int64_t(1))},
       0,
       {1.472397, -0.4284936, -1.581299, -0.2387979, -0.2065953, -0.1235278},
       28.64034},
      {"presentOfAttention",
       "Attention",
       {wave(0.1, {2, 3, 8}),
        wave(0.2, {8, 24}),
        wave(0.3, {24}),
        {},
        wave(0.4, {2, 2, 2, 5, 4})},
       {attributeMessage("num_heads", int64_t(2)),
        attributeMessage("unidirectional", int64_t(1))},
       1,
       {0.3894183, 0.7173561, 0.9092974, -0.7568025, 0.4941134, -0.8278264},
       222.9808},
      {"biasOfScores",
       "Attention",
       {wave(0.1, {2, 3, 8}),
        wave(0.2, {8, 24}),
        wave(0.3, {24}),
        {},
        {},
        wave(0.5, {1, 2, 3, 3})},
       {attributeMessage("num_heads", int64_t(2)),
        attributeMessage("scale", 0.3F)},
       0,
       {2.728282, -0.751562, -1.950434, 0.2995545, 0.9284667, -0.2706648},
       53.27263},
      {"otherSizesOfValues",
       "Attention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {8, 22}), wave(0.3, {22})},
       {attributeMessage("num_heads", int64_t(2)),
        attributeMessage("qkv_hidden_sizes", {8, 8, 6})},
       0,
       {0.1775669, -0.718264, -0.2693414, 1.250285, 2.787916, 1.313234},
       34.64429},
      {"heads",
       "MultiHeadAttention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {2, 5, 8}), wave(0.3, {2, 5, 8}),
        wave(0.3, {24})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {1.445324, -1.018386, 0.264138, 1.106962, 0.8516881, 1.342223},
       42.31635},
      {"headsWithAMask",
       "MultiHeadAttention",
       {wave(0.1, {2, 3, 8}),
        wave(0.2, {2, 5, 8}),
        wave(0.3, {2, 5, 8}),
        {},
        integers<int32_t>({2, 5}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 1})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {0.5880297, -0.1189675, 0.2209441, 0.181123, -0.07956138, 0.7610399},
       14.52434},
      {"headsWithABias",
       "MultiHeadAttention",
       {wave(0.1, {2, 3, 8}),
        wave(0.2, {2, 5, 8}),
        wave(0.3, {2, 5, 8}),
        {},
        {},
        wave(0.5, {1, 2, 3, 5})},
       {attributeMessage("num_heads", int64_t(2)),
        attributeMessage("scale", 0.7F)},
       0,
       {0.4011646, -0.095514, 0.3551397, 0.04929481, 0.05964711, 0.7367193},
       13.67625},
      {"headsAfterAPast",
       "MultiHeadAttention",
       {wave(0.1, {2, 3, 8}),
        wave(0.6, {2, 3, 8}),
        wave(0.7, {2, 3, 8}),
        {},
        {},
        {},
        wave(0.2, {2, 2, 4, 4}),
        wave(0.3, {2, 2, 4, 4})},
       {attributeMessage("num_heads", int64_t(2)),
        attributeMessage("unidirectional", int64_t(1))},
       0,
       {0.009362704, 0.5715926, 0.1315014, -0.1720058, 0.2564307, -0.153634},
       9.641573},
      {"keysInHeads",
       "MultiHeadAttention",
       {wave(0.1, {2, 3, 8}), wave(0.2, {2, 2, 5, 4}), wave(0.3, {2, 2, 5, 4})},
       {attributeMessage("num_heads", int64_t(2))},
       0,
       {0.1021119, 0.2432576, 0.1574288, -0.07640139, -0.03575791, 0.4164408},
       13.77779},
      {"groupsOfAPrompt",
       "GroupQueryAttention",
       {wave(0.1, {1, 3, 64}),
        wave(0.2, {1, 3, 32}),
        wave(0.3, {1, 3, 32}),
        {},
        {},
        integers<int32_t>({1}, {2}),
        integers<int32_t>({}, {3}),
        wave(0.01, {16, 8}),
        wave(0.02, {16, 8})},
       {attributeMessage("num_heads", int64_t(4)),
        attributeMessage("kv_num_heads", int64_t(2)),
        attributeMessage("do_rotary", int64_t(1))},
       0,
       {0.2955202, 0.5646425, 0.997495, 0.14112, -0.9258147, 0.9985433},
       97.3888},
      {"groupsOfAToken",
       "GroupQueryAttention",
       {wave(0.1, {2, 1, 64}), wave(0.2, {2, 1, 32}), wave(0.3, {2, 1, 32}),
        wave(0.4, {2, 2, 5, 16}), wave(0.5, {2, 2, 5, 16}),
        integers<int32_t>({2}, {3, 5}), integers<int32_t>({}, {6}),
        wave(0.01, {16, 8}), wave(0.02, {16, 8})},
       {attributeMessage("num_heads", int64_t(4)),
        attributeMessage("kv_num_heads", int64_t(2)),
        attributeMessage("do_rotary", int64_t(1)),
        attributeMessage("rotary_interleaved", int64_t(1)),
        attributeMessage("softcap", 2.0F)},
       0,
       {0.138274, 0.1478644, 0.1206858, -0.6339847, 0.1318258, 0.5855419},
       37.83741},
      {"presentOfGroups",
       "GroupQueryAttention",
       {wave(0.1, {2, 1, 64}), wave(0.2, {2, 1, 32}), wave(0.3, {2, 1, 32}),
        wave(0.4, {2, 2, 5, 16}), wave(0.5, {2, 2, 5, 16}),
        integers<int32_t>({2}, {3, 5}), integers<int32_t>({}, {6}),
        wave(0.01, {16, 8}), wave(0.02, {16, 8})},
       {attributeMessage("num_heads", int64_t(4)),
        attributeMessage("kv_num_heads", int64_t(2))},
       1,
       {0.3894183, 0.7173561, 0.9092974, -0.7568025, 0.4941134, -0.8278264},
       199.0278},
      {"groupsInAWindow",
       "GroupQueryAttention",
       {wave(0.1, {1, 6, 128}),
        {},
        {},
        {},
        {},
        integers<int32_t>({1}, {5}),
        integers<int32_t>({}, {6})},
       {attributeMessage("num_heads", int64_t(4)),
        attributeMessage("kv_num_heads", int64_t(2)),
        attributeMessage("local_window_size", int64_t(2)),
        attributeMessage("scale", 0.4F)},
       0,
       {-0.9367942, -0.9956786, -0.7361417, 0.02309003, 0.8788928, 0.7295149},
       213.6395},
      {"rotary",
       "RotaryEmbedding",
       {wave(0.1, {2, 3, 32}), integers<int64_t>({2, 3}, {0, 1, 2, 4, 5, 9}),
        wave(0.01, {16, 8}), wave(0.02, {16, 8})},
       {},
       0,
       {-0.003303795, -0.03364607, 0.08636422, 0.1551761, -0.1440032,
        0.6102247},
       104.712},
      {"rotaryOfHeads",
       "RotaryEmbedding",
       {wave(0.1, {2, 2, 3, 16}), integers<int64_t>({1}, {3}),
        wave(0.01, {16, 8}), wave(0.02, {16, 8})},
       {attributeMessage("interleaved", int64_t(1))},
       0,
       {0.120933, -0.1829376, 0.02789091, -0.04173131, 0.03762916, 1.061198},
       107.4032},
  };
}

TEST(OnnxMicrosoft, attentionIsOnnxRuntimes) {
  for (const Case &one : attentions())
    check(one);
}

static std::vector<Case> layers() {
  return {
      {"productOfTurned",
       "FusedMatMul",
       {wave(0.1, {4, 2, 3}), wave(0.2, {2, 4, 5})},
       {attributeMessage("transA", int64_t(1)),
        attributeMessage("transBatchA", int64_t(1)),
        attributeMessage("alpha", 0.5F)},
       0,
       {1.114776, -0.1307864, 0.3146959, 0.5468024, 0.5566449, -0.4937067},
       11.98956},
      {"skip",
       "SkipLayerNormalization",
       {wave(0.1, {2, 3, 8}), wave(0.2, {2, 3, 8}), wave(0.5, {8}),
        wave(0.6, {8}), wave(0.3, {8})},
       {attributeMessage("epsilon", 1e-06F)},
       0,
       {0.555268, 1.354882, 1.093709, -1.42358, -1.300224, 0.1138943},
       39.7925},
      {"skipOfRoots",
       "SkipSimplifiedLayerNormalization",
       {wave(0.1, {2, 3, 8}), wave(0.2, {2, 3, 8}), wave(0.5, {8}),
        wave(0.6, {8})},
       {},
       0,
       {0.3167032, 0.9789631, 0.6696433, -1.079813, 0.02215191, -0.08367121},
       22.6804},
      {"embeddings",
       "EmbedLayerNormalization",
       {integers<int32_t>({2, 3}, {0, 6, 2, 5, 1, 1}),
        integers<int32_t>({2, 3}, {0, 1, 1, 0, 0, 1}), wave(0.1, {7, 8}),
        wave(0.2, {5, 8}), wave(0.3, {2, 8}), wave(0.5, {8}), wave(0.6, {8})},
       {},
       0,
       {0.555268, 1.354882, 1.093709, -1.423581, -1.300224, 0.1138943},
       40.99857},
      {"rowsOfTheMask",
       "EmbedLayerNormalization",
       {integers<int32_t>({2, 3}, {0, 6, 2, 5, 1, 1}),
        integers<int32_t>({2, 3}, {0, 1, 1, 0, 0, 1}), wave(0.1, {7, 8}),
        wave(0.2, {5, 8}), wave(0.3, {2, 8}), wave(0.5, {8}), wave(0.6, {8}),
        integers<int32_t>({2, 3}, {1, 1, 0, 1, 1, 1})},
       {},
       1,
       {2, 3},
       5},
      {"fourBits",
       "MatMulNBits",
       {wave(0.1, {3, 40}), codes<uint8_t>(7, {6, 3, 8}), wave(0.3, {18})},
       {attributeMessage("K", int64_t(40)), attributeMessage("N", int64_t(6)),
        attributeMessage("bits", int64_t(4)),
        attributeMessage("block_size", int64_t(16))},
       0,
       {-8.431578, -13.15342, -1.530581, 1.318155, -12.8677, -6.90773},
       169.0603},
      {"fourBitsWithZeros",
       "MatMulNBits",
       {wave(0.1, {3, 40}), codes<uint8_t>(7, {6, 3, 8}), wave(0.3, {18}),
        codes<uint8_t>(5, {12})},
       {attributeMessage("K", int64_t(40)), attributeMessage("N", int64_t(6)),
        attributeMessage("bits", int64_t(4)),
        attributeMessage("block_size", int64_t(16))},
       0,
       {2.899496, -20.46017, 5.719997, 7.181879, -3.549071, -1.006293},
       212.7975},
      {"eightBits",
       "MatMulNBits",
       {wave(0.1, {3, 40}), codes<uint8_t>(7, {6, 3, 16}), wave(0.3, {18}),
        codes<uint8_t>(5, {18})},
       {attributeMessage("K", int64_t(40)), attributeMessage("N", int64_t(6)),
        attributeMessage("bits", int64_t(8)),
        attributeMessage("block_size", int64_t(16))},
       0,
       {-215.2259, 174.1142, 331.0428, -353.7148, -97.01525, 382.1959},
       6381.157},
      {"twoBits",
       "MatMulNBits",
       {wave(0.1, {3, 40}),
        codes<uint8_t>(7, {6, 3, 4}),
        wave(0.3, {18}),
        {},
        {},
        wave(0.4, {6})},
       {attributeMessage("K", int64_t(40)), attributeMessage("N", int64_t(6)),
        attributeMessage("bits", int64_t(2)),
        attributeMessage("block_size", int64_t(16))},
       0,
       {-1.218976, -5.674641, -2.648805, 4.903899, -0.08115008, 1.062809},
       67.04101},
      {"fastGelu",
       "FastGelu",
       {wave(0.1, {2, 3, 8}), wave(0.3, {8})},
       {},
       0,
       {0.258439, 0.5932962, 1.373537, 0.822376, 0.03465372, 1.415407},
       27.75642},
      {"biasGelu",
       "BiasGelu",
       {wave(0.1, {2, 3, 8}), wave(0.3, {8})},
       {},
       0,
       {0.2584462, 0.593369, 1.37376, 0.8225226, 0.03465373, 1.415621},
       27.75889},
      {"quickGelu",
       "QuickGelu",
       {wave(0.1, {2, 3, 8})},
       {},
       0,
       {0.05414737, 0.1159707, 0.3324254, 0.6792701, 0.8369021, 0.3640881},
       16.80492},
      {"gelu",
       "Gelu",
       {wave(0.1, {2, 3, 8})},
       {},
       0,
       {0.05388626, 0.1149777, 0.3280143, 0.6731414, 0.8323236, 0.3592522},
       16.76581},
      {"convWithASum",
       "FusedConv",
       {wave(0.1, {1, 3, 5, 5}), wave(0.2, {4, 3, 3, 3}), wave(0.3, {4}),
        wave(0.4, {1, 4, 3, 3})},
       {textAttribute("activation", "LeakyRelu"),
        realsAttribute("activation_params", {0.25F})},
       0,
       {1.118169, 0.4078712, 1.918721, -0.8570321, 2.591411, 0.04400346},
       63.82619},
      {"convThatIsCut",
       "FusedConv",
       {wave(0.1, {1, 3, 5, 5}), wave(0.2, {4, 3, 3, 3})},
       {textAttribute("activation", "Clip"),
        realsAttribute("activation_params", {0.0F, 0.5F})},
       0,
       {0.4332309, 0, 0.5, 0, 0.5, 0.5},
       9.837624},
  };
}

TEST(OnnxMicrosoft, layersAreOnnxRuntimes) {
  for (const Case &one : layers())
    check(one);
}

static std::vector<Case> quantized() {
  return {
      {"sum8",
       "QLinearAdd",
       {codes<uint8_t>(7, {3, 10}), number(0.02F), integers<uint8_t>({}, {7}),
        codes<uint8_t>(5, {10}), number(0.03F), integers<uint8_t>({}, {3}),
        number(0.05F), integers<uint8_t>({}, {5})},
       {},
       0,
       {0, 9, 30, 62, 105, 160},
       2567},
      {"product8",
       "QLinearMul",
       {codes<int8_t>(7, {3, 10}), number(0.02F), integers<int8_t>({}, {7}),
        codes<int8_t>(5, {10}), number(0.03F), integers<int8_t>({}, {3}),
        number(0.07F), integers<int8_t>({}, {5})},
       {},
       0,
       {127, 127, 96, 47, 9, 9},
       1486},
      {"sigmoid8",
       "QLinearSigmoid",
       {codes<uint8_t>(7, {3, 10}), number(0.02F), integers<uint8_t>({}, {127}),
        number(0.00390625F), integers<uint8_t>({}, {0})},
       {},
       0,
       {19, 22, 34, 64, 124, 199},
       2886},
      {"leaky8",
       "QLinearLeakyRelu",
       {codes<uint8_t>(7, {3, 10}), number(0.02F), integers<uint8_t>({}, {127}),
        number(0.03F), integers<uint8_t>({}, {9})},
       {attributeMessage("alpha", 0.1F)},
       0,
       {1, 1, 3, 5, 9, 51},
       520},
      {"softmax8",
       "QLinearSoftmax",
       {codes<uint8_t>(7, {3, 10}), number(0.05F), integers<uint8_t>({}, {7}),
        number(0.00390625F), integers<uint8_t>({}, {0})},
       {attributeMessage("axis", int64_t(-1)),
        attributeMessage("opset", int64_t(13))},
       0,
       {0, 0, 0, 0, 2, 54},
       768},
      {"pool8",
       "QLinearGlobalAveragePool",
       {codes<uint8_t>(7, {1, 4, 5, 3}), number(0.02F),
        integers<uint8_t>({}, {7}), number(0.015F), integers<uint8_t>({}, {9})},
       {attributeMessage("channels_last", int64_t(1))},
       0,
       {128, 144, 196},
       468},
      {"gemm8",
       "QGemm",
       {codes<uint8_t>(7, {3, 8}), number(0.02F), integers<uint8_t>({}, {7}),
        codes<int8_t>(5, {4, 8}), tensor({0.03F, 0.01F, 0.02F, 0.04F}),
        integers<int8_t>({4}, {0, 0, 0, 0}),
        integers<int32_t>({4}, {100, -2000, 30, 4000}), number(0.3F),
        integers<uint8_t>({}, {90})},
       {attributeMessage("transB", int64_t(1))},
       0,
       {49, 96, 95, 124, 0, 81},
       1071},
      {"gemmOfFloats",
       "QGemm",
       {codes<uint8_t>(7, {3, 8}), number(0.02F), integers<uint8_t>({}, {7}),
        swapaxes(codes<int8_t>(5, {4, 8}), 0, 1), number(0.03F),
        integers<int8_t>({}, {3}),
        integers<int32_t>({4}, {100, -2000, 30, 4000})},
       {attributeMessage("alpha", 0.5F)},
       0,
       {-6.557999, 2.3736, 0.6402, 3.4056, -19.902, -4.98},
       64.3674},
      {"means8",
       "QLinearAveragePool",
       {codes<uint8_t>(7, {1, 2, 5, 5}), number(0.02F),
        integers<uint8_t>({}, {7}), number(0.015F), integers<uint8_t>({}, {9})},
       {attributeMessage("kernel_shape", {3, 3}),
        attributeMessage("pads", {1, 1, 1, 1}),
        attributeMessage("strides", {2, 2})},
       0,
       {71, 101, 164, 148, 112, 149},
       2500},
      {"meansOfLastChannels8",
       "QLinearAveragePool",
       {codes<uint8_t>(7, {1, 5, 5, 2}), number(0.02F),
        integers<uint8_t>({}, {7}), number(0.015F), integers<uint8_t>({}, {9})},
       {attributeMessage("kernel_shape", {2, 3}),
        attributeMessage("channels_last", int64_t(1))},
       0,
       {117, 148, 83, 150, 123, 114},
       3601},
      {"where8",
       "QLinearWhere",
       {integers<int32_t>({1, 4}, {1, 0, 1, 1}).to(DType::boolean),
        codes<uint8_t>(7, {3, 4}), number(0.02F), integers<uint8_t>({}, {7}),
        codes<uint8_t>(5, {3, 4}), number(0.03F), integers<uint8_t>({}, {3}),
        number(0.04F), integers<uint8_t>({}, {5})},
       {},
       0,
       {1, 9, 18, 37, 63, 108},
       712},
      {"concat8",
       "QLinearConcat",
       {number(0.03F), integers<uint8_t>({}, {4}), codes<uint8_t>(7, {2, 3}),
        number(0.02F), integers<uint8_t>({}, {7}), codes<uint8_t>(5, {2, 5}),
        number(0.04F), integers<uint8_t>({}, {1})},
       {attributeMessage("axis", int64_t(1))},
       0,
       {0, 6, 22, 3, 13, 37},
       1353},
      {"dynamicProduct",
       "DynamicQuantizeMatMul",
       {wave(0.1, {3, 8}), codes<uint8_t>(7, {8, 5}), number(0.02F),
        integers<uint8_t>({}, {3}), wave(0.4, {5})},
       {},
       0,
       {-0.6581725, 0.2329526, -0.1928961, 3.051811, 3.439692, 0.6176574},
       29.78306},
      {"integerProduct",
       "MatMulIntegerToFloat",
       {codes<uint8_t>(7, {3, 8}), codes<int8_t>(5, {8, 5}), number(0.02F),
        wave(0.3, {5}), integers<uint8_t>({}, {4}), codes<int8_t>(3, {5})},
       {},
       0,
       {282.9901, 853.1974, 1324.514, 176.0726, -768.6484, 551.9372},
       12160.89},
      {"quantized",
       "QuantizeLinear",
       {wave(0.1, {2, 3, 8}), number(0.02F), integers<uint8_t>({}, {127})},
       {},
       0,
       {132, 137, 151, 169, 177, 153},
       6345},
      {"dequantizedRows",
       "DequantizeLinear",
       {codes<int8_t>(7, {3, 4}), wave(0.3, {3}), codes<int8_t>(3, {3})},
       {attributeMessage("axis", int64_t(0))},
       0,
       {0, 2.955202, 10.04769, 21.27746, 66.62782, 103.8942},
       821.5203},
  };
}

TEST(OnnxMicrosoft, quantizedOnesAreOnnxRuntimes) {
  for (const Case &one : quantized())
    check(one);
}

//===- What is refused ----------------------------------------------------===//

static std::string refused(Case one) {
  one.output = 0;
  return problem([&] { run(one); });
}

TEST(OnnxMicrosoft, whatDoesNotFitIsAnError) {
  Tensor x = wave(.1, {2, 3, 8});
  Message heads = attributeMessage("num_heads", int64_t(3));
  EXPECT_THAT(
      refused({"", "Attention", {x, wave(.2, {8, 24})}, {heads}, 0, {}, 0}),
      HasSubstr("the width is no multiple of 3 heads"));
  EXPECT_THAT(refused({"",
                       "MatMulNBits",
                       {x, codes<uint8_t>(7, {6, 1, 8}), wave(.3, {6})},
                       {attributeMessage("K", int64_t(8)),
                        attributeMessage("N", int64_t(6)),
                        attributeMessage("bits", int64_t(3)),
                        attributeMessage("block_size", int64_t(16))},
                       0,
                       {},
                       0}),
              HasSubstr("weights of 3 bits"));
  EXPECT_THAT(refused({"",
                       "FusedConv",
                       {wave(.1, {1, 3, 5, 5}), wave(.2, {4, 3, 3, 3})},
                       {textAttribute("activation", "Fancy")},
                       0,
                       {},
                       0}),
              HasSubstr("activation 'Fancy'"));
}
