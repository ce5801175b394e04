/// MNIST: a small convolutional network, trained by a Learner that shows it,
/// writes checkpoints, and goes on where it was ended.
#include <sinter/Config.h>
#include <sinter/Datasets.h>
#include <sinter/Train.h>
#include <sinter/data/Transforms.h>
#include <sinter/sinter.h>

#include <cstdio>

namespace sn = sinter;

/// Two convolutions and two linear layers, for images of 28x28.
struct Model {
  sn::nn::Conv2d conv1{1, 8, 3}, conv2{8, 16, 3};
  sn::nn::AdaptiveAvgPool2d pool{8};
  sn::nn::Dropout dropout{0.5};
  sn::nn::Linear linear1{16 * 8 * 8, 512}, linear2{512, 10};

  /// Images f32[n,1,28,28] to scores f32[n,10].
  sn::Tensor forward(const sn::Tensor &images) const {
    sn::Tensor x = dropout(conv2(dropout(conv1(images))));
    x = sn::reshape(pool(sn::relu(x)), {images.dim(0), 16 * 8 * 8});
    return linear2(sn::relu(dropout(linear1(x))));
  }
  SINTER_MODULE(Model, conv1, conv2, pool, dropout, linear1, linear2)
};

struct Config {
  sn::Required<std::string> data;
  std::string folder = "mnist";
  int64_t epochs = 10, batch = 64, seed = 42;
  double lr = 1e-3;
  SINTER_DOC(data, "the folder with MNIST's four files")
  SINTER_CONFIG(Config, data, folder, epochs, batch, seed, lr)
};

/// Images f32[n,1,28,28] and digits i64[n].
using Batch = std::pair<sn::Tensor, sn::Tensor>;

/// Pixels have mean 0 and deviation 1.
static auto load(const std::string &folder, bool train) {
  return sn::data::map(
      sn::data::Mnist(folder, train),
      sn::data::compose(sn::data::normalize({0.1307}, {0.3081})));
}

static sn::metrics::ClassificationOutput step(const Model &model,
                                              const Batch &batch) {
  sn::Tensor logits = model.forward(batch.first);
  return {sn::cross_entropy(logits, batch.second), logits, batch.second};
}

int main(int argc, char **argv) try {
  auto config = sn::parse_config<Config>(argc, argv);
  sn::manual_seed(config.seed);
  sn::data::LoaderOptions batches{.batch_size = config.batch, .workers = 2};
  batches.sampler = sn::data::random_sampler(config.seed);
  sn::data::DataLoader train(load(config.data, true), batches);
  sn::data::DataLoader valid(load(config.data, false), {.batch_size = 1000});

  Model model;
  sn::optim::Adam adam({.lr = config.lr});
  sn::train::LearnerOptions options{.name = "mnist", .folder = config.folder};
  options.epochs = config.epochs;
  options.config = config.to_json();
  sn::train::Learner learner(model, adam, step, options);
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = 10}))
      .monitors();
  learner.fit(train, valid);
  sn::save_model(model, config.folder + "/model");
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
