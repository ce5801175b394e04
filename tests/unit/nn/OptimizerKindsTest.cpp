/// What every optimizer does: one program a step, state in files, maximizing.
#include "tests/unit/nn/Modules.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <unistd.h>

namespace sn = sinter;
namespace optim = sn::optim;

namespace {

struct Kind {
  std::string name;
  std::function<std::unique_ptr<optim::Optimizer>(bool maximize)> make;
};
void PrintTo(const Kind &kind, std::ostream *stream) { *stream << kind.name; }

template <typename T, typename Options> Kind kind(Options options) {
  return {"", [options](bool maximize) mutable {
            options.maximize = maximize;
            return std::make_unique<T>(options);
          }};
}

std::vector<Kind> kinds() {
  std::vector<std::pair<const char *, Kind>> list = {
      {"sgd", kind<optim::Sgd>(optim::SgdOptions{
                  .momentum = 0.9, .weight_decay = 0.1, .dampening = 0.2})},
      {"adam", kind<optim::Adam>(optim::AdamOptions{})},
      {"amsgrad", kind<optim::Adam>(optim::AdamOptions{.amsgrad = true})},
      {"adamw", kind<optim::AdamW>(optim::AdamWOptions{})},
      {"adamax", kind<optim::Adamax>(optim::AdamaxOptions{})},
      {"nadam", kind<optim::NAdam>(optim::NAdamOptions{})},
      {"radam", kind<optim::RAdam>(optim::RAdamOptions{})},
      {"rmsprop", kind<optim::RMSprop>(optim::RMSpropOptions{
                      .momentum = 0.5, .centered = true})},
      {"adagrad", kind<optim::Adagrad>(optim::AdagradOptions{
                      .lr_decay = 0.1, .initial_accumulator_value = 0.5})},
      {"adadelta", kind<optim::Adadelta>(optim::AdadeltaOptions{})},
      {"rprop", kind<optim::Rprop>(optim::RpropOptions{})},
  };
  std::vector<Kind> result;
  for (auto &[name, each] : list) {
    each.name = name;
    result.push_back(std::move(each));
  }
  return result;
}

class EveryOptimizer : public testing::TestWithParam<Kind> {};

using Model = sn::nn::Linear;

void step(Model &model, optim::Optimizer &optimizer, int number) {
  sn::Tensor y = model(waves({4, 3}, 0.3 + number));
  optimizer.step(model, sn::sum(y * y).backward());
}

std::vector<float> weightOf(const Model &model) {
  return model.weight.tensor().to_vector<float>();
}

} // namespace

INSTANTIATE_TEST_SUITE_P(All, EveryOptimizer, testing::ValuesIn(kinds()),
                         [](const auto &info) { return info.param.name; });

TEST_P(EveryOptimizer, AStepIsOneProgramThatServesAllOfThem) {
  Model model(3, 2);
  auto optimizer = GetParam().make(false);
  step(model, *optimizer, 0);
  model.weight.tensor().eval();
  Work work = workOf([&] {
    for (int number = 1; number < 9; ++number) {
      step(model, *optimizer, number);
      model.weight.tensor().eval();
    }
  });
  EXPECT_EQ(work.runs, 8u);
  EXPECT_EQ(work.programs, 0u);
}

TEST_P(EveryOptimizer, TrainingGoesOnFromAFile) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-kinds-" + std::to_string(::getpid()));
  Model model(3, 2);
  auto optimizer = GetParam().make(false);
  for (int number = 0; number < 4; ++number)
    step(model, *optimizer, number);
  optimizer->save(path);
  Model again = model;
  auto fresh = GetParam().make(false);
  fresh->load(again, path);
  std::filesystem::remove(path);
  for (int number = 4; number < 9; ++number) {
    step(model, *optimizer, number);
    step(again, *fresh, number);
  }
  EXPECT_EQ(weightOf(again), weightOf(model));
}

TEST_P(EveryOptimizer, MaximizingIsMinimizingTheNegative) {
  Model up(3, 2, {.bias = false}), down = up;
  auto maximizing = GetParam().make(true), minimizing = GetParam().make(false);
  for (int number = 0; number < 3; ++number) {
    sn::Tensor x = waves({4, 3}, 0.3 + number);
    maximizing->step(up, sn::sum(up(x)).backward());
    minimizing->step(down, sn::sum(-down(x)).backward());
  }
  expectNear(up.weight.tensor(), down.weight.tensor(), 1e-6);
}

// As PyTorch 2 computes it.
TEST(NAdam, FiveSteps) {
  sn::Param param(sn::tensor({-0.6584508419036865}), "p");
  optim::NAdam nadam({.lr = 0.02});
  const double gradients[] = {0.780652642250061, 0.3197772204875946,
                              -0.4839729368686676, 0.6856175661087036,
                              -0.40728825330734253};
  const double wanted[] = {-0.6795798774597237, -0.6886726481018337,
                           -0.6789718789722486, -0.693847326110328,
                           -0.6866456624785916};
  for (int i = 0; i < 5; ++i) {
    nadam.step(param, sn::sum(param * gradients[i]).backward());
    EXPECT_NEAR(param.tensor().item<double>(), wanted[i], 1e-8) << i;
  }
}

// What PyTorch 1.13 gives for the same.
TEST(NAdam, RepeatsMomentumWhenAsked) {
  sn::Param param(sn::tensor({-0.6584508419036865}), "p");
  optim::NAdam nadam({.lr = 0.02, .repeats_momentum = true});
  const double gradients[] = {0.780652642250061, 0.3197772204875946,
                              -0.4839729368686676, 0.6856175661087036,
                              -0.40728825330734253};
  const double wanted[] = {-0.67944145, -0.6884454, -0.67872787, -0.69358623,
                           -0.6863804};
  for (int i = 0; i < 5; ++i) {
    nadam.step(param, sn::sum(param * gradients[i]).backward());
    EXPECT_NEAR(param.tensor().item<double>(), wanted[i], 1e-7) << i;
  }
}

TEST(AdamW, DecaysWhatHasNoGradientNow) {
  sn::Param param(sn::tensor({2.0}), "p");
  optim::AdamW adamw({.lr = 0.1, .weight_decay = 0.5});
  adamw.step(param, sn::sum(param * 0.0).backward());
  EXPECT_NEAR(param.tensor().item<double>(), 2 * (1 - 0.1 * 0.5), 1e-12);
}

TEST(Adam, AmsgradRefusesTheStateOfPlainAdam) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-amsgrad-" + std::to_string(::getpid()));
  Model model(3, 2);
  optim::Adam plain, amsgrad({.amsgrad = true});
  step(model, plain, 0);
  plain.save(path);
  try {
    amsgrad.load(model, path);
    ADD_FAILURE() << "loaded";
  } catch (const sn::Error &error) {
    EXPECT_NE(error.message().find("max_square"), std::string::npos)
        << error.what();
  }
  std::filesystem::remove(path);
}
