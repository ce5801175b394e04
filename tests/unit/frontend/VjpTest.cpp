/// vjp: values and vector-Jacobian products of functions.
#include "tests/unit/frontend/Counting.h"

#include <sinter/Param.h>

#include <cmath>

namespace sn = sinter;
using Values = std::vector<float>;
using Inputs = std::span<const sn::Tensor>;

static const auto invalid = sn::ErrorKind::invalid_argument;

TEST(Vjp, EqualsBackward) {
  sn::Tensor a = sn::tensor({1.f, 2.f}), b = sn::tensor({3.f, 5.f});
  sn::Tensor cotangent = sn::tensor({10.f, 0.5f});
  auto function = [](Inputs in) { return sn::sin(in[0]) * in[1] + in[0]; };
  uint64_t before = sn::stats().programs_run;
  sn::Vjp f = sn::vjp(function, {a, b});
  std::vector<sn::Tensor> gradients = f({cotangent});
  EXPECT_EQ(sn::stats().programs_run, before) << "nothing runs";
  sn::Tensor x = a.detach().require_grad(), y = b.detach().require_grad();
  sn::Gradients expected = function(std::vector{x, y}).backward(cotangent);
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients[0].to_vector<float>(), expected(x).to_vector<float>());
  EXPECT_EQ(gradients[1].to_vector<float>(), expected(y).to_vector<float>());
  EXPECT_EQ(f.outputs[0].to_vector<float>(),
            function(std::vector{a, b}).to_vector<float>());
}

TEST(Vjp, OfSeveralOutputs) {
  sn::Tensor x = sn::tensor({2.f, 3.f});
  sn::Vjp f = sn::vjp(
      [](Inputs in) {
        return std::vector{in[0] * in[0], sn::sum(in[0]), sn::argmax(in[0], 0)};
      },
      {x});
  ASSERT_EQ(f.outputs.size(), 3u);
  sn::Tensor ones = sn::tensor({1.f, 1.f}), seven = sn::full({}, 7.0);
  EXPECT_EQ(f({ones, seven, {}})[0].to_vector<float>(), (Values{11, 13}));
  // An empty cotangent is zeros, and each call stands for itself.
  EXPECT_EQ(f({ones, {}, {}})[0].to_vector<float>(), (Values{4, 6}));
  EXPECT_EQ(f({{}, seven, {}})[0].to_vector<float>(), (Values{7, 7}));
  EXPECT_EQ(f({{}, {}, {}})[0].to_vector<float>(), (Values{0, 0}));
}

TEST(Vjp, GradientsFlowThroughArgumentsOnly) {
  sn::Param w(sn::tensor({3.f}), "w");
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor unused = sn::tensor({1.f, 1.f});
  // `x` is captured, too: there it counts as constant.
  sn::Vjp f = sn::vjp([&](Inputs in) { return in[0] * x * w; }, {x, unused});
  sn::Tensor one = sn::tensor({1.f});
  std::vector<sn::Tensor> gradients = f({one});
  EXPECT_EQ(gradients[0].item<float>(), 6);
  EXPECT_EQ(gradients[1].to_vector<float>(), (Values{0, 0}));
  // What it captures keeps its part in backward.
  sn::Gradients all = f.outputs[0].backward();
  EXPECT_EQ(all(w).item<float>(), 4);
  EXPECT_EQ(all(x).item<float>(), 12);
}

TEST(Vjp, SecondOrder) {
  sn::Tensor x = sn::tensor({2.f, 0.5f}).require_grad();
  auto cube = [](Inputs in) { return in[0] * in[0] * in[0]; };
  sn::Tensor ones = sn::tensor({1.f, 1.f});
  // backward through a pullback,
  sn::Tensor first = sn::vjp(cube, {x})({ones})[0];
  EXPECT_EQ(first.to_vector<float>(), (Values{12, 0.75f}));
  EXPECT_EQ(sn::sum(first).backward()(x).to_vector<float>(), (Values{12, 3}));
  // and vjp of vjp, of what requires no gradient.
  sn::Vjp second =
      sn::vjp([&](Inputs in) { return sn::vjp(cube, {in[0]})({ones})[0]; },
              {x.detach()});
  EXPECT_EQ(second.outputs[0].to_vector<float>(), (Values{12, 0.75f}));
  EXPECT_EQ(second({ones})[0].to_vector<float>(), (Values{12, 3}));
}

TEST(Vjp, UnderNoGradAndInJit) {
  sn::Tensor x = sn::tensor({2.f}), one = sn::tensor({1.f});
  {
    sn::no_grad guard;
    sn::Vjp f = sn::vjp([](Inputs in) { return in[0] * in[0]; }, {x});
    EXPECT_EQ(f({one})[0].item<float>(), 4);
  }
  auto slope = sn::jit([](const sn::Tensor &at) {
    return sn::vjp([](Inputs in) { return sn::exp(in[0]); },
                   {at})({sn::full({1}, 1.0)})[0];
  });
  EXPECT_FLOAT_EQ(slope(x).item<float>(), std::exp(2.f));
  EXPECT_FLOAT_EQ(slope(one).item<float>(), std::exp(1.f));
}

TEST(Vjp, Errors) {
  sn::Tensor x = sn::tensor({2.f, 3.f}), n = sn::tensor({1, 2});
  auto twice = [](Inputs in) { return in[0] + in[0]; };
  sn::Vjp f = sn::vjp(twice, {x});
  expectError(invalid,
              "vjp: cotangent 0 has another type than the output: f32[3] x "
              "f32[2]",
              [&] { f({sn::tensor({1.f, 2.f, 3.f})}); });
  expectError(invalid,
              "vjp: cotangent 0 has another type than the output: f64[2] x "
              "f32[2]",
              [&] { f({sn::tensor({1.0, 2.0})}); });
  expectError(invalid, "vjp: 2 cotangents for 1 outputs", [&] { f({x, x}); });
  expectError(invalid, "vjp: primal 1 is not float: i32[2]",
              [&] { sn::vjp(twice, {x, n}); });
  expectError(invalid, "vjp: primal 0 is empty",
              [&] { sn::vjp(twice, {sn::Tensor()}); });
  expectError(invalid, "vjp: the function gave an empty tensor as output 0",
              [&] { sn::vjp([](Inputs) { return sn::Tensor(); }, {x}); });
  sn::Vjp counts = sn::vjp([](Inputs in) { return sn::argmax(in[0], 0); }, {x});
  expectError(invalid, "vjp: no gradient flows to output 0, which is not float",
              [&] { counts({sn::argmax(x, 0)}); });
}
