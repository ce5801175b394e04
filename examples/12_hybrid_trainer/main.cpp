/// Digits end to end by a hybrid trainer: steps of an optimizer, and between
/// them steps whose change of the weights is predicted.
#include "examples/12_hybrid_trainer/Images.h"

#include <sinter/Config.h>

#include <cstdio>
#include <map>

namespace sn = sinter;

struct PhaseConfig {
  int64_t warmup = 40;
  int64_t full = 12;
  int64_t predict = 4;
  int64_t correct = 4;
  SINTER_CONFIG(PhaseConfig, warmup, full, predict, correct)
};

struct TrainingConfig {
  std::string data;
  int64_t epochs = 30;
  int64_t batch = 64;
  int64_t hidden = 128;
  double lr = 0.1;
  double required_accuracy = 0.93;
  int64_t overhead_pairs = 0;
  PhaseConfig phases = {};
  SINTER_DOC(data, "the folder with MNIST's four files; else 8x8 digits")
  SINTER_DOC(overhead_pairs,
             "pairs of steps that time the wrapper, nothing else")
  SINTER_CONFIG(TrainingConfig, data, epochs, batch, hidden, lr,
                required_accuracy, overhead_pairs, phases)
};

/// The share of images whose digit the module finds.
static double accuracy(const Mlp &mlp, const std::vector<Image> &images) {
  ImageLoader loader(Images(images), {.batch_size = 512});
  double found = 0;
  for (Batch &batch : loader) {
    sn::Tensor best = sn::argmax(mlp(batch.images), 1);
    found += sn::sum((best == batch.labels).to(sn::DType::i64)).item<double>();
  }
  return found / static_cast<double>(images.size());
}

static int run(const TrainingConfig &config) {
  ImageSets sets =
      config.data.empty() ? loadDigits(DIGITS_CSV) : loadMnist(config.data);
  if (config.overhead_pairs > 0) {
    printOverhead(sets.train, config.batch, config.hidden,
                  config.overhead_pairs);
    return 0;
  }
  sn::manual_seed(1);
  auto pixels = static_cast<int64_t>(sets.train.front().pixels.size());
  sn::train::HybridModel model(Mlp(pixels, config.hidden), lossOf);
  auto optimizer = sn::train::HybridOptimizer::of<sn::optim::Sgd>(
      sn::optim::SgdOptions{.lr = config.lr, .momentum = 0.9});
  sn::train::HybridTrainer trainer(model, optimizer,
                                   {.warmup = config.phases.warmup,
                                    .full = config.phases.full,
                                    .predict = config.phases.predict,
                                    .correct = config.phases.correct});
  std::printf("%lld parameters, %zu images to train on\n",
              static_cast<long long>(model.parameter_count()),
              sets.train.size());

  ImageLoader loader(Images(sets.train),
                     {.batch_size = config.batch,
                      .workers = 1,
                      .sampler = sn::data::random_sampler(1)});
  std::map<sn::train::Phase, int64_t> steps;
  double loss = 0;
  for (int64_t epoch = 0; epoch < config.epochs; ++epoch) {
    double sum = 0;
    int64_t count = 0;
    for (Batch &batch : loader) {
      sn::train::HybridReport report = trainer.step(batch);
      ++steps[report.phase];
      sum += report.loss;
      ++count;
    }
    loss = sum / static_cast<double>(count);
  }
  for (auto [phase, count] : steps)
    std::printf("%lld steps of phase %s\n", static_cast<long long>(count),
                std::string(sn::train::to_string(phase)).c_str());
  double right = accuracy(model.module(), sets.test);
  std::printf("loss %.4f, test accuracy %.2f %%\n", loss, 100 * right);
  return right >= config.required_accuracy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<TrainingConfig>(argc, argv));
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
