/// Fine-tuning: the state dict of a network that PyTorch trained on MNIST comes
/// in, its backbone stays as it is or gets adapters, and a new head learns
/// another set of digits from a few of them.
#include "examples/02_digits/Digits.h"

#include <sinter/Config.h>
#include <sinter/Train.h>
#include <sinter/Weights.h>
#include <sinter/sinter.h>
#include <sinter/train/Freeze.h>
#include <sinter/train/Lora.h>
#include <sinter/train/Summary.h>

#include <cstdio>
#include <iostream>

namespace sn = sinter;

/// What becomes of the backbone.
enum class Tune { head, lora, all, scratch };
SINTER_ENUM(Tune, head, lora, all, scratch)

struct Config {
  std::string data = DIGITS_CSV, weights = BACKBONE_PT;
  std::string folder = "finetune", device;
  Tune tune = Tune::head;
  int64_t epochs = 40, batch = 16, images = 100, rank = 4, seed = 1;
  double lr = 5e-3, required_accuracy = 0;
  SINTER_DOC(data, "a CSV file: 64 pixels of 0 to 16, and the digit")
  SINTER_DOC(weights, "a state dict, as torch.save writes it")
  SINTER_DOC(folder, "for checkpoints, logs and the report")
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0; without it the default one")
  SINTER_DOC(tune, "head: the backbone is frozen; lora: it gets adapters; all: "
                   "all is trained; scratch: without the state dict")
  SINTER_DOC(images, "how many images there are to learn from")
  SINTER_CONFIG(Config, data, weights, folder, device, tune, epochs, batch,
                images, rank, seed, lr, required_accuracy)
};

struct Backbone {
  sn::nn::Conv2d conv1{1, 16, 3, {.padding = 1}};
  sn::nn::Conv2d conv2{16, 32, 3, {.padding = 1}};
  sn::nn::MaxPool2d pool{2};
  sn::nn::Linear fc{32 * 4 * 4, 32};

  sn::Tensor forward(const sn::Tensor &images) const {
    sn::Tensor x = pool(sn::relu(conv2(sn::relu(conv1(images)))));
    return sn::relu(fc(sn::reshape(x, {images.dim(0), 32 * 4 * 4})));
  }
  SINTER_MODULE(Backbone, conv1, conv2, pool, fc)
};

struct Net {
  Backbone backbone;
  sn::nn::Linear head{32, Digit::classes};
  sn::Tensor forward(const sn::Tensor &images) const {
    return head(backbone(images));
  }
  SINTER_MODULE(Net, backbone, head)
};

/// Names are PyTorch's already; the head of the file is left out.
static void prepare(Net &net, const Config &config) {
  if (config.tune == Tune::scratch)
    return;
  sn::LoadReport report = sn::load_state(
      net, config.weights, {.only = "^backbone\\.", .strict = false});
  std::cout << report.text();
  if (config.tune == Tune::head)
    std::cout << sn::train::freeze(net, "backbone") << "\n";
  if (config.tune == Tune::lora) {
    std::cout << sn::train::add_lora(net, "backbone.fc.weight",
                                     {.rank = config.rank, .alpha = 8})
              << "\n";
    sn::train::unfreeze(net, "head");
  }
}

static sn::metrics::ClassificationOutput step(const Net &net,
                                              const Batch &batch) {
  sn::Tensor logits = net.forward(batch.images);
  return {sn::cross_entropy(logits, batch.labels), logits, batch.labels};
}

static int run(const Config &config) {
  if (!config.device.empty())
    sn::set_default_device(config.device);
  sn::manual_seed(config.seed);
  auto digits = loadDigits(config.data);
  auto few = sn::data::partial(digits.train, 0, config.images);
  sn::data::DataLoader train(few,
                             {.batch_size = config.batch,
                              .sampler = sn::data::random_sampler(config.seed)},
                             DigitBatcher());
  DigitLoader valid(digits.valid, {.batch_size = 512});

  Net net;
  prepare(net, config);
  std::cout << sn::train::summary(net);
  sn::optim::Adam adam({.lr = config.lr});
  sn::train::Learner learner(net, adam, step,
                             {.name = "finetune",
                              .folder = config.folder,
                              .epochs = config.epochs,
                              .log_every = 5,
                              .config = config.to_json()});
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = Digit::classes}))
      .monitors();
  auto outcome = learner.fit(train, valid);
  int64_t trained = sn::train::num_trainable(net), all = net.num_params();
  if (config.tune == Tune::lora) {
    sn::train::save_lora(net, config.folder + "/adapter_model.safetensors");
    sn::train::merge_lora(net);
  }
  sn::save_model(net, config.folder + "/model");
  std::printf("%lld of %lld numbers trained, accuracy %.2f %%\n",
              static_cast<long long>(trained), static_cast<long long>(all),
              100 * outcome("accuracy"));
  return outcome("accuracy") >= config.required_accuracy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Config>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
