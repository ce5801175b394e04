/// Steps that read their argument in several places, repeated: right values,
/// and programs that stay small.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sn = sinter;

namespace {

using Values = std::vector<float>;
constexpr int64_t length = 64;

/// In every mode: what a program rounds to is another matter.
class RepeatedSteps : public testing::TestWithParam<sn::Numerics> {
protected:
  sn::numerics_scope mode{GetParam()};
};

sn::Tensor part(const sn::Tensor &x, int64_t from, int64_t to,
                int64_t step = 1) {
  return sn::slice(x, {from}, {to}, {step});
}

/// Elements that the kernels of a value are written out to.
size_t elementsOf(const sn::Tensor &value) {
  std::string text = sn::inspect({value}, "lower");
  const std::string mark = "sinter.elements = ";
  size_t total = 0;
  for (size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + 1))
    total += std::stoul(text.substr(at + mark.size()));
  return total;
}

void expectNear(const sn::Tensor &value, const Values &expected) {
  Values values = value.to_vector<float>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-4 * (1 + std::abs(expected[i])))
        << "element " << i;
}

} // namespace

TEST_P(RepeatedSteps, Stencil) {
  for (int steps : {8, 64}) {
    Values cells(length);
    cells[20] = 1;
    sn::Tensor x = sn::tensor(cells, {length});
    for (int step = 0; step < steps; ++step) {
      sn::Tensor middle = part(x, 1, length - 1);
      sn::Tensor sides = part(x, 0, length - 2) + part(x, 2, length);
      x = sn::pad(middle + 0.1 * (sides - 2 * middle), {{0, 1, 1}});
      Values before = cells;
      for (size_t i = 1; i + 1 < cells.size(); ++i)
        cells[i] =
            before[i] + 0.1f * (before[i - 1] + before[i + 1] - 2 * before[i]);
      cells.front() = cells.back() = 0;
    }
    EXPECT_LE(elementsOf(x), size_t(steps) * 200);
    EXPECT_NEAR(sn::sum(x).item<float>(), 1, 1e-3);
    expectNear(x, cells);
  }
}

TEST_P(RepeatedSteps, Rolls) {
  for (int steps : {14, 24, 64}) {
    sn::Tensor x = sn::tensor({1.f, 2.f, 3.f, 4.f, 5.f});
    Values expected(5);
    for (int step = 0; step < steps; ++step)
      x = sn::roll(x, {1}, {0});
    for (int i = 0; i < 5; ++i)
      expected[size_t((i + steps) % 5)] = float(i + 1);
    EXPECT_LE(elementsOf(x), size_t(steps) * 60);
    EXPECT_EQ(x.to_vector<float>(), expected);
  }
}

TEST_P(RepeatedSteps, Butterflies) {
  for (int levels : {4, 6}) {
    Values cells(length);
    for (size_t i = 0; i < cells.size(); ++i)
      cells[i] = float(i % 7) - 2;
    sn::Tensor x = sn::tensor(cells, {length});
    for (int level = 0; level < levels; ++level) {
      sn::Tensor even = part(x, 0, length, 2), odd = part(x, 1, length, 2);
      x = sn::concat({even + odd, even - odd}, 0);
      Values before = cells;
      for (size_t i = 0; i < cells.size() / 2; ++i) {
        cells[i] = before[2 * i] + before[2 * i + 1];
        cells[i + cells.size() / 2] = before[2 * i] - before[2 * i + 1];
      }
    }
    EXPECT_LE(elementsOf(x), size_t(levels) * 120);
    expectNear(x, cells);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, RepeatedSteps,
                         testing::Values(sn::Numerics::standard,
                                         sn::Numerics::exact));
