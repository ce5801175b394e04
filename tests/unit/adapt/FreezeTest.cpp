/// Patterns of paths: what is frozen, and groups of optimizers.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/optim/Sgd.h>
#include <sinter/train/Freeze.h>

#include <sstream>

namespace sn = sinter;

struct Kinds {
  sn::Param trained{sn::tensor({1.f, 2.f}), "trained"};
  sn::Param frozen{sn::tensor({3.f}), "frozen"};
  sn::Tensor constant = sn::tensor({4.f});
  SINTER_MODULE(Kinds, trained, frozen, constant)
};

TEST(Patterns, SelectPathsAndModulesAround) {
  using sn::matches;
  EXPECT_TRUE(matches("fc.weight", "fc.weight"));
  EXPECT_TRUE(matches("fc", "fc.weight"));
  EXPECT_FALSE(matches("fc", "fc2.weight"));
  EXPECT_TRUE(matches("backbone.*", "backbone.layers.0.weight"));
  EXPECT_FALSE(matches("backbone.*", "backbones.0"));
  EXPECT_TRUE(matches("*.bias", "a.b.c.bias"));
  EXPECT_FALSE(matches("*.bias", "bias"));
  EXPECT_TRUE(matches("*bias", "bias"));
  const char *projections = "layers.*.attention.{q,v}";
  EXPECT_TRUE(matches(projections, "layers.11.attention.q.weight"));
  EXPECT_TRUE(matches(projections, "layers.0.attention.v"));
  EXPECT_FALSE(matches(projections, "layers.0.attention.k.weight"));
  EXPECT_TRUE(matches("layers.?.fc", "layers.3.fc.bias"));
  EXPECT_FALSE(matches("layers.?.fc", "layers.13.fc.bias"));
  EXPECT_TRUE(matches("{a,b{c,d}e}.x", "bde.x"));
  EXPECT_FALSE(matches("{a,b{c,d}e}.x", "b.x"));
  EXPECT_TRUE(matches("{,pre}fix", "fix"));
}

TEST(Patterns, LongOnesTakeNoTime) {
  std::string stars, path(3000, 'a');
  for (int i = 0; i < 500; ++i)
    stars += "*a";
  EXPECT_FALSE(sn::matches(stars + "b", path));
}

TEST(Patterns, RejectsBrokenOnes) {
  auto broken = [](std::string pattern, std::string_view part) {
    expectRejected("matches", part, [&] { sn::matches(pattern, "x"); });
  };
  broken("", "empty");
  broken("{a,b", "not closed");
  broken("a}", "not opened");
  broken(std::string(100, '{'), "more than 16");
  std::string many;
  for (int i = 0; i < 40; ++i)
    many += "{a,b}";
  broken(many, "4096");
}

TEST(Freeze, ByPatternWithAReport) {
  Mlp model;
  sn::Selection frozen = sn::train::freeze(model, {"fc1", "*.bias"});
  EXPECT_EQ(frozen.paths,
            (std::vector<std::string>{"fc1.weight", "fc1.bias", "fc2.bias"}));
  EXPECT_EQ(frozen.elements, 32 + 8 + 3);
  EXPECT_EQ(sn::train::num_trainable(model), 24);
  EXPECT_EQ(model.num_params(), 67);
  sn::Gradients gradients = sn::sum(model(sn::ones({1, 4}))).backward();
  EXPECT_EQ(gradients.size(), 1u);
  std::ostringstream text;
  text << sn::train::unfreeze(model, "fc1.bias");
  EXPECT_EQ(text.str(), "1 parameter, 8 elements: fc1.bias");
  EXPECT_EQ(sn::train::num_trainable(model), 32);
}

TEST(Freeze, WhatSelectsNothingIsAnError) {
  Mlp model;
  expectRejected("freeze", "pattern 'fc3.*' selects no parameter",
                 [&] { sn::train::freeze(model, {"fc1", "fc3.*"}); });
  EXPECT_EQ(sn::train::num_trainable(model), 67); // nothing was changed
  expectRejected("unfreeze", "fc2.weight",
                 [&] { sn::train::unfreeze(model, "head"); });
  expectRejected("freeze", "no pattern",
                 [&] { sn::train::freeze(model, std::vector<std::string>()); });
}

TEST(Freeze, StatisticsAreNotSelected) {
  Normed model;
  expectRejected("unfreeze", "can be trained",
                 [&] { sn::train::unfreeze(model, "norm.running_mean"); });
  sn::train::freeze(model, "*");
  EXPECT_EQ(sn::train::unfreeze(model, "norm").paths.size(), 2u);
  EXPECT_FALSE(model.norm.running_var.requires_grad());
}

TEST(Freeze, OfAllIsAnErrorOfTheGradients) {
  Mlp model;
  sn::train::freeze(model, "*");
  EXPECT_EQ(sn::train::num_trainable(model), 0);
  sn::Tensor loss = sn::sum(model(sn::ones({1, 4})));
  EXPECT_FALSE(loss.requires_grad());
  expectRejected("backward", "requires a gradient", [&] { loss.backward(); });
}

TEST(Freeze, AFrozenBackboneLaunchesNoGradients) {
  Mlp model, head;
  sn::train::freeze(head, "fc1");
  auto run = [](Mlp &model) {
    sn::optim::Sgd sgd({.lr = 0.1});
    sn::Tensor loss = sn::mean(model(waves({8, 4}, 0.3)));
    sgd.step(model, loss.backward());
    return countsOf([&] { loss.item<float>(); }).launches;
  };
  EXPECT_LT(run(head), run(model));
}

TEST(Optimizer, GroupsByPattern) {
  Mlp model;
  sn::optim::Sgd sgd({.lr = 1});
  sgd.add_group(model, {"*.bias", "fc1"}, {.lr = 0.5});
  sn::Tensor before = model.fc2.bias.tensor();
  std::vector<float> old = before.to_vector<float>();
  sgd.step(model, sn::sum(model(sn::ones({1, 4}))).backward());
  std::vector<float> now = model.fc2.bias.tensor().to_vector<float>();
  EXPECT_FLOAT_EQ(now[0], old[0] - 0.5f);
  expectRejected("add_group", "pattern 'head' selects no parameter",
                 [&] { sgd.add_group(model, "head", {.lr = 0.1}); });
  expectRejected("add_group", "in a group already",
                 [&] { sgd.add_group(model, "fc1.bias", {.lr = 0.1}); });
}

/// Saved and trained, saved and not trained, and neither.
TEST(Module, ParamFrozenParamAndConstantTensor) {
  Kinds model;
  sn::train::freeze(model, "frozen");
  EXPECT_EQ(sn::train::num_trainable(model), 2);
  EXPECT_EQ(namesOf(model), (std::vector<std::string>{"trained", "frozen"}));
  sn::optim::Sgd sgd({.lr = 0.5});
  sgd.step(model,
           sn::sum(model.trained * model.frozen * model.constant).backward());
  EXPECT_EQ(model.trained.tensor().to_vector<float>(),
            (std::vector<float>{-5, -4}));
  EXPECT_EQ(model.frozen.tensor().item<float>(), 3);
  EXPECT_EQ(model.constant.item<float>(), 4);
  std::string file = testing::TempDir() + "/kinds.safetensors";
  model.save(file);
  Kinds other;
  other.frozen.set(sn::tensor({0.f}));
  other.constant = sn::tensor({7.f});
  other.load(file);
  EXPECT_EQ(other.trained.tensor().to_vector<float>(),
            (std::vector<float>{-5, -4}));
  EXPECT_EQ(other.frozen.tensor().item<float>(), 3); // saved, not updated
  EXPECT_EQ(other.constant.item<float>(), 7);        // not saved
  std::remove(file.c_str());
}
