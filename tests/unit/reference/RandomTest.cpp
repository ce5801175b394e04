/// Random numbers: known answers of Philox, and the normal's distribution.
#include "runtime/reference/Random.h"

#include "tests/unit/reference/HostRows.h"

#include <cmath>

using namespace sinter;
using namespace sinter::reference;

// The known answers that accompany the generator's publication.
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d,
                                                      0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6,
                                     0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420,
                                     0x24126ea1}));
}

static HostTensor keyTensor(int64_t value) {
  HostTensor result = ints(DType::i64, {value});
  result.dims.clear();
  return result;
}

/// A graph of one random op, and its key and counter.
static graph::Graph drawGraph(bool normal, int64_t count, DType dtype) {
  auto scalar = [] { return graph::NodeFactory::scalar(DType::i64, 0); };
  graph::NodeRef low = scalar(), high = scalar(), at = scalar();
  auto op = normal ? graph::random_normal : graph::random_uniform;
  graph::NodeRef node =
      graph::ok(op(low, high, at, Dims{count}, dtype, DeviceId()));
  return graph::slice({&node, 1})->graph;
}

static HostValue draw(bool normal, int64_t count, DType dtype,
                      int64_t counter = 0) {
  std::vector<HostTensor> inputs = {keyTensor(1), keyTensor(2),
                                    keyTensor(counter)};
  auto result = evaluateGraph(drawGraph(normal, count, dtype), inputs);
  EXPECT_TRUE(result) << result.error().message;
  return result ? decode((*result)[0]) : HostValue();
}

TEST(Random, BitsAreTheReferences) {
  std::vector<HostTensor> inputs = {keyTensor(0x123456789ABCDEF0),
                                    keyTensor(-77), keyTensor(-3)};
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
    for (bool normal : {false, true})
      for (int64_t count : {1, 3, 1000}) {
        graph::Graph graph = drawGraph(normal, count, dtype);
        auto found = evaluateGraph(graph, inputs);
        auto expected = evaluate(graph, inputs);
        ASSERT_TRUE(found && expected);
        EXPECT_EQ((*found)[0].data, (*expected)[0].data)
            << name(dtype) << (normal ? " normal " : " uniform ") << count;
      }
}

TEST(Random, UniformIsInRange) {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    double sum = 0;
    HostValue values = draw(false, 4000, dtype);
    for (double value : values.reals) {
      EXPECT_GE(value, 0);
      EXPECT_LT(value, 1);
      sum += value;
    }
    EXPECT_NEAR(sum / 4000, 0.5, 0.02);
  }
}

TEST(Random, CountersShiftByBlocks) {
  HostValue a = draw(false, 16, DType::f32), b = draw(false, 12, DType::f32, 1);
  for (size_t i = 0; i < 12; ++i)
    EXPECT_EQ(a.reals[i + 4], b.reals[i]);
}

TEST(Random, NormalHasItsMoments) {
  HostValue values = draw(true, 40000, DType::f32);
  double moments[4] = {};
  for (double value : values.reals)
    for (int power = 0; power < 4; ++power)
      moments[power] += std::pow(value, power + 1) / 40000;
  EXPECT_NEAR(moments[0], 0, 0.02);
  EXPECT_NEAR(moments[1], 1, 0.03);
  EXPECT_NEAR(moments[2], 0, 0.06);
  EXPECT_NEAR(moments[3], 3, 0.2);
}

/// The polynomial against the C library, over the whole range.
TEST(Random, NormalIsAccurate) {
  for (uint64_t i = 0; i < 1 << 20; ++i) {
    auto x = static_cast<uint32_t>(i * 4099);
    auto y = static_cast<uint32_t>(i * 2654435761u);
    double u = ((x >> 8) + 1) * 0x1p-24;
    double radius = std::sqrt(-2 * std::log(u));
    double angle = 2 * M_PI * y * 0x1p-32;
    std::array<uint32_t, 4> lanes = {x, y, x, y};
    ASSERT_NEAR(normalOf(lanes, 0), radius * std::cos(angle), 2e-6);
    ASSERT_NEAR(normalOf(lanes, 3), radius * std::sin(angle), 2e-6);
  }
}
