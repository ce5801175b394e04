/// Gradient hooks, and entries taken out of Gradients.
#include "tests/unit/frontend/Counting.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace sn = sinter;
using Values = std::vector<float>;

TEST(Hooks, SeeAndReplaceTheGradient) {
  sn::Tensor x = sn::tensor({1.f, -2.f}).require_grad();
  sn::Tensor square = x * x;
  sn::Tensor seen;
  square.register_hook([&](const sn::Tensor &gradient) { seen = gradient; });
  square.register_hook(
      [](const sn::Tensor &gradient) { return gradient * 10; });
  uint64_t before = sn::stats().programs_run;
  sn::Tensor gradient = sn::sum(square * 3.0).backward()(x);
  EXPECT_EQ(sn::stats().programs_run, before) << "hooks record";
  EXPECT_EQ(gradient.to_vector<float>(), (Values{60, -120}));
  EXPECT_EQ(seen.to_vector<float>(), (Values{3, 3}));
}

TEST(Hooks, OfALeafSeeTheWholeGradientOnce) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor y = x * x + x; // recorded before the hook
  int calls = 0;
  sn::HookHandle handle = x.register_hook([&](const sn::Tensor &gradient) {
    ++calls;
    return sn::minimum(gradient, 3.f);
  });
  EXPECT_EQ(y.backward()(x).item<float>(), 3.f);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sn::grad(y, {x})[0].item<float>(), 3.f);
  handle.remove();
  EXPECT_EQ(y.backward()(x).item<float>(), 5.f);
  EXPECT_EQ(calls, 2);
}

TEST(Hooks, AreNotCalledWhereNoGradientArrives) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor side = x * 3.0;
  side.register_hook([](const sn::Tensor &) { ADD_FAILURE(); });
  EXPECT_EQ((x * x).backward()(x).item<float>(), 4.f);
}

TEST(Hooks, HaveDerivatives) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor y = x * x * x; // gradient 3 x^2; hooked: 9 x^4
  x.register_hook([](const sn::Tensor &gradient) {
    return gradient.requires_grad() ? gradient * gradient : gradient;
  });
  sn::Tensor first = y.backward()(x);
  EXPECT_EQ(first.item<float>(), 144.f);
  // 36 x^3, hooked again where it depends on x: (36 x^3)^2
  EXPECT_EQ(sn::sum(first).backward()(x).item<float>(), 288.f * 288.f);
}

TEST(Hooks, FuseWithTheStep) {
  sn::Tensor x = sn::tensor({1.f, 2.f}).require_grad();
  sn::Tensor y = sn::sum(x * x);
  x.register_hook([](const sn::Tensor &gradient) { return gradient * 0.25; });
  sn::Gradients gradients = y.backward();
  uint64_t before = sn::stats().programs_run;
  sn::eval({y, gradients(x)});
  EXPECT_EQ(sn::stats().programs_run, before + 1);
}

TEST(Hooks, MayReadWhatIsThereAndRunBackward) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor scale = sn::tensor({3.f}).require_grad();
  x.register_hook([&](const sn::Tensor &gradient) {
    EXPECT_EQ(scale.item<float>(), 3.f);
    EXPECT_FALSE(gradient.explain().empty());
    return gradient * (scale * scale).backward()(scale);
  });
  EXPECT_EQ((x * x).backward()(x).item<float>(), 24.f);
}

TEST(Hooks, ThatReadAPendingValueAreAnError) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor y = x * x;
  sn::HookHandle handle = x.register_hook(
      [](const sn::Tensor &gradient) { gradient.item<float>(); });
  expectError(sn::ErrorKind::invalid_argument, "it can only record",
              [&] { y.backward(); });
  handle.remove();
  EXPECT_EQ(y.backward()(x).item<float>(), 4.f);
}

TEST(Hooks, MayThrowWhatTheyLike) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::HookHandle handle = x.register_hook([](const sn::Tensor &) -> sn::Tensor {
    throw std::out_of_range("mine");
  });
  sn::Tensor y = x * x;
  EXPECT_THROW(y.backward(), std::out_of_range);
  EXPECT_THROW(sn::grad(y, {x}), std::out_of_range);
  handle.remove();
  EXPECT_EQ(y.backward()(x).item<float>(), 4.f);
}

TEST(Hooks, RefuseWhatTheyCannotDo) {
  constexpr auto invalid = sn::ErrorKind::invalid_argument;
  auto nothing = [](const sn::Tensor &) {};
  expectError(invalid, "no gradient flows to the tensor: f32[2]",
              [&] { sn::zeros({2}).register_hook(nothing); });
  expectError(invalid, "register_hook: the tensor is empty",
              [&] { sn::Tensor().register_hook(nothing); });
  sn::Tensor x = sn::tensor({1.f, 2.f}).require_grad();
  x.register_hook([](const sn::Tensor &gradient) { return sn::sum(gradient); });
  expectError(invalid,
              "register_hook: the hook gave another type than the "
              "gradient's: f32[] x f32[2]",
              [&] { sn::sum(x).backward(); });
}

TEST(Hooks, LiveAsLongAsTheValue) {
  auto alive = std::make_shared<int>(1);
  std::weak_ptr<int> watch = alive;
  {
    sn::Tensor x = sn::tensor({2.f}).require_grad();
    sn::Tensor y = x * x;
    y.register_hook([alive = std::move(alive)](const sn::Tensor &) {});
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Hooks, FromManyThreads) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor y = x * x;
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        sn::HookHandle handle =
            x.register_hook([&](const sn::Tensor &) { ++calls; });
        EXPECT_EQ(y.backward()(x).item<float>(), 4.f);
        handle.remove();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GE(calls, 8 * 20);
}

TEST(Gradients, AreTakenOut) {
  std::vector<sn::Tensor> leaves;
  sn::Tensor y = sn::full({}, 0.f);
  for (int i = 0; i < 3; ++i) {
    leaves.push_back(sn::tensor({1.f}).require_grad());
    y = y + sn::sum(leaves.back() * static_cast<float>(i + 1));
  }
  sn::Param w(sn::tensor({1.f}), "w");
  sn::Gradients gradients = (y + sn::sum(w * 7.0)).backward();
  EXPECT_EQ(gradients.size(), 4u);
  EXPECT_EQ(gradients.remove(leaves[0]).item<float>(), 1.f);
  EXPECT_FALSE(gradients.remove(leaves[0]).defined());
  EXPECT_FALSE(gradients.contains(leaves[0]));
  EXPECT_EQ(gradients.remove(w).item<float>(), 7.f);
  EXPECT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients(leaves[1]).item<float>(), 2.f);
  EXPECT_EQ(gradients(leaves[2]).item<float>(), 3.f);
  EXPECT_FALSE(gradients.remove(sn::Tensor()).defined());
}
