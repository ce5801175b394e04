/// Groups of parameters: rates and weight decay of their own.
#include "tests/unit/nn/Modules.h"

#include <sinter/optim/Adam.h>
#include <sinter/optim/Adaptive.h>
#include <sinter/optim/Scheduler.h>
#include <sinter/optim/Sgd.h>

namespace sn = sinter;
using Values = std::vector<float>;

namespace {

struct Two {
  sn::Param weight{sn::tensor({1.f, 2.f}), "weight"};
  sn::Param bias{sn::tensor({3.f, 4.f}), "bias"};
  /// Its gradient is 1 everywhere.
  sn::Tensor loss() const { return sn::sum(weight) + sn::sum(bias); }
  SINTER_MODULE(Two, weight, bias)
};

bool isBias(std::string_view path) { return path.ends_with("bias"); }

} // namespace

static Values valuesOf(const sn::Param &param) {
  return param.tensor().to_vector<float>();
}

TEST(ParamGroups, HaveTheirRateAndDecay) {
  Two model;
  sn::optim::Sgd sgd({.lr = 0.5, .weight_decay = 1});
  sgd.add_group(model.bias, {.lr = 0.25, .weight_decay = 0});
  sgd.step(model, model.loss().backward());
  EXPECT_EQ(valuesOf(model.weight), (Values{0, 0.5f})) << "1 - 0.5 * (1 + 1)";
  EXPECT_EQ(valuesOf(model.bias), (Values{2.75f, 3.75f}));
}

TEST(ParamGroups, AreChosenByPath) {
  Two model;
  sn::optim::Sgd sgd({.lr = 0.5});
  sgd.add_group(model, isBias, {.lr = 1});
  sgd.step(model, model.loss().backward());
  EXPECT_EQ(valuesOf(model.weight), (Values{0.5f, 1.5f}));
  EXPECT_EQ(valuesOf(model.bias), (Values{2, 3}));
}

TEST(ParamGroups, ASchedulesRateHoldsInProportion) {
  Two model;
  sn::optim::Sgd sgd({.lr = 1});
  sgd.add_group(model.bias, {.lr = 0.5});
  sn::optim::Scheduler scheduler(
      sgd, sn::optim::step_lr({.step_size = 1, .gamma = 0.5}));
  scheduler.step();
  EXPECT_EQ(sgd.lr(), 0.5);
  sgd.step(model, model.loss().backward());
  EXPECT_EQ(valuesOf(model.weight), (Values{0.5f, 1.5f}));
  EXPECT_EQ(valuesOf(model.bias), (Values{2.75f, 3.75f}));
}

TEST(ParamGroups, AreThoseOfOptimizersOfTheirOwn) {
  Two grouped, apart;
  sn::optim::AdamW all({.lr = 0.1, .weight_decay = 0.3});
  all.add_group(grouped, isBias, {.lr = 0.02, .weight_decay = 0});
  sn::optim::AdamW first({.lr = 0.1, .weight_decay = 0.3});
  sn::optim::AdamW second({.lr = 0.02, .weight_decay = 0});
  for (int step = 0; step < 4; ++step) {
    all.step(grouped, grouped.loss().backward());
    sn::Gradients gradients = apart.loss().backward();
    first.step(apart.weight, gradients);
    second.step(apart.bias, gradients);
  }
  expectNear(grouped.weight.tensor(), apart.weight.tensor(), 1e-6);
  expectNear(grouped.bias.tensor(), apart.bias.tensor(), 1e-6);
}

TEST(ParamGroups, OtherRatesCompileNothing) {
  Two model;
  sn::optim::Adam adam({.lr = 0.1});
  adam.add_group(model.bias, {.lr = 0.2});
  auto step = [&] {
    adam.step(model, model.loss().backward());
    model.weight.tensor().eval();
  };
  step();
  // Halves of them meet the others' rate by chance: the program is the same.
  for (double rate : {0.1, 0.2, 0.05})
    EXPECT_EQ(workOf([&] {
                adam.set_lr(rate);
                step();
              }).programs,
              0u);
}

TEST(ParamGroups, Errors) {
  Two model;
  sn::optim::Sgd sgd({.lr = 0.1});
  sgd.add_group(model.bias, {.lr = 1});
  expectRejected("add_group", "'bias' is in a group already",
                 [&] { sgd.add_group(model, isBias, {.weight_decay = 1}); });
  auto none = [](std::string_view) { return false; };
  expectRejected("add_group", "there is no parameter to put in it",
                 [&] { sgd.add_group(model, none, {.lr = 1}); });
  sn::optim::Sgd still({.lr = 0});
  expectRejected("add_group", "the optimizer's rate is 0",
                 [&] { still.add_group(model, {.lr = 1}); });
  sn::optim::Rprop rprop;
  expectRejected("add_group", "rprop has neither a rate nor weight decay",
                 [&] { rprop.add_group(model, {.lr = 1}); });
}
