/// MNIST: a small convolutional network, trained by a Learner that shows it,
/// writes checkpoints, and goes on where it was ended.
#include <sinter/Config.h>
#include <sinter/Datasets.h>
#include <sinter/Train.h>
#include <sinter/sinter.h>

#include <cstdio>

namespace sn = sinter;

/// Two convolutions and two linear layers, for images of 28x28.
struct Model {
  sn::nn::Conv2d conv1{1, 8, 3};
  sn::nn::Conv2d conv2{8, 16, 3};
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
  int64_t epochs = 10, batch = 64, workers = 2, seed = 42;
  double lr = 1e-3;
  SINTER_DOC(data, "the folder with MNIST's four files")
  SINTER_DOC(folder, "for checkpoints, logs and the report")
  SINTER_CONFIG(Config, data, folder, epochs, batch, workers, seed, lr)
};

struct Batch {
  sn::Tensor images, labels;
};

static Batch batchOf(const std::vector<sn::data::LabeledImage> &items) {
  std::vector<sn::data::Image> images;
  std::vector<int64_t> labels;
  for (const sn::data::LabeledImage &item : items) {
    images.push_back(item.image);
    labels.push_back(item.label);
  }
  return {(sn::data::to_tensor(images) - 0.1307) / 0.3081, sn::tensor(labels)};
}

static sn::metrics::ClassificationOutput step(const Model &model,
                                              const Batch &batch) {
  sn::Tensor logits = model.forward(batch.images);
  return {sn::cross_entropy(logits, batch.labels), logits, batch.labels};
}

int main(int argc, char **argv) try {
  auto config = sn::parse_config<Config>(argc, argv);
  sn::manual_seed(config.seed);
  sn::data::DataLoader train(sn::data::Mnist(config.data),
                             {.batch_size = config.batch,
                              .workers = config.workers,
                              .sampler = sn::data::random_sampler(config.seed)},
                             batchOf);
  sn::data::DataLoader valid(sn::data::Mnist(config.data, false),
                             {.batch_size = 1000}, batchOf);
  Model model;
  sn::optim::Adam adam({.lr = config.lr});
  sn::train::Learner learner(model, adam, step,
                             {.name = "mnist",
                              .folder = config.folder,
                              .epochs = config.epochs,
                              .config = config.to_json()});
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = 10}))
      .monitors();
  auto outcome = learner.fit(train, valid);
  sn::save_model(model, config.folder + "/model");
  std::printf("accuracy %.2f %%\n", 100 * outcome("accuracy"));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
