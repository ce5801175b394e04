/// A Wasserstein GAN with gradient penalty (Gulrajani et al., 2017): two
/// networks and two optimizers in one step, which learn to draw digits.
#include "examples/02_digits/Digits.h"

#include <sinter/Config.h>
#include <sinter/Datasets.h>
#include <sinter/Train.h>
#include <sinter/sinter.h>

#include <cstdio>
#include <filesystem>
#include <limits>

namespace sn = sinter;

constexpr int64_t pixels = Digit::side * Digit::side;

struct Config {
  std::string data = DIGITS_CSV, folder = "wgan", device;
  int64_t epochs = 60, batch = 64, noise = 32, hidden = 128, seed = 1;
  int64_t critic_steps = 3;
  double lr = 5e-4, penalty = 5;
  double required_distance = std::numeric_limits<double>::infinity();
  SINTER_DOC(data, "a CSV file: 64 pixels of 0 to 16, and the digit")
  SINTER_DOC(folder, "for checkpoints, logs, the report and the pictures")
  SINTER_DOC(device, "cpu, cuda:0, vulkan:0; without it the default one")
  SINTER_DOC(critic_steps, "updates of the critic for one of the generator")
  SINTER_CONFIG(Config, data, folder, device, epochs, batch, noise, hidden,
                seed, critic_steps, lr, penalty, required_distance)
};

/// Noise f32[n,noise] to images f32[n,64] of 0 to 1.
struct Generator {
  sn::nn::Linear fc1, fc2, fc3;
  explicit Generator(const Config &config)
      : fc1(config.noise, config.hidden), fc2(config.hidden, config.hidden),
        fc3(config.hidden, pixels) {}
  sn::Tensor forward(const sn::Tensor &noise) const {
    return sn::sigmoid(fc3(sn::relu(fc2(sn::relu(fc1(noise))))));
  }
  SINTER_MODULE(Generator, fc1, fc2, fc3)
};

/// Images f32[n,64] to how real each looks, f32[n,1].
struct Critic {
  sn::nn::Linear fc1, fc2, fc3;
  explicit Critic(const Config &config)
      : fc1(pixels, config.hidden), fc2(config.hidden, config.hidden),
        fc3(config.hidden, 1) {}
  sn::Tensor forward(const sn::Tensor &images) const {
    auto act = [](const sn::Tensor &x) { return sn::leaky_relu(x, 0.2); };
    return fc3(act(fc2(act(fc1(images)))));
  }
  SINTER_MODULE(Critic, fc1, fc2, fc3)
};

struct Gan {
  Generator generator;
  Critic critic;
  int64_t noise;
  explicit Gan(const Config &config)
      : generator(config), critic(config), noise(config.noise) {}
  /// As many images as `like` has.
  sn::Tensor draw(const sn::Tensor &like) const {
    return generator(sn::normal({like.dim(0), noise}));
  }
  SINTER_MODULE(Gan, generator, critic)
};

/// What a step gives.
struct Output {
  sn::Tensor loss; ///< of the generator; in validation the energy distance
  sn::Tensor gap;  ///< between real and drawn images, as the critic sees it
};

static sn::Tensor flat(const sn::Tensor &images) {
  return sn::reshape(images, {images.dim(0), pixels});
}

/// How far the critic's slope between real and drawn images is from 1.
static sn::Tensor slopePenalty(const Critic &critic, const sn::Tensor &real,
                               const sn::Tensor &drawn) {
  sn::Tensor share = sn::uniform({real.dim(0), 1});
  sn::Tensor between = drawn + share * (real - drawn);
  sn::Tensor slope = sn::grad(sn::sum(critic(between)), {between})[0];
  sn::Tensor length = sn::sqrt(sn::sum(slope * slope, 1) + 1e-12);
  return sn::mean((length - 1) * (length - 1));
}

/// The energy distance of two sets of points (Székely, 2003): 0 where they are
/// drawn alike.
static sn::Tensor energyDistance(const sn::Tensor &a, const sn::Tensor &b) {
  return 2 * sn::mean(sn::cdist(a, b)) - sn::mean(sn::cdist(a, a)) -
         sn::mean(sn::cdist(b, b));
}

/// Draws of the same noise as a sheet of 8 x 8 digits.
static void writeSheet(const Gan &gan, const sn::Tensor &noise,
                       const std::string &file) {
  constexpr int64_t across = 8, zoom = 4, step = zoom * Digit::side + 4;
  std::vector<float> values = gan.generator(noise).to_vector<float>();
  sn::data::Image sheet{across * step, across * step, 1, {}};
  sheet.pixels.resize(sheet.height * sheet.width, 64);
  for (size_t i = 0; i < values.size(); ++i) {
    auto digit = static_cast<int64_t>(i) / pixels;
    auto pixel = static_cast<int64_t>(i) % pixels;
    int64_t top = digit / across * step + 2 + pixel / Digit::side * zoom;
    int64_t left = digit % across * step + 2 + pixel % Digit::side * zoom;
    for (int64_t y = 0; y < zoom; ++y)
      for (int64_t x = 0; x < zoom; ++x)
        sheet.at(top + y, left + x) = static_cast<uint8_t>(255 * values[i]);
  }
  sn::data::write_png(file, sheet);
}

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

  Gan gan(config);
  sn::optim::Adam teacher({.lr = config.lr, .beta1 = 0.5, .beta2 = 0.9});
  sn::optim::Adam artist({.lr = config.lr, .beta1 = 0.5, .beta2 = 0.9});
  auto step = [&](Gan &gan, Batch &batch, sn::train::Updates &update) {
    sn::Tensor real = flat(batch.images), gap;
    for (int64_t i = 0; i < config.critic_steps; ++i) {
      sn::Tensor drawn = gan.draw(real).detach();
      gap = sn::mean(gan.critic(real)) - sn::mean(gan.critic(drawn));
      sn::Tensor penalty = slopePenalty(gan.critic, real, drawn);
      update(teacher, gan.critic, config.penalty * penalty - gap);
    }
    sn::Tensor loss = -sn::mean(gan.critic(gan.draw(real)));
    update(artist, gan.generator, loss);
    return Output{loss, gap};
  };
  sn::train::Learner learner(gan, teacher, step,
                             {.name = "wgan",
                              .folder = config.folder,
                              .epochs = config.epochs,
                              .log_every = 10,
                              .config = config.to_json()});
  auto gapOf = [](const Output &output) {
    return sn::metrics::LossInput{output.gap};
  };
  auto lossOf = [](const Output &output) {
    return sn::metrics::LossInput{output.loss};
  };
  sn::Tensor noise = sn::normal({64, config.noise}).eval();
  std::filesystem::create_directories(config.folder + "/samples");
  learner.optimizer("generator", artist)
      .train_metric(sn::metrics::MeanLoss("critic gap"), gapOf)
      .train_metric(sn::metrics::MeanLoss("generator loss"), lossOf)
      .valid_metric(sn::metrics::MeanLoss("distance"), lossOf)
      .valid_step([](Gan &gan, Batch &batch) {
        sn::Tensor real = flat(batch.images);
        return Output{energyDistance(real, gan.draw(real)), {}};
      })
      .on([&](const sn::train::EpochEnd &end) {
        if (end.split == sn::train::Split::valid && end.epoch % 10 == 0)
          writeSheet(gan, noise,
                     config.folder + "/samples/epoch-" +
                         std::to_string(end.epoch) + ".png");
      })
      .monitors();
  auto outcome = learner.fit(train, valid);
  writeSheet(gan, noise, config.folder + "/samples/last.png");
  sn::save_model(gan.generator, config.folder + "/generator");
  std::printf("energy distance to held-out digits: %.4f\n",
              outcome("distance"));
  return outcome("distance") <= config.required_distance ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(sn::parse_config<Config>(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
