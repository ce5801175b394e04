/// Loops over steps: values, gradients, errors.
#include "tests/unit/frontend/Counting.h"

#include <cmath>

namespace sn = sinter;
using Values = std::vector<float>;
using Tensors = std::span<const sn::Tensor>;
using sn::ScanStep;

/// Numbers that no pattern hides in.
static sn::Tensor wavy(const sn::Dims &shape, double phase,
                       sn::DType dtype = sn::DType::f32) {
  int64_t count = 1;
  for (sn::Dim dim : shape)
    count *= dim.value;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(0.7 * std::sin(1.3 * double(i) + phase));
  return sn::tensor(values, shape).to(dtype).eval();
}

static std::vector<double> read(const sn::Tensor &x) {
  return x.to(sn::DType::f64).to_vector<double>();
}

static void expectNear(const sn::Tensor &got, const sn::Tensor &expected,
                       double tolerance) {
  std::vector<double> a = read(got), b = read(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

TEST(Scan, AddsUp) {
  sn::Tensor xs = sn::tensor({1.f, 2.f, 3.f, 4.f});
  auto body = [](Tensors c, Tensors x) {
    sn::Tensor next = c[0] + x[0];
    return ScanStep{{next}, {next}};
  };
  sn::Tensor zero = sn::tensor({0.f}).reshape({});
  auto [carries, ys] = sn::scan(body, {zero}, {xs});
  EXPECT_EQ(carries[0].item<float>(), 10.f);
  EXPECT_EQ(ys[0].to_vector<float>(), (Values{1, 3, 6, 10}));
  auto back = sn::scan(body, {zero}, {xs}, {.reverse = true});
  EXPECT_EQ(back.ys[0].to_vector<float>(), (Values{10, 9, 7, 4}));
}

TEST(Scan, OfNoSteps) {
  sn::Tensor init = sn::tensor({1.f, 2.f});
  auto [carries, ys] = sn::scan(
      [](Tensors c, Tensors x) {
        return ScanStep{{c[0] * x[0]}, {sn::exp(c[0])}};
      },
      {init}, {sn::zeros({0, 2})});
  EXPECT_EQ(carries[0].to_vector<float>(), (Values{1, 2}));
  EXPECT_EQ(ys[0].dim(0).value, 0);
  EXPECT_EQ(ys[0].numel(), 0);
}

TEST(Scan, WithoutSlices) {
  auto [carries, ys] =
      sn::scan([](Tensors c, Tensors) { return ScanStep{{c[0] * 2.0}, {}}; },
               {sn::tensor({1.f, 3.f})}, {}, {.length = 5});
  EXPECT_EQ(carries[0].to_vector<float>(), (Values{32, 96}));
  EXPECT_TRUE(ys.empty());
}

TEST(Scan, WithoutCarries) {
  sn::Tensor xs = wavy({4, 3}, 0);
  auto [carries, ys] = sn::scan(
      [](Tensors, Tensors x) {
        return ScanStep{{}, {sn::sum(x[0]), x[0] * 2.0}};
      },
      {}, {xs});
  expectNear(ys[0], sn::sum(xs, {1}), 1e-6);
  expectNear(ys[1], xs * 2.0, 0);
}

/// What a body may hand on without computing it.
TEST(Scan, MovesValues) {
  sn::Tensor a = sn::tensor({1.f, 2.f, 3.f}), b = sn::tensor({7.f, 8.f, 9.f});
  sn::Tensor outer = sn::exp(sn::tensor({0.f, 0.f, 0.f}));
  sn::Tensor xs = wavy({3, 3}, 1);
  auto [carries, ys] = sn::scan(
      [&](Tensors c, Tensors x) {
        sn::Tensor sum = c[2] + outer;
        return ScanStep{{c[1], c[0], sum, x[0], outer},
                        {c[0], outer, x[0], sum, sum}};
      },
      {a, b, a, a, a}, {xs});
  EXPECT_EQ(carries[0].to_vector<float>(), (Values{7, 8, 9}));
  EXPECT_EQ(carries[1].to_vector<float>(), (Values{1, 2, 3}));
  EXPECT_EQ(carries[2].to_vector<float>(), (Values{4, 5, 6}));
  expectNear(carries[3], sn::slice(xs, {2, 0}, {3, 3}, {1, 1}), 0);
  EXPECT_EQ(carries[4].to_vector<float>(), (Values{1, 1, 1}));
  EXPECT_EQ(ys[0].to_vector<float>(), (Values{1, 2, 3, 7, 8, 9, 1, 2, 3}));
  EXPECT_EQ(ys[1].to_vector<float>(), Values(9, 1));
  expectNear(ys[2], xs, 0);
  EXPECT_EQ(ys[3].to_vector<float>(), (Values{2, 3, 4, 3, 4, 5, 4, 5, 6}));
  EXPECT_EQ(ys[4].to_vector<float>(), ys[3].to_vector<float>());
}

namespace {
/// A small cell, and what it is fed; `rows` makes slices aligned or not.
struct Cell {
  sn::Tensor w, u, b, h0, xs;
  Cell(int64_t steps, int64_t rows, int64_t size,
       sn::DType dtype = sn::DType::f32)
      : w(wavy({3, size}, 0.1, dtype)), u(wavy({size, size}, 0.2, dtype)),
        b(wavy({size}, 0.3, dtype)), h0(wavy({rows, size}, 0.4, dtype)),
        xs(wavy({steps, rows, 3}, 0.5, dtype)) {
    for (sn::Tensor *each : {&w, &u, &b, &h0, &xs})
      each->require_grad();
  }
  sn::Tensor step(const sn::Tensor &h, const sn::Tensor &x) const {
    sn::Tensor gate = sn::sigmoid(sn::matmul(h, u) + b);
    sn::Tensor wide = sn::tanh(sn::matmul(x, w) + h * gate);
    return (1.0 - gate) * wide + gate * h;
  }
  sn::ScanResult scan(bool reverse = false) const {
    return sn::scan(
        [this](Tensors c, Tensors x) {
          sn::Tensor next = step(c[0], x[0]);
          return ScanStep{{next}, {next * next}};
        },
        {h0}, {xs}, {.reverse = reverse});
  }
  /// The same, step by step.
  sn::ScanResult unrolled(bool reverse = false) const {
    sn::Tensor h = h0;
    int64_t steps = xs.dim(0).value, rows = xs.dim(1).value;
    std::vector<sn::Tensor> ys(steps);
    for (int64_t i = 0; i < steps; ++i) {
      int64_t t = reverse ? steps - 1 - i : i;
      sn::Tensor x = sn::slice(xs, {t, 0, 0}, {t + 1, rows, 3}, {1, 1, 1})
                         .reshape({rows, 3});
      h = step(h, x);
      ys[t] = (h * h).reshape({1, rows, h.dim(1)});
    }
    return {{h}, {sn::concat(ys, 0)}};
  }
  static sn::Tensor loss(const sn::ScanResult &result) {
    return sn::sum(result.carries[0] * 1.5) +
           sn::sum(sn::exp(result.ys[0]) * 0.5);
  }
  std::vector<sn::Tensor> leaves() const { return {w, u, b, h0, xs}; }
};
} // namespace

TEST(Scan, EqualsTheUnrolledLoop) {
  for (int64_t rows : {2, 16})
    for (bool reverse : {false, true}) {
      Cell cell(5, rows, rows == 2 ? 5 : 16);
      sn::ScanResult looped = cell.scan(reverse), flat = cell.unrolled(reverse);
      sn::Gradients got = Cell::loss(looped).backward();
      sn::Gradients expected = Cell::loss(flat).backward();
      expectNear(looped.carries[0], flat.carries[0], 1e-5);
      expectNear(looped.ys[0], flat.ys[0], 1e-5);
      for (const sn::Tensor &leaf : cell.leaves())
        expectNear(got(leaf), expected(leaf), 2e-4);
    }
}

TEST(Scan, GradientsAreThoseOfDifferences) {
  Cell cell(4, 2, 3, sn::DType::f64);
  sn::Gradients gradients = Cell::loss(cell.scan()).backward();
  constexpr double h = 1e-5;
  for (sn::Tensor Cell::*leaf :
       {&Cell::w, &Cell::u, &Cell::b, &Cell::h0, &Cell::xs}) {
    std::vector<double> values = read(cell.*leaf);
    std::vector<double> exact = read(gradients(cell.*leaf));
    for (size_t i = 0; i < values.size(); i += 3) {
      auto lossAt = [&](double value) {
        std::vector<double> moved = values;
        moved[i] = value;
        Cell other = cell;
        other.*leaf = sn::tensor(moved, (cell.*leaf).shape());
        return Cell::loss(other.scan()).item<double>();
      };
      double slope = (lossAt(values[i] + h) - lossAt(values[i] - h)) / (2 * h);
      EXPECT_NEAR(exact[i], slope, 1e-7 * (1 + std::abs(slope)));
    }
  }
}

TEST(Scan, GradientsAfterTheValueWasRead) {
  Cell cell(5, 2, 5);
  sn::Tensor loss = Cell::loss(cell.scan());
  float value = loss.item<float>();
  sn::Gradients late = loss.backward();
  sn::Gradients expected = Cell::loss(cell.unrolled()).backward();
  EXPECT_NEAR(value, Cell::loss(cell.unrolled()).item<float>(), 1e-4);
  for (const sn::Tensor &leaf : cell.leaves())
    expectNear(late(leaf), expected(leaf), 2e-4);
}

TEST(Scan, SecondDerivatives) {
  Cell cell(3, 2, 3, sn::DType::f64);
  auto of = [&](const sn::ScanResult &result) {
    sn::Gradients first = Cell::loss(result).backward();
    sn::Tensor squares = sn::sum(first(cell.u) * first(cell.u)) +
                         sn::sum(sn::exp(first(cell.xs)));
    return squares.backward();
  };
  sn::Gradients got = of(cell.scan()), expected = of(cell.unrolled());
  for (const sn::Tensor &leaf : cell.leaves())
    expectNear(got(leaf), expected(leaf), 1e-9);
}

TEST(Scan, GradientsOfNoSteps) {
  sn::Tensor h = sn::tensor({2.f, 3.f}).require_grad();
  sn::Tensor w = sn::tensor({5.f, 6.f}).require_grad();
  sn::Tensor last =
      sn::scan(
          [&](Tensors c, Tensors x) { return ScanStep{{c[0] * w + x[0]}, {}}; },
          {h}, {sn::zeros({0, 2})})
          .carries[0];
  sn::Gradients gradients = sn::sum(last * last).backward();
  EXPECT_EQ(gradients(h).to_vector<float>(), (Values{4, 6}));
  EXPECT_EQ(gradients(w).to_vector<float>(), (Values{0, 0}));
}

TEST(Scan, IntegersPassThrough) {
  sn::Tensor x = sn::tensor({1.f, 2.f}).require_grad();
  auto [carries, ys] = sn::scan(
      [&](Tensors c, Tensors) {
        return ScanStep{{c[0] + 1, c[1] * x}, {c[1] * c[0].to(sn::DType::f32)}};
      },
      {sn::tensor({0, 1}), x}, {}, {.length = 3});
  EXPECT_EQ(carries[0].to(sn::DType::f32).to_vector<float>(), (Values{3, 4}));
  sn::Gradients gradients = sn::sum(ys[0]).backward();
  // 0 x + 1 x^2 + 2 x^3 and 1 x + 2 x^2 + 3 x^3.
  EXPECT_EQ(gradients(x).to_vector<float>(),
            (Values{2 * 1 + 6 * 1, 1 + 4 * 2 + 9 * 4}));
}

template <typename F> static std::string messageOf(F function) {
  try {
    function();
  } catch (const sn::Error &error) {
    EXPECT_NE(std::string(error.what()).find("ScanTest.cpp"), std::string::npos)
        << error.what();
    return error.what();
  }
  return "nothing was thrown";
}

static void expectSays(const std::string &message, const char *part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Scan, RefusesWhatItCannotDo) {
  sn::Tensor init = sn::tensor({1.f, 2.f}), xs = wavy({3, 2}, 0);
  auto with = [&](sn::ScanBody body) {
    return messageOf([&] { sn::scan(body, {init}, {xs}); });
  };
  expectSays(with([](Tensors c, Tensors) {
               return ScanStep{{c[0].reshape({1, 2})}, {}};
             }),
             "carry 0 is f32[2] and becomes f32[1,2]");
  expectSays(with([](Tensors c, Tensors) {
               return ScanStep{{c[0].to(sn::DType::f64)}, {}};
             }),
             "carry 0 is f32[2] and becomes f64[2]");
  expectSays(with([](Tensors, Tensors) { return ScanStep{}; }),
             "the body gives 0 carries, there are 1");
  expectSays(
      with([](Tensors, Tensors) { return ScanStep{{sn::Tensor()}, {}}; }),
      "empty tensor");
  expectSays(with([](Tensors c, Tensors) {
               c[0].to_vector<float>();
               return ScanStep{{c[0]}, {}};
             }),
             "the body reads a value");
  expectSays(with([](Tensors c, Tensors) {
               return ScanStep{{c[0] + sn::uniform({2})}, {}};
             }),
             "random numbers");
  auto same = [](Tensors c, Tensors) { return ScanStep{{c[0]}, {}}; };
  expectSays(messageOf([&] { sn::scan(same, {init}); }), "length");
  expectSays(messageOf([&] { sn::scan(same, {init}, {xs}, {.length = 4}); }),
             "xs[0] has 3 slices, there are 4 steps");
  expectSays(messageOf([&] {
               sn::scan(same, {init}, {sn::tensor({1.f}).reshape({})});
             }),
             "no axis");
}

/// Each row of xs is added so often as there are steps in the inner loop, whose
/// own results are stacked by the outer one.
TEST(Scan, HoldsLoops) {
  sn::Tensor xs = wavy({3, 4, 5}, 0.2);
  auto rows = [](const sn::Tensor &h, const sn::Tensor &x) {
    return sn::scan(
        [&](Tensors c, Tensors row) {
          sn::Tensor next = c[0] * 0.5 + sn::sin(row[0]) + h * 0.25;
          return ScanStep{{next}, {next * 2.0}};
        },
        {h}, {x});
  };
  auto [carries, ys] = sn::scan(
      [&](Tensors c, Tensors x) {
        auto inner = rows(c[0], x[0]);
        return ScanStep{{sn::tanh(inner.carries[0])},
                        {inner.ys[0], inner.carries[0]}};
      },
      {sn::zeros({5})}, {xs});
  sn::Tensor h = sn::zeros({5});
  std::vector<sn::Tensor> stacked, lasts;
  for (int64_t i = 0; i < 3; ++i) {
    sn::Tensor c = h;
    std::vector<sn::Tensor> inner;
    for (int64_t k = 0; k < 4; ++k) {
      sn::Tensor row = sn::select(sn::select(xs, 0, i), 0, k);
      c = c * 0.5 + sn::sin(row) + h * 0.25;
      inner.push_back(c * 2.0);
    }
    stacked.push_back(sn::stack(inner, 0));
    lasts.push_back(c);
    h = sn::tanh(c);
  }
  expectNear(carries[0], h, 1e-6);
  expectNear(ys[0], sn::stack(stacked, 0), 1e-6);
  expectNear(ys[1], sn::stack(lasts, 0), 1e-6);
}

TEST(Scan, OfLoopsHasNoGradient) {
  sn::Tensor xs = wavy({3, 2}, 0.2);
  xs.require_grad();
  auto found = sn::scan(
      [&](Tensors c, Tensors x) {
        return ScanStep{
            sn::scan(
                [&](Tensors d, Tensors) { return ScanStep{{d[0] * x[0]}, {}}; },
                {c[0]}, {}, {.length = 2})
                .carries,
            {}};
      },
      {sn::ones({2})}, {xs});
  expectError(sn::ErrorKind::unsupported,
              "scan: a loop in a loop has no gradient",
              [&] { sn::sum(found.carries[0]).backward(); });
}

TEST(Scan, KeepsItsBodyToItself) {
  sn::Tensor leaked;
  sn::Tensor last = sn::scan(
                        [&](Tensors c, Tensors) {
                          leaked = sn::exp(c[0]);
                          return ScanStep{{leaked}, {}};
                        },
                        {sn::tensor({0.f})}, {}, {.length = 1})
                        .carries[0];
  std::string message = messageOf([&] { leaked.to_vector<float>(); });
  expectSays(message, "scan");
  EXPECT_EQ(last.to_vector<float>(), (Values{1}));
}

TEST(Scan, OneProgramForEveryLength) {
  auto run = [](int64_t steps) {
    std::vector<float> values(steps * 4);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(std::sin(double(i)));
    sn::Tensor w = sn::tensor({0.5f, 0.25f, 1.f, 2.f}).require_grad();
    sn::Tensor xs = sn::tensor(values, {steps, 4});
    xs.dynamic(0);
    sn::Tensor last = sn::scan(
                          [&](Tensors c, Tensors x) {
                            return ScanStep{{sn::tanh(c[0] * w + x[0])}, {}};
                          },
                          {sn::zeros({4})}, {xs})
                          .carries[0];
    return sn::sum(last).backward()(w).to_vector<float>();
  };
  Values three = run(3);
  uint64_t made = programsMade();
  Values eleven = run(11);
  EXPECT_EQ(programsMade(), made);
  EXPECT_NE(three, eleven);
  EXPECT_EQ(run(3), three);
}
