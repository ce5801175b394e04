/// Loops that the user unrolls: steps that differ in where they read are one
/// kernel each.
#include "tests/unit/frontend/Counting.h"

#include <cmath>
#include <vector>

namespace sn = sinter;

static size_t occurrences(const std::string &text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != text.npos;
       at = text.find(what, at + 1))
    ++count;
  return count;
}

static size_t kernelsOf(const std::vector<sn::Tensor> &results) {
  return occurrences(sn::inspect(results, "fuse"), "program.kernel @");
}

namespace {

constexpr int64_t batch = 3, width = 5;

/// A recurrent net: h = tanh(x[:, t] w + h u), from which every step adds to
/// the loss.
struct Net {
  sn::Tensor xs, w, u;

  explicit Net(int64_t steps) {
    auto numbers = [](size_t count, float scale) {
      std::vector<float> values(count);
      for (size_t i = 0; i < count; ++i)
        values[i] = scale * std::sin(float(i) * 1.7f);
      return values;
    };
    xs = sn::tensor(numbers(batch * steps * width, 1.f), {batch, steps, width});
    w = sn::tensor(numbers(width * width, 0.5f), {width, width});
    u = sn::tensor(numbers(width * width, 0.3f), {width, width});
    for (sn::Tensor *each : {&xs, &w, &u})
      each->require_grad();
  }

  sn::Tensor stepOf(const sn::Tensor &x, const sn::Tensor &h) const {
    return sn::tanh(sn::matmul(x, w) + sn::matmul(h, u));
  }
  sn::Tensor unrolled() const {
    int64_t steps = xs.dim(1).value;
    sn::Tensor h = sn::zeros({batch, width}), loss = sn::zeros({});
    for (int64_t t = 0; t < steps; ++t) {
      h = stepOf(sn::select(xs, 1, t), h);
      loss = loss + sn::sum(h * h);
    }
    return loss;
  }
  sn::Tensor looped() const {
    std::vector<sn::Tensor> ends =
        sn::scan(
            [&](auto carried, auto x) {
              sn::Tensor h = stepOf(x[0], carried[0]);
              return sn::ScanStep{{h, carried[1] + sn::sum(h * h)}, {}};
            },
            {sn::zeros({batch, width}), sn::zeros({})},
            {sn::transpose(xs, {1, 0, 2})})
            .carries;
    return ends[1];
  }
};

} // namespace

TEST(Unrolled, StepsAreOneKernelEach) {
  for (int64_t steps : {100, 500}) {
    Net net(steps);
    EXPECT_LE(kernelsOf({net.unrolled()}), 8u) << steps;
  }
}

TEST(Unrolled, StepsOfGradientsAreOneKernelEach) {
  size_t few = 0;
  for (int64_t steps : {60, 240}) {
    Net net(steps);
    size_t kernels =
        kernelsOf(sn::grad(net.unrolled(), {net.w, net.u, net.xs}));
    if (few) {
      EXPECT_LE(kernels, few + 8);
    }
    few = kernels;
    EXPECT_LE(kernels, 32u) << steps;
  }
}

TEST(Unrolled, IsWhatALoopComputes) {
  Net net(20);
  std::vector<sn::Tensor> with =
      sn::grad(net.unrolled(), {net.w, net.u, net.xs});
  std::vector<sn::Tensor> of = sn::grad(net.looped(), {net.w, net.u, net.xs});
  for (size_t i = 0; i < with.size(); ++i) {
    auto a = with[i].to_vector<float>(), b = of[i].to_vector<float>();
    ASSERT_EQ(a.size(), b.size());
    for (size_t at = 0; at < a.size(); ++at)
      EXPECT_NEAR(a[at], b[at], 1e-4f * (1 + std::abs(b[at])))
          << i << " " << at;
  }
}

// Copies along the last axis, where alignment counts, at starts of every kind.
TEST(Unrolled, SlicesAndPadsBeginWhereTheySay) {
  constexpr int64_t columns = 96, taken = 24;
  std::vector<float> numbers(2 * columns);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float(i);
  sn::Tensor x = sn::tensor(numbers, {2, columns});
  for (int64_t unit : {1, 3, 4, 16}) {
    std::vector<sn::Tensor> results;
    std::vector<int64_t> starts;
    for (int64_t start = 0; start + taken <= columns; start += unit) {
      sn::Tensor part =
          sn::slice(x, {0, start}, {2, start + taken}, {1, 1}) + 1.f;
      // A sum along the rows is a kernel by itself.
      results.push_back(sn::pad(part, {{1, start, columns - taken - start}}));
      results.push_back(sn::sum(part, 1));
      starts.push_back(start);
    }
    sn::eval(std::span<const sn::Tensor>(results));
    for (size_t at = 0; at < starts.size(); ++at) {
      auto padded = results[2 * at].to_vector<float>();
      auto sums = results[2 * at + 1].to_vector<float>();
      for (int64_t row = 0; row < 2; ++row) {
        float sum = 0;
        for (int64_t column = 0; column < columns; ++column) {
          int64_t inside = column - starts[at];
          bool isInside = inside >= 0 && inside < taken;
          float expected =
              isInside ? numbers[size_t(row * columns + column)] + 1.f : 0.f;
          sum += expected;
          ASSERT_EQ(padded[size_t(row * columns + column)], expected)
              << unit << " " << starts[at] << " " << row << " " << column;
        }
        ASSERT_EQ(sums[size_t(row)], sum) << unit << " " << starts[at];
      }
    }
  }
}
