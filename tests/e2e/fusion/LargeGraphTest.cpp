/// Whatever is recorded compiles, in every mode: what is too much for a kernel
/// is cut.
#include "runtime/support/Flags.h"

#include <sinter/Basic.h>

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>

namespace sn = sinter;
using Values = std::vector<float>;

namespace {

struct Mode {
  const char *name;
  const char *numerics;
  const char *fusion;
};

struct Deep {
  std::vector<sn::nn::Linear> layers;
  sn::Tensor forward(const sn::Tensor &x) const {
    sn::Tensor h = x;
    for (const sn::nn::Linear &layer : layers)
      h = sn::tanh(layer(h));
    return h;
  }
  SINTER_MODULE(Deep, layers)
};

class LargeGraphs : public testing::TestWithParam<Mode> {
protected:
  void SetUp() override { set(GetParam().numerics, GetParam().fusion); }
  void TearDown() override { set(nullptr, nullptr); }

private:
  static void setVariable(const char *name, const char *value) {
    if (value)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }
  static void set(const char *numerics, const char *fusion) {
    setVariable("SINTER_NUMERICS", numerics);
    setVariable("SINTER_FUSION", fusion);
    sinter::reloadFlags();
  }
};

constexpr Mode modes[] = {{"standard", "default", "full"},
                          {"exact", "exact", "full"},
                          {"fast", "fast", "full"},
                          {"unfused", "default", "none"},
                          {"exactUnfused", "exact", "none"}};

std::vector<sn::Tensor> numbered(int count) {
  std::vector<sn::Tensor> tensors;
  for (int i = 0; i < count; ++i)
    tensors.push_back(sn::tensor({float(i)}));
  return tensors;
}

float totalOf(const sn::Tensor &tensor) {
  Values values = tensor.to_vector<float>();
  return std::accumulate(values.begin(), values.end(), 0.F);
}

std::span<const sn::Tensor> spanOf(const std::vector<sn::Tensor> &tensors) {
  return tensors;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Modes, LargeGraphs, testing::ValuesIn(modes),
                         [](const testing::TestParamInfo<Mode> &info) {
                           return std::string(info.param.name);
                         });

//===- Many operands ------------------------------------------------------===//

TEST_P(LargeGraphs, Stack) {
  for (int count : {31, 32, 33, 64, 65, 200}) {
    SCOPED_TRACE(count);
    sn::Tensor all = sn::stack(spanOf(numbered(count)));
    EXPECT_EQ(sn::sum(all).item<float>(), float(count * (count - 1) / 2));
    Values values = all.to_vector<float>();
    ASSERT_EQ(values.size(), size_t(count));
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(values[i], float(i));
  }
}

TEST_P(LargeGraphs, StackOfAThousand) {
  Values values = sn::stack(spanOf(numbered(1000))).to_vector<float>();
  ASSERT_EQ(values.size(), 1000U);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(values[i], float(i));
}

/// Operands of several sizes, along the second axis, that are computed.
TEST_P(LargeGraphs, ConcatOfComputed) {
  constexpr int count = 70;
  std::vector<sn::Tensor> parts;
  Values first;
  for (int i = 0; i < count; ++i) {
    int64_t width = 1 + i % 3;
    Values values(2 * width, float(i));
    sn::Tensor x = sn::tensor(values, {2, width});
    parts.push_back(sn::transpose(sn::transpose(x, {1, 0}) * 2.0, {1, 0}));
    first.insert(first.end(), width, float(2 * i));
  }
  Values found = sn::concat(spanOf(parts), 1).to_vector<float>();
  ASSERT_EQ(found.size(), 2 * first.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], first[i % first.size()]);
}

/// One tensor a hundred times, and slices of it.
TEST_P(LargeGraphs, ConcatOfOneTensor) {
  sn::Tensor x = sn::tensor({1.F, 2.F, 3.F});
  std::vector<sn::Tensor> same(100, x), slices;
  for (int i = 0; i < 200; ++i)
    slices.push_back(sn::slice(x, {i % 3}, {i % 3 + 1}, {1}));
  EXPECT_EQ(totalOf(sn::concat(spanOf(same))), 600.F);
  EXPECT_EQ(totalOf(sn::concat(spanOf(slices))), 399.F);
  Values numbers(300);
  std::iota(numbers.begin(), numbers.end(), 0.F);
  sn::Tensor again = sn::stack(spanOf(sn::unbind(sn::tensor(numbers))));
  EXPECT_EQ(again.to_vector<float>(), numbers);
}

/// Each operand needs most of a kernel.
TEST_P(LargeGraphs, ConcatOfLongViews) {
  std::vector<sn::Tensor> parts;
  for (int i = 0; i < 40; ++i) {
    sn::Tensor y = sn::tensor({{float(i), 1.F}, {2.F, 3.F}});
    for (int k = 0; k < 70; ++k)
      y = k % 2 ? sn::swapaxes(y, 0, 1) : sn::flip(y, {0});
    parts.push_back(y);
  }
  EXPECT_EQ(totalOf(sn::concat(spanOf(parts))), 780.F + 40 * 6);
}

/// Numbers that are computed from one that is stored.
TEST_P(LargeGraphs, StackOfNumbers) {
  sn::Tensor x = sn::tensor(Values{1}, sn::Dims{});
  for (int i = 0; i < 120; ++i)
    x = sn::neg(x) + 1.0;
  std::vector<sn::Tensor> parts;
  for (int i = 0; i < 40; ++i)
    parts.push_back(x * double(i));
  EXPECT_EQ(totalOf(sn::stack(spanOf(parts))), 780.F);
}

/// With a number of rows that is a symbol at the second run.
TEST_P(LargeGraphs, ConcatOfSymbolicRows) {
  for (int64_t rows : {3, 5, 7}) {
    std::vector<sn::Tensor> parts;
    for (int i = 0; i < 48; ++i)
      parts.push_back(sn::tensor(Values(rows * 2, float(i)), {rows, 2}));
    EXPECT_EQ(totalOf(sn::concat(spanOf(parts), 0)), float(1128 * 2 * rows));
    EXPECT_EQ(totalOf(sn::concat(spanOf(parts), 1)), float(1128 * 2 * rows));
  }
}

/// Nothing joins what the op reads: a sum of numbers, each of its own tensor.
TEST_P(LargeGraphs, NumbersOfManyTensors) {
  sn::Tensor total = sn::zeros({}), spread = sn::zeros({3});
  for (int i = 0; i < 60; ++i) {
    sn::Tensor one = sn::tensor(Values{float(i)}, sn::Dims{});
    total = total + one;
    spread = spread + sn::broadcast(one, {3});
  }
  EXPECT_EQ(total.item<float>(), 1770.F);
  EXPECT_EQ(spread.to_vector<float>(), Values(3, 1770.F));
}

//===- Long chains --------------------------------------------------------===//

TEST_P(LargeGraphs, NumbersInARow) {
  for (int count : {95, 96, 97, 200, 300}) {
    SCOPED_TRACE(count);
    sn::Tensor y = sn::tensor(Values{1}, sn::Dims{});
    float want = 1;
    for (int i = 0; i < count; ++i) {
      y = sn::sin(y);
      want = std::sin(want);
    }
    EXPECT_NEAR(y.item<float>(), want, 1e-4);
  }
}

TEST_P(LargeGraphs, NumbersOfOneTensor) {
  sn::Tensor total = sn::zeros({});
  for (const sn::Tensor &one : sn::unbind(sn::tensor(Values(60, 1.F))))
    total = total + sn::exp(one);
  EXPECT_NEAR(total.item<float>(), 60 * std::exp(1.F), 1e-3);
}

TEST_P(LargeGraphs, FifthDerivative) {
  sn::Tensor x = sn::tensor(std::vector<double>{0.3}, sn::Dims{});
  x.require_grad();
  sn::Tensor y = sn::tanh(sn::sin(x));
  for (int i = 0; i < 5; ++i)
    y = sn::grad(y, {x})[0];
  EXPECT_NEAR(y.item<double>(), 4.48803, 1e-4);
}

TEST_P(LargeGraphs, ViewsInARow) {
  for (int count : {95, 96, 97, 200, 300}) {
    SCOPED_TRACE(count);
    sn::Tensor y = sn::tensor({{1.F, 2.F}, {3.F, 4.F}});
    Values want{1, 2, 3, 4};
    for (int i = 0; i < count; ++i) {
      y = i % 2 ? sn::swapaxes(y, 0, 1) : sn::flip(y, {0});
      want = i % 2 ? Values{want[0], want[2], want[1], want[3]}
                   : Values{want[2], want[3], want[0], want[1]};
    }
    EXPECT_EQ(y.to_vector<float>(), want);
  }
}

TEST_P(LargeGraphs, AShiftedBuffer) {
  sn::Tensor y = sn::zeros({64});
  for (int i = 0; i < 60; ++i)
    y = sn::concat({sn::slice(y, {1}, {64}, {1}), sn::full({1}, double(i))}, 0);
  Values found = y.to_vector<float>();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(found[i], float(std::max(0, i - 4)));
}

/// In the body of a loop, and read by it from outside.
TEST_P(LargeGraphs, ViewsInALoop) {
  sn::Tensor outside = sn::tensor({{1.F, 2.F}, {3.F, 4.F}});
  auto turned = [](sn::Tensor y) {
    for (int i = 0; i < 200; ++i)
      y = i % 2 ? sn::swapaxes(y, 0, 1) : sn::flip(y, {0});
    return y;
  };
  sn::Tensor read = turned(outside);
  auto loop = sn::scan(
      [&](auto c, auto) { return sn::ScanStep{{turned(c[0]) + read}, {}}; },
      {sn::zeros({2, 2})}, {}, {.length = 3});
  EXPECT_EQ(totalOf(loop.carries[0]), 30.F);
}

//===- Both ---------------------------------------------------------------===//

TEST_P(LargeGraphs, FlatGradients) {
  Deep net;
  for (int i = 0; i < 16; ++i)
    net.layers.emplace_back(4, 4);
  sn::Tensor loss = sn::mean(sn::square(net(sn::ones({2, 4}))));
  sn::Gradients gradients = loss.backward();
  Values flat = net.flat_gradients(gradients).to_vector<float>();
  ASSERT_EQ(flat.size(), 320U);
  Values last = gradients(net.layers.back().weight).to_vector<float>();
  EXPECT_TRUE(std::equal(last.begin(), last.end(), flat.end() - 20));
}

TEST_P(LargeGraphs, UnrolledCell) {
  for (int steps : {31, 32, 100}) {
    SCOPED_TRACE(steps);
    sn::Tensor w = sn::tensor({{0.5F, -0.25F}, {0.125F, 0.5F}});
    w.require_grad();
    sn::Tensor h = sn::zeros({1, 2});
    std::vector<sn::Tensor> all;
    for (int i = 0; i < steps; ++i)
      all.push_back(h = sn::tanh(sn::matmul(h, w) + 0.25));
    sn::Tensor loss = sn::mean(sn::stack(spanOf(all)));
    double a = 0, b = 0, sum = 0;
    for (int i = 0; i < steps; ++i) {
      double next = std::tanh(0.5 * a + 0.125 * b + 0.25);
      b = std::tanh(-0.25 * a + 0.5 * b + 0.25);
      a = next;
      sum += a + b;
    }
    EXPECT_NEAR(loss.item<float>(), sum / (2 * steps), 1e-5);
    EXPECT_GT(loss.backward()(w).to_vector<float>()[0], 0.F);
  }
}
