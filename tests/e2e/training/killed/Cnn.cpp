/// Pictures that workers change, f16, and an average of the weights.
#include "tests/e2e/training/killed/Killed.h"

#include <sinter/data/Transforms.h>

namespace killed {

namespace {

struct Cnn {
  sn::nn::Conv2d conv1{1, 4, 3}, conv2{4, 8, 3};
  sn::nn::BatchNorm2d norm{4};
  sn::nn::Dropout dropout{0.2};
  sn::nn::Linear head{8 * 6 * 6, 3};

  sn::Tensor forward(const sn::Tensor &images) const {
    sn::Tensor x = sn::relu(norm(conv1(images)));
    x = sn::relu(conv2(x));
    return head(dropout(sn::reshape(x, {images.dim(0), 8 * 6 * 6})));
  }
  SINTER_MODULE(Cnn, conv1, conv2, norm, dropout, head)
};

/// What the kills may not change.
struct Final {
  Cnn model, average;
  SINTER_MODULE(Final, model, average)
};

using Batch = std::pair<sn::Tensor, sn::Tensor>;

/// Stripes along one of three directions.
std::vector<sn::data::LabeledImage> pictures() {
  std::vector<sn::data::LabeledImage> all;
  for (int64_t i = 0; i < 60; ++i) {
    sn::data::LabeledImage one{{12, 12, 1, std::vector<uint8_t>(144)}, i % 3};
    for (int64_t y = 0; y < 12; ++y)
      for (int64_t x = 0; x < 12; ++x) {
        int64_t at = one.label == 0 ? y : one.label == 1 ? x : x + y;
        one.image.at(y, x) = uint8_t((at + i) % 4 < 2 ? 200 : 30 + i);
      }
    all.push_back(std::move(one));
  }
  return all;
}

} // namespace

void train_cnn(const Flags &flags) {
  sn::train::LearnerOptions options = optionsOf(flags);
  options.autocast = sn::DType::f16;
  // It overflows at first, and grows again and again.
  options.loss_scale = {.init_scale = 1e9, .growth_interval = 4};
  Cnn model;
  sn::train::Ema ema(model, 0.9);
  sn::optim::Adam adam({.lr = 0.01});
  sn::data::InMemory images(pictures());
  auto changed = sn::data::map(
      images,
      sn::data::compose(sn::data::random_crop(10, {.padding = 1}),
                        sn::data::flip(), sn::data::normalize({0.4}, {0.3})));
  sn::data::DataLoader loader(
      changed,
      {.batch_size = 8, .workers = 2, .sampler = sn::data::random_sampler(4)});
  auto step = [](const Cnn &net, const Batch &batch) {
    sn::Tensor logits = net.forward(batch.first);
    return sn::metrics::ClassificationOutput{
        sn::cross_entropy(logits, batch.second), logits, batch.second};
  };
  sn::train::Learner learner(model, adam, step, options);
  learner.average(ema).schedule(
      sn::optim::cosine_annealing_lr({.T_max = 8 * flags.epochs}));
  learner.metric(sn::metrics::Accuracy({.classes = 3}));
  finish(flags, learner, loader);
  if (!flags.weights.empty())
    Final{model, ema.model()}.save(flags.weights);
}

} // namespace killed
