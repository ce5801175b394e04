/// A training loop of one's own: six lines, and around them what a Learner
/// would do: metrics, a schedule, checkpoints, and the events that logs and the
/// report are made of.
#include "examples/02_digits/Digits.h"

#include <sinter/Config.h>
#include <sinter/Train.h>
#include <sinter/sinter.h>

#include <cstdio>
#include <filesystem>

namespace sn = sinter;

struct Config {
  std::string data = DIGITS_CSV, folder = "custom_training_loop", device;
  int64_t epochs = 20, batch = 64, seed = 1;
  double lr = 3e-3, required_accuracy = 0;
  SINTER_DOC(data, "a CSV file: 64 pixels of 0 to 16, and the digit")
  SINTER_DOC(folder, "for checkpoints, logs and the report")
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0; without it the default one")
  SINTER_CONFIG(Config, data, folder, device, epochs, batch, seed, lr,
                required_accuracy)
};

struct Mlp {
  sn::nn::Linear fc1{Digit::side * Digit::side, 64}, fc2{64, Digit::classes};
  sn::nn::Dropout dropout{0.2};
  sn::Tensor forward(const sn::Tensor &images) const {
    sn::Tensor x =
        sn::reshape(images, {images.dim(0), Digit::side * Digit::side});
    return fc2(dropout(sn::relu(fc1(x))));
  }
  SINTER_MODULE(Mlp, fc1, fc2, dropout)
};

using Metrics = sn::metrics::MetricSet<sn::metrics::ClassificationOutput>;

/// All that a training consists of, and one record of it.
struct Training {
  Mlp model;
  sn::optim::Adam adam;
  sn::optim::Scheduler schedule;
  DigitLoader loader;
  int64_t steps = 0;

  Training(const Config &config, const Digits &digits)
      : adam({.lr = config.lr}),
        schedule(adam, sn::optim::exponential_lr(0.998)),
        loader(digits, {.batch_size = config.batch,
                        .workers = 1,
                        .sampler = sn::data::random_sampler(config.seed)}) {}

  sn::Record record() const {
    sn::Record record;
    record.put("model", model);
    record.put("adam", adam);
    record.put("schedule", schedule);
    record.put("data", loader);
    record.put("random", sn::default_generator());
    record.put("steps", steps);
    return record;
  }
  void load(const sn::Record &record) {
    record.get("model", model);
    record.get("adam", adam, model);
    record.get("schedule", schedule);
    record.get("data", loader);
    record.get("random", sn::default_generator());
    record.get("steps", steps);
  }
  /// Whole epochs so far.
  int64_t epochs() const { return loader.cursor().epoch; }
};

static Metrics makeMetrics() {
  Metrics metrics;
  metrics.add(sn::metrics::MeanLoss())
      .add(sn::metrics::Accuracy({.classes = Digit::classes}));
  return metrics;
}

static void trainEpoch(Training &run, Metrics &metrics) {
  for (Batch &batch : run.loader) {
    sn::Tensor logits = run.model.forward(batch.images);
    sn::Tensor loss = sn::cross_entropy(logits, batch.labels);
    run.adam.step(run.model, loss.backward());
    run.schedule.step();
    metrics.update({loss, logits, batch.labels});
    loss.eval(); // one program: all of the above
    ++run.steps;
  }
}

static void validate(const Mlp &model, const Digits &digits, Metrics &metrics) {
  sn::no_grad guard;
  Mlp used = model.valid(); // without dropout
  DigitLoader loader(digits, {.batch_size = 512});
  for (Batch &batch : loader) {
    sn::Tensor logits = used.forward(batch.images);
    metrics.update(
        {sn::cross_entropy(logits, batch.labels), logits, batch.labels});
  }
}

/// Tells the listeners what came out of an epoch.
static void tell(sn::train::Listeners &listeners, const Training &run,
                 sn::train::Split split, const Metrics &metrics) {
  std::vector<sn::train::Value> values;
  std::vector<sn::metrics::MetricInfo> infos = metrics.infos();
  for (const sn::metrics::Value &each : metrics.values()) {
    const sn::metrics::MetricInfo &info = infos[values.size()];
    values.push_back({.name = each.name,
                      .value = info.unit == "%" ? 100 * each.value : each.value,
                      .unit = info.unit,
                      .better = info.higher_is_better.value_or(false)
                                    ? sn::train::Better::higher
                                    : sn::train::Better::lower});
  }
  listeners.on(sn::train::EpochEnd{.split = split,
                                   .epoch = run.epochs(),
                                   .total_step = run.steps,
                                   .values = values});
}

static int run(const Config &config) {
  if (!config.device.empty())
    sn::set_default_device(config.device);
  sn::manual_seed(config.seed);
  auto digits = loadDigits(config.data);
  Training run(config, digits.train);

  std::string file = config.folder + "/run.safetensors";
  sn::train::RunBegin begin;
  begin.name = "custom_training_loop";
  begin.folder = config.folder;
  begin.config = config.to_json();
  begin.epochs = config.epochs;
  if (std::filesystem::exists(file)) {
    run.load(sn::Record::load(file));
    std::printf("going on from epoch %lld\n",
                static_cast<long long>(run.epochs()));
    begin.resume = sn::train::Resume{.epoch = run.epochs(),
                                     .train_steps = run.steps,
                                     .valid_steps = run.epochs()};
  }
  sn::train::Listeners listeners;
  sn::train::add_monitors(listeners);
  listeners.on(begin);

  while (run.epochs() < config.epochs) {
    Metrics trained = makeMetrics(), validated = makeMetrics();
    listeners.on(sn::train::EpochBegin{.epoch = run.epochs() + 1});
    trainEpoch(run, trained);
    tell(listeners, run, sn::train::Split::train, trained);
    validate(run.model, digits.valid, validated);
    tell(listeners, run, sn::train::Split::valid, validated);
    listeners.flush(); // what is logged is never behind the checkpoint
    run.record().save(file);
  }
  listeners.on(sn::train::RunEnd{.status = sn::train::Status::finished});
  sn::save_model(run.model, config.folder + "/model");
  Metrics last = makeMetrics();
  validate(run.model, digits.valid, last);
  double accuracy = last.value("accuracy");
  std::printf("accuracy %.2f %%\n", 100 * accuracy);
  return accuracy >= config.required_accuracy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Config>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
