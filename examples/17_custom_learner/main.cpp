/// A Learner of one's own parts: an output struct, a metric of three functions,
/// a training step that differs from the validating one, and a callback.
#include "examples/02_digits/Digits.h"

#include <sinter/Config.h>
#include <sinter/Train.h>
#include <sinter/sinter.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>

namespace sn = sinter;

struct Config {
  std::string data = DIGITS_CSV, folder = "custom_learner", device;
  int64_t epochs = 30, batch = 64, seed = 1;
  double lr = 3e-3, ink_weight = 1, mixup = 0.2;
  double goal = 0.98, required_accuracy = 0;
  SINTER_DOC(data, "a CSV file: 64 pixels of 0 to 16, and the digit")
  SINTER_DOC(folder, "for checkpoints, logs and the report")
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0; without it the default one")
  SINTER_DOC(goal, "the accuracy at which the training ends early")
  SINTER_CONFIG(Config, data, folder, device, epochs, batch, seed, lr,
                ink_weight, mixup, goal, required_accuracy)
};

/// One body, two heads: which digit it is, and how much ink it took.
struct TwoHeads {
  sn::nn::Conv2d conv1{1, 16, 3, {.padding = 1}};
  sn::nn::Conv2d conv2{16, 32, 3, {.padding = 1}};
  sn::nn::MaxPool2d pool{2};
  sn::nn::Linear body{32 * 4 * 4, 64}, digit{64, Digit::classes}, ink{64, 1};

  /// Images f32[n,1,8,8] to scores f32[n,10] and ink f32[n].
  std::pair<sn::Tensor, sn::Tensor> forward(const sn::Tensor &images) const {
    sn::Tensor x = pool(sn::relu(conv2(sn::relu(conv1(images)))));
    x = sn::relu(body(sn::reshape(x, {images.dim(0), 32 * 4 * 4})));
    return {digit(x), sn::squeeze(ink(x), {1})};
  }
  SINTER_MODULE(TwoHeads, conv1, conv2, pool, body, digit, ink)
};

/// The output of a step. What metrics take is made by its conversions.
struct Output {
  sn::Tensor loss;
  sn::Tensor logits, labels;
  sn::Tensor ink, true_ink;

  operator sn::metrics::LossInput() const { return {loss}; }
  operator sn::metrics::ClassInput() const { return {logits, labels}; }
  operator sn::metrics::NumberInput() const { return {ink, true_ink}; }
};

/// The expected calibration error (Naeini et al., 2015): how far the model's
/// confidence is from how often it is right, in ten bins of confidence. A
/// metric is a class of three functions and an info.
class CalibrationError {
public:
  sn::metrics::MetricInfo info() const {
    return {.name = "calibration", .higher_is_better = false};
  }
  /// Records sums on the device; reads nothing.
  void update(const sn::metrics::ClassInput &input) {
    sn::Tensor chances = sn::softmax(input.scores, -1);
    sn::Tensor sure = sn::amax(chances, 1);
    sn::Tensor right =
        (sn::argmax(chances, 1) == input.targets).to(sure.dtype());
    sn::Tensor bin = sn::clamp((sure * bins).to(sn::DType::i64), 0, bins - 1);
    sn::Tensor in_bin = sn::one_hot(bin, bins).to(sure.dtype()); // [n,bins]
    differences.add(sn::matmul(sure - right, in_bin));
    counts.add(sn::sum(in_bin, 0));
  }
  /// Reads them.
  double value() const {
    double error = 0, items = 0;
    for (double difference : differences.values())
      error += std::abs(difference);
    for (double count : counts.values())
      items += count;
    return error / items;
  }
  void reset() {
    differences.reset();
    counts.reset();
  }
  /// What checkpoints keep, and what is evaluated together with the step.
  std::vector<sn::metrics::State *> states() { return {&differences, &counts}; }

private:
  static constexpr int64_t bins = 10;
  sn::metrics::State differences{"differences", {bins}},
      counts{"counts", {bins}};
};

/// A callback: a table of the epochs as Markdown, and an early end at a goal.
class Table final : public sn::train::Listener {
public:
  Table(double goal, std::function<void(std::string)> stop)
      : goal(goal), stop(std::move(stop)) {}

  void on(const sn::train::Event &event) override {
    if (const auto *begin = std::get_if<sn::train::RunBegin>(&event)) {
      file.open(begin->folder + "/epochs.md", std::ios::app);
      file
          << "| epoch | accuracy | ink R2 | calibration |\n|--:|--:|--:|--:|\n";
    }
    const auto *end = std::get_if<sn::train::EpochEnd>(&event);
    if (!end || end->split != sn::train::Split::valid)
      return;
    file << "| " << end->epoch;
    for (const char *name : {"accuracy", "r2", "calibration"})
      for (const sn::train::Value &value : end->values)
        if (value.name == name)
          file << " | " << value.value;
    file << " |" << std::endl;
    for (const sn::train::Value &value : end->values)
      if (value.name == "accuracy" && value.value >= 100 * goal) // per cent
        stop("the goal is reached");
  }

private:
  std::ofstream file;
  double goal;
  std::function<void(std::string)> stop;
};

static int run(const Config &config) {
  if (!config.device.empty())
    sn::set_default_device(config.device);
  sn::manual_seed(config.seed);
  auto digits = loadDigits(config.data);
  DigitLoader train(digits.train,
                    {.batch_size = config.batch,
                     .workers = 1,
                     .sampler = sn::data::random_sampler(config.seed)});
  DigitLoader valid(digits.valid, {.batch_size = 512});
  TwoHeads model;
  sn::optim::Adam adam({.lr = config.lr});

  auto losses = [&](const TwoHeads &model, const sn::Tensor &images,
                    const sn::Tensor &chances, const sn::Tensor &labels) {
    auto [logits, ink] = model.forward(images);
    sn::Tensor true_ink = sn::sum(images, {1, 2, 3}) / 20; // about 1
    sn::Tensor loss = sn::cross_entropy(logits, chances, {}) +
                      config.ink_weight * sn::mse_loss(ink, true_ink);
    return Output{loss, logits, labels, ink, true_ink};
  };
  // Training mixes each image with another one (Zhang et al., 2018). A step of
  // three arguments updates by itself.
  auto step = [&](TwoHeads &model, Batch &batch, sn::train::Updates &update) {
    sn::Tensor chances =
        sn::one_hot(batch.labels, Digit::classes).to(sn::DType::f32);
    sn::Tensor share = config.mixup * sn::uniform({batch.labels.dim(0), 1});
    auto mix = [&](const sn::Tensor &x, const sn::Tensor &share) {
      return x + share * (sn::flip(x, {0}) - x);
    };
    sn::Tensor images =
        mix(batch.images, sn::reshape(share, {share.dim(0), 1, 1, 1}));
    Output output = losses(model, images, mix(chances, share), batch.labels);
    update(adam, model, output.loss);
    return output;
  };
  sn::train::Learner learner(model, adam, step,
                             {.name = "custom_learner",
                              .folder = config.folder,
                              .epochs = config.epochs,
                              .log_every = 10,
                              .config = config.to_json()});
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = Digit::classes}))
      .metric(sn::metrics::R2Score())
      .metric(CalibrationError())
      .valid_step([&](TwoHeads &model, Batch &batch) {
        sn::Tensor chances =
            sn::one_hot(batch.labels, Digit::classes).to(sn::DType::f32);
        return losses(model, batch.images, chances, batch.labels);
      })
      .listen(std::make_shared<Table>(
          config.goal, [&](std::string why) { learner.stop(std::move(why)); }))
      .monitors();
  auto outcome = learner.fit(train, valid);
  sn::save_model(model, config.folder + "/model");
  std::printf("after %lld epochs%s: accuracy %.2f %%, ink R2 %.3f, calibration "
              "error %.4f\n",
              static_cast<long long>(outcome.epochs),
              outcome.why.empty() ? "" : (" (" + outcome.why + ")").c_str(),
              100 * outcome("accuracy"), outcome("r2"), outcome("calibration"));
  return outcome("accuracy") >= config.required_accuracy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Config>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
