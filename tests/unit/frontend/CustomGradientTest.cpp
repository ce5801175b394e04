/// Functions whose gradient the user gives.
#include "tests/unit/frontend/Counting.h"

#include <sinter/generated/functions/Activations.h>

#include <cmath>
#include <thread>

namespace sn = sinter;
using Values = std::vector<float>;
using Inputs = std::span<const sn::Tensor>;

/// log(1 + e^x), with the gradient that does not overflow.
static sn::CustomFunction softplus() {
  return sn::custom_gradient(
      [](Inputs inputs) { return sn::log(sn::exp(inputs[0]) + 1.0); },
      [](const sn::CustomContext &c) {
        return std::vector{c.gradient / (sn::exp(-c.inputs[0]) + 1.0)};
      });
}

TEST(CustomGradient, IsTheUsers) {
  sn::Tensor x = sn::tensor({100.f, 0.f}).require_grad();
  uint64_t before = sn::stats().programs_run;
  sn::Tensor y = softplus()({x});
  sn::Tensor gradient = sn::sum(y * 4.0).backward()(x);
  EXPECT_EQ(sn::stats().programs_run, before) << "nothing runs";
  EXPECT_EQ(gradient.to_vector<float>(), (Values{4, 2})) << "not NaN";
  EXPECT_FLOAT_EQ(y.to_vector<float>()[1], std::log(2.f));
}

TEST(CustomGradient, StraightThrough) {
  auto quantize = sn::custom_gradient(
      [](Inputs inputs) {
        return inputs[0].to(sn::DType::i32).to(sn::DType::f32);
      },
      [](const sn::CustomContext &c) { return std::vector{c.gradient}; });
  sn::Tensor x = sn::tensor({1.75f, -2.5f}).require_grad();
  sn::Tensor y = quantize({x});
  EXPECT_EQ(sn::sum(y * y).backward()(x).to_vector<float>(), (Values{2, -4}));
  EXPECT_EQ(y.to_vector<float>(), (Values{1, -2}));
}

TEST(CustomGradient, OfSeveralInputs) {
  auto function = sn::custom_gradient(
      [](Inputs in) { return in[0] * in[1] + in[2].to(sn::DType::f32); },
      [](const sn::CustomContext &c) {
        return std::vector{c.gradient * 10, c.result, sn::Tensor()};
      });
  sn::Tensor a = sn::tensor({2.f}).require_grad();
  sn::Tensor b = sn::tensor({3.f}).require_grad();
  sn::Tensor n = sn::tensor({4});
  sn::Tensor y = function({a, b, n});
  sn::Gradients gradients = y.backward();
  EXPECT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients(a).item<float>(), 10.f);
  EXPECT_EQ(gradients(b).item<float>(), 10.f);
  // Only one of them wants a gradient, the first and the last.
  sn::Tensor plain = sn::tensor({3.f});
  EXPECT_EQ(function({a, plain, n}).backward()(a).item<float>(), 10.f);
  EXPECT_EQ(function({plain, a, n}).backward()(a).item<float>(), 10.f);
  // The same input twice.
  EXPECT_EQ(function({a, a, n}).backward()(a).item<float>(), 18.f);
}

TEST(CustomGradient, MayGiveItsInput) {
  auto reversed = sn::custom_gradient(
      [](Inputs inputs) { return inputs[0]; },
      [](const sn::CustomContext &c) { return std::vector{-c.gradient}; });
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor y = reversed({x});
  EXPECT_EQ(y.item<float>(), 2.f);
  EXPECT_EQ((y * 3.0).backward()(x).item<float>(), -3.f);
  sn::Tensor inner = x * x;
  EXPECT_EQ(reversed({inner}).backward()(x).item<float>(), -4.f);
}

TEST(CustomGradient, HasDerivatives) {
  auto cube = sn::custom_gradient(
      [](Inputs in) { return in[0] * in[0] * in[0]; },
      [](const sn::CustomContext &c) {
        return std::vector{c.gradient * c.inputs[0] * c.inputs[0] * 3.0};
      });
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor first = cube({x}).backward()(x);
  sn::Tensor second = sn::sum(first).backward()(x);
  sn::Tensor third = sn::sum(second).backward()(x);
  EXPECT_EQ(first.item<float>(), 12.f);
  EXPECT_EQ(second.item<float>(), 12.f);
  EXPECT_EQ(third.item<float>(), 6.f);
  // Through the result, which is the function again.
  auto exponential =
      sn::custom_gradient([](Inputs in) { return sn::exp(in[0]); },
                          [](const sn::CustomContext &c) {
                            return std::vector{c.gradient * c.result};
                          });
  sn::Tensor zero = sn::tensor({0.f}).require_grad();
  sn::Tensor slope = exponential({zero}).backward()(zero);
  EXPECT_EQ(sn::sum(slope).backward()(zero).item<float>(), 1.f);
}

TEST(CustomGradient, IsPartOfOneProgramAndDonates) {
  sn::Param w(sn::tensor({1.f, 2.f}), "w");
  sn::optim::Sgd sgd({.lr = 0.5});
  auto function = softplus();
  auto step = [&] {
    sn::Tensor loss = sn::sum(function({w}));
    sgd.step(w, loss.backward());
    return loss.item<float>();
  };
  step();
  step();
  uint64_t run = sn::stats().programs_run, made = programsMade();
  uint64_t refused = sn::stats().donations_refused;
  EXPECT_LT(step(), step() + 10);
  EXPECT_EQ(sn::stats().programs_run, run + 2);
  EXPECT_EQ(programsMade(), made);
  EXPECT_EQ(sn::stats().donations_refused, refused);
}

TEST(CustomGradient, WorksAfterEvaluationAndWithoutGradients) {
  sn::Tensor x = sn::tensor({0.f}).require_grad();
  sn::Tensor y = softplus()({x});
  EXPECT_FLOAT_EQ(y.item<float>(), std::log(2.f));
  EXPECT_EQ(y.backward()(x).item<float>(), 0.5f);
  sn::no_grad guard;
  EXPECT_FALSE(softplus()({x}).requires_grad());
}

TEST(CustomGradient, ErrorsNameWhatIsWrong) {
  constexpr auto invalid = sn::ErrorKind::invalid_argument;
  sn::Tensor x = sn::tensor({1.f, 2.f}).require_grad();
  auto same = [](Inputs in) { return in[0] * 1.5; };
  auto none = sn::custom_gradient(same, [](const sn::CustomContext &) {
    return std::vector<sn::Tensor>();
  });
  expectError(invalid, "custom_gradient: 0 gradients for 1 inputs",
              [&] { sn::sum(none({x})).backward(); });
  auto wrong = sn::custom_gradient(same, [](const sn::CustomContext &c) {
    return std::vector{sn::sum(c.gradient)};
  });
  expectError(invalid, "the gradient of input 0 has another type",
              [&] { sn::sum(wrong({x})).backward(); });
  auto empty = sn::custom_gradient(
      [](Inputs) { return sn::Tensor(); },
      [](const sn::CustomContext &c) { return std::vector{c.gradient}; });
  expectError(invalid, "the function gave an empty tensor",
              [&] { empty({x}); });
  EXPECT_THROW(softplus()(std::span<const sn::Arg>()), sn::Error);
  auto throws = sn::custom_gradient(
      same, [](const sn::CustomContext &) -> std::vector<sn::Tensor> {
        throw std::out_of_range("mine");
      });
  EXPECT_THROW(sn::sum(throws({x})).backward(), std::out_of_range);
}

TEST(CustomGradient, FromManyThreads) {
  auto function = softplus();
  sn::Tensor x = sn::tensor({0.f}).require_grad();
  sn::Tensor shared = sn::sum(function({x}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        EXPECT_EQ(shared.backward()(x).item<float>(), 0.5f);
        EXPECT_EQ(function({x}).backward()(x).item<float>(), 0.5f);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}
