/// backward, grad, detach, no_grad and what Gradients is.
#include "tests/unit/frontend/Counting.h"

#include <sinter/Param.h>

#include <thread>

namespace sn = sinter;
using Values = std::vector<float>;

TEST(Gradients, OfLeavesAndParameters) {
  sn::Param w(sn::tensor({1.f, 2.f}), "w");
  sn::Tensor x = sn::tensor({3.f, 4.f}).require_grad();
  sn::Tensor unused = sn::tensor({0.f}).require_grad();
  sn::Gradients grads = sn::sum(w * x).backward();
  EXPECT_EQ(grads.size(), 2u);
  EXPECT_EQ(grads(w).to_vector<float>(), (Values{3, 4}));
  EXPECT_EQ(grads[x].to_vector<float>(), (Values{1, 2}));
  EXPECT_FALSE(grads.contains(unused));
  expectError(sn::ErrorKind::invalid_argument, "not used",
              [&] { grads(unused); });
}

TEST(Gradients, OfACopyAreSeparate) {
  sn::Param w(sn::tensor({1.f, 2.f}), "w");
  sn::Param copy = w;
  sn::Param tied = w;
  tied.tie(w);
  sn::Gradients grads = sn::sum(w * 2.0 + copy * 3.0 + tied).backward();
  EXPECT_EQ(grads.size(), 2u);
  EXPECT_EQ(grads(w).to_vector<float>(), (Values{3, 3}));
  EXPECT_EQ(grads(tied).to_vector<float>(), (Values{3, 3}));
  EXPECT_EQ(grads(copy).to_vector<float>(), (Values{3, 3}));
}

TEST(Gradients, WithACotangentAndOfNonLeaves) {
  sn::Tensor x = sn::tensor({1.f, 2.f}).require_grad();
  sn::Tensor square = x * x;
  sn::Gradients grads = square.backward(sn::tensor({10.f, 100.f}));
  EXPECT_EQ(grads(x).to_vector<float>(), (Values{20, 400}));
  sn::Tensor y = sn::sum(square * 3.0);
  std::vector<sn::Tensor> results = sn::grad(y, {square, x, sn::zeros({2})});
  EXPECT_EQ(results[0].to_vector<float>(), (Values{3, 3}));
  EXPECT_EQ(results[1].to_vector<float>(), (Values{6, 12}));
  EXPECT_EQ(results[2].to_vector<float>(), (Values{0, 0}));
}

TEST(Gradients, OfGradients) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor y = sn::sum(x * x * x);
  sn::Tensor first = y.backward()(x);
  EXPECT_EQ(first.item<float>(), 12.f);
  EXPECT_EQ(sn::sum(y.backward()(x)).backward()(x).item<float>(), 12.f);
}

TEST(Gradients, StopAtDetachAndNoGrad) {
  sn::Tensor x = sn::tensor({2.f}).require_grad();
  sn::Tensor y = x * x;
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(y.detach().requires_grad());
  EXPECT_EQ(sn::sum(y.detach() * x).backward()(x).item<float>(), 4.f);
  EXPECT_EQ(y.item<float>(), 4.f);
  EXPECT_FALSE(y.detach().requires_grad());
  sn::no_grad guard;
  EXPECT_FALSE((x * x).requires_grad());
}

TEST(Gradients, MoveAndAreReadByManyThreads) {
  sn::Tensor x = sn::tensor({1.f, 2.f}).require_grad();
  sn::Gradients grads = sn::sum(x * x).backward();
  sn::Gradients moved = std::move(grads);
  moved.accumulate(sn::sum(x).backward());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      EXPECT_EQ((moved(x) * 2.0).to_vector<float>(), (Values{6, 10}));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Gradients, AreOrdinaryTensors) {
  sn::Tensor x = sn::tensor({3.f}).require_grad();
  sn::Gradients grads = sn::sum(x * x).backward();
  uint64_t key = sn::Gradients::keyOf(x);
  grads.set(key, grads(x) * 0.5);
  EXPECT_EQ(grads(x).item<float>(), 3.f);
  for (const auto &entry : grads)
    EXPECT_EQ(entry.key, key);
}
