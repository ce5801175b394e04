/// Gradients are scaled by their common norm: every update waits for it, and
/// all are one launch.
#include <sinter/optim/Adam.h>
#include <sinter/sinter.h>

#include <cmath>
#include <gtest/gtest.h>

namespace sn = sinter;

namespace {

struct Tensors {
  std::vector<sn::Param> params;
  SINTER_MODULE(Tensors, params)
};

Tensors makeTensors(int count) {
  Tensors model;
  for (int i = 0; i < count; ++i) {
    int64_t rows = 2 + i % 7, columns = 3 + i % 5;
    std::vector<float> values(rows * columns);
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = std::sin(float(i * 31 + k));
    model.params.emplace_back(sn::tensor(values, {rows, columns}));
  }
  return model;
}

/// One step, its gradients scaled to a norm of 1; gives the loss.
float step(Tensors &model, sn::optim::Adam &adam) {
  sn::Tensor loss = sn::zeros({}), square = sn::zeros({});
  for (const sn::Param &param : model.params)
    loss = loss + sn::sum(sn::exp(param) * param);
  sn::Gradients gradients = loss.backward(), scaled;
  for (const sn::Param &param : model.params)
    square = square + sn::sum(gradients(param) * gradients(param));
  for (const sn::Param &param : model.params)
    scaled.set(param.cell()->id(), gradients(param) / sn::sqrt(square));
  adam.step(model, std::move(scaled));
  return loss.item<float>();
}

uint64_t launchesOfStep(int tensors) {
  Tensors model = makeTensors(tensors);
  sn::optim::Adam adam;
  float first = step(model, adam);
  uint64_t before = sn::stats().launches;
  float second = step(model, adam);
  EXPECT_LT(second, first);
  return sn::stats().launches - before;
}

} // namespace

TEST(Updates, OfAllParametersAreOneLaunch) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the null device does not fuse";
  uint64_t few = launchesOfStep(3), many = launchesOfStep(12);
  // What a parameter more costs is its sums; its update costs nothing.
  EXPECT_EQ((many - few) % 9, 0u);
  uint64_t each = (many - few) / 9;
  EXPECT_EQ(few - 3 * each, 1u) << few << " and " << many;
}
