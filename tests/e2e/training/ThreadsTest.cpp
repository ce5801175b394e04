/// Many threads record, compile and run at once; each gets the numbers it
/// would get alone.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

#include <thread>

using namespace training;
using Values = std::vector<float>;

namespace {

constexpr int threads = 8;

Values train(int64_t width, int steps) {
  sn::manual_seed(7);
  Mlp model(width);
  sn::optim::Adam adam({.lr = 0.01});
  for (int step = 0; step < steps; ++step) {
    sn::Tensor x = images(4 + step % 3), y = labels(4 + step % 3);
    sn::Tensor loss = sn::cross_entropy(model.forward(x), y);
    adam.step(model, loss.backward());
    loss.eval();
  }
  return model.fc1.weight.tensor().to_vector<float>();
}

template <typename F> void onEveryThread(F function) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&function, i] { function(i); });
  for (std::thread &thread : all)
    thread.join();
}

} // namespace

TEST(Threads, TrainModelsOfTheirOwn) {
  std::vector<Values> together(threads);
  onEveryThread([&](int i) { together[i] = train(70 + i % 4, 20); });
  for (int i = 0; i < threads; ++i)
    EXPECT_EQ(together[i], train(70 + i % 4, 20)) << i;
}

TEST(Threads, DifferentiateOneModel) {
  Mlp model(75);
  sn::Tensor x = images(6), y = labels(6);
  std::vector<Values> gradients(threads);
  onEveryThread([&](int i) {
    sn::Tensor loss = sn::cross_entropy(model.forward(x), y);
    sn::Gradients grads = loss.backward();
    gradients[i] = grads(model.fc1.weight).to_vector<float>();
  });
  for (const Values &each : gradients)
    EXPECT_EQ(each, gradients[0]);
}

TEST(Threads, ReadOneTensor) {
  sn::Tensor y = sn::tanh(images(50) * 1.25f);
  std::vector<Values> values(threads);
  onEveryThread([&](int i) { values[i] = y.to_vector<float>(); });
  for (const Values &each : values)
    EXPECT_EQ(each, values[0]);
}
