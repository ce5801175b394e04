/// Copies of a model are separate; only `tie` makes parameters one.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

using namespace training;
using Values = std::vector<float>;

TEST(SharedParameters, AModelAndItsCopyHaveSeparateGradients) {
  Mlp model(50);
  Mlp copy = model;
  sn::Tensor x = images(4), y = labels(4);
  sn::Tensor loss = sn::cross_entropy(model.forward(x), y) +
                    sn::cross_entropy(copy.forward(x), y) * 3.f;
  sn::Gradients grads = loss.backward();
  EXPECT_EQ(grads.size(), 8u);
  Values one = grads(model.fc1.weight).to_vector<float>();
  Values three = grads(copy.fc1.weight).to_vector<float>();
  ASSERT_EQ(one.size(), three.size());
  bool anything = false;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(three[i], 3 * one[i], 1e-5);
    anything |= one[i] != 0;
  }
  EXPECT_TRUE(anything);
}

TEST(SharedParameters, TieMergesGradients) {
  sn::Param a("a", {2}, sn::init::ones()), b("b", {2}, sn::init::ones());
  b.tie(a);
  sn::Gradients grads = sn::sum(a * 2.f + b * 3.f).backward();
  EXPECT_EQ(grads.size(), 1u);
  EXPECT_EQ(grads(a).to_vector<float>(), (Values{5, 5}));
  EXPECT_EQ(grads(b).to_vector<float>(), (Values{5, 5}));
}

TEST(SharedParameters, TrainingACopyLeavesTheModel) {
  Mlp model(51);
  Values before = model.fc1.weight.tensor().to_vector<float>();
  Mlp copy = model;
  sn::optim::Adam adam;
  sn::Tensor x = images(4), y = labels(4);
  for (int i = 0; i < 5; ++i) {
    sn::Tensor loss = sn::cross_entropy(copy.forward(x), y);
    adam.step(copy, loss.backward());
    loss.eval();
  }
  EXPECT_EQ(model.fc1.weight.tensor().to_vector<float>(), before);
  EXPECT_NE(copy.fc1.weight.tensor().to_vector<float>(), before);
}

TEST(SharedParameters, ATensorKeepsTheOldValue) {
  Mlp model(52);
  sn::Tensor old = model.fc1.weight.tensor();
  Values before = old.to_vector<float>();
  sn::optim::Adam adam;
  sn::Tensor x = images(4), y = labels(4);
  sn::Tensor loss = sn::cross_entropy(model.forward(x), y);
  adam.step(model, loss.backward());
  loss.eval();
  EXPECT_EQ(old.to_vector<float>(), before);
  EXPECT_NE(model.fc1.weight.tensor().to_vector<float>(), before);
}
