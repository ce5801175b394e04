/// Handwritten digits: trains a small convolutional network with Adam, a few
/// times from different beginnings, then saves one and reads it back. It can
/// also write one as a file that runs without a compiler (see 06_deploy_c).
#include "examples/02_digits/Digits.h"
#include "examples/02_digits/Table.h"

#include <sinter/sinter.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace sn = sinter;

/// The network of the Burn Book's guide, for images of 8x8 instead of 28x28.
struct Model {
  sn::nn::Conv2d conv1{1, 8, 3, {.padding = 1}};
  sn::nn::Conv2d conv2{8, 16, 3, {.padding = 1}};
  sn::nn::AdaptiveAvgPool2d pool{4};
  sn::nn::Dropout dropout{0.25};
  sn::nn::Linear linear1{16 * 4 * 4, 64};
  sn::nn::Linear linear2{64, Digit::classes};

  /// Images [n,1,8,8] to scores [n,10].
  sn::Tensor forward(const sn::Tensor &images) const {
    sn::Tensor x = sn::relu(conv1(images));
    x = sn::relu(conv2(x));
    x = sn::reshape(pool(x), {images.dim(0), 16 * 4 * 4});
    x = dropout(sn::relu(linear1(x)));
    return linear2(x);
  }
  SINTER_MODULE(Model, conv1, conv2, pool, dropout, linear1, linear2)
};

struct Flags {
  int64_t seeds = 3;
  int64_t epochs = 20;
  std::string data = DIGITS_CSV;
  std::string exported; ///< a model file to write, or empty
};

struct Outcome {
  Model model;
  double accuracy = 0;
  double loss = 0; ///< mean of the last epoch
  double seconds = 0;
};

constexpr int64_t batchSize = 64;
constexpr double requiredAccuracy = 0.96;

/// The share of images whose digit the model finds.
static double accuracy(const Model &model, const Digits &digits) {
  DigitLoader loader(digits, {.batch_size = 256});
  double found = 0;
  for (Batch &batch : loader) {
    sn::Tensor best = sn::argmax(model.forward(batch.images), 1);
    found += sn::sum((best == batch.labels).to(sn::DType::i64)).item<double>();
  }
  return found / static_cast<double>(digits.size());
}

/// One pass over all training images; gives the mean loss.
static double trainEpoch(Model &model, sn::optim::Adam &adam,
                         DigitLoader &loader) {
  double total = 0;
  for (Batch &batch : loader) {
    sn::Tensor loss =
        sn::cross_entropy(model.forward(batch.images), batch.labels);
    sn::Gradients grads = loss.backward();
    adam.step(model, std::move(grads));
    // One program: all of the above.
    total += loss.item<double>() * static_cast<double>(batch.labels.numel());
  }
  return total / static_cast<double>(loader.dataset().size());
}

static Outcome train(const Digits &digits, const Digits &test, int64_t seed,
                     int64_t epochs) {
  auto begin = std::chrono::steady_clock::now();
  sn::manual_seed(seed);
  Outcome outcome;
  sn::optim::Adam adam({.lr = 0.003});
  DigitLoader loader(digits, {.batch_size = batchSize,
                              .workers = 1,
                              .sampler = sn::data::random_sampler(seed)});
  sn::data::ProgressBar bar("seed " + std::to_string(seed), epochs);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    outcome.loss = trainEpoch(outcome.model, adam, loader);
    bar.show(epoch + 1, "loss " + fixed(outcome.loss, 4));
  }
  outcome.model.eval();
  outcome.accuracy = accuracy(outcome.model, test);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  outcome.seconds = time.count();
  return outcome;
}

/// Whether a model that was saved and loaded gives the very same numbers.
static bool survivesFile(const Model &model, const Digits &digits) {
  auto path = std::filesystem::temp_directory_path() /
              ("digits-" + std::to_string(getpid()) + ".safetensors");
  model.save(path);
  Model loaded;
  loaded.load(path);
  loaded.eval();
  std::filesystem::remove(path);
  DigitLoader loader(digits, {.batch_size = digits.size()});
  Batch batch = *loader.begin();
  auto before = model.forward(batch.images).to_vector<float>();
  auto after = loaded.forward(batch.images).to_vector<float>();
  return before.size() == after.size() &&
         std::memcmp(before.data(), after.data(),
                     before.size() * sizeof(float)) == 0;
}

/// From pixels of 0 to 16, of any number of images, to digits: for processors
/// with AVX2, and for this one.
static void exportTo(const std::string &path, const Model &model) {
  auto predict = [&](const sn::Tensor &pixels) {
    return sn::argmax(model.forward(pixels / 16), 1);
  };
  sn::ModelExport file;
  file.name(model);
  file.add("main", predict, sn::zeros({64, 1, Digit::side, Digit::side}),
           {.inputs = {"pixels"},
            .outputs = {"digits"},
            .dynamic = {"pixels:0=images"},
            .description = "the digits on images of 8x8 pixels of 0 to 16"});
  file.write(path, {.targets = {"cpu:x86-64-v3", "cpu"}});
  std::printf("%s: written\n", path.c_str());
}

static int64_t atLeastOne(const char *text) {
  return std::max<int64_t>(1, std::strtoll(text, nullptr, 10));
}

static Flags parse(int argc, char **argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    bool last = i + 1 == argc;
    if (flag == "--seeds" && !last)
      flags.seeds = atLeastOne(argv[++i]);
    else if (flag == "--epochs" && !last)
      flags.epochs = atLeastOne(argv[++i]);
    else if (flag == "--data" && !last)
      flags.data = argv[++i];
    else if (flag == "--export" && !last)
      flags.exported = argv[++i];
    else {
      std::printf("usage: 02_digits [--seeds N] [--epochs N] [--data FILE] "
                  "[--export FILE.sinter]\n");
      std::exit(flag == "--help" ? 0 : 2);
    }
  }
  return flags;
}

static int run(const Flags &flags) {
  auto digits = loadDigits(flags.data);
  std::vector<std::vector<std::string>> rows;
  double sum = 0, seconds = 0;
  Outcome outcome;
  for (int64_t seed = 1; seed <= flags.seeds; ++seed) {
    outcome = train(digits.train, digits.valid, seed, flags.epochs);
    sum += outcome.accuracy;
    seconds += outcome.seconds;
    rows.push_back({std::to_string(seed), fixed(outcome.loss, 4),
                    fixed(100 * outcome.accuracy, 2) + " %",
                    fixed(outcome.seconds, 2) + " s"});
  }
  double mean = sum / static_cast<double>(flags.seeds);
  rows.push_back(
      {"mean", "", fixed(100 * mean, 2) + " %", fixed(seconds, 2) + " s"});
  printTable({"seed", "loss", "test accuracy", "time"}, rows);

  sn::Stats stats = sn::stats();
  std::printf("%lld parameters, %llu programs compiled, %llu run, %llu kernel "
              "launches\n",
              static_cast<long long>(outcome.model.num_params()),
              static_cast<unsigned long long>(stats.compiles),
              static_cast<unsigned long long>(stats.programs_run),
              static_cast<unsigned long long>(stats.launches));
  if (!flags.exported.empty())
    exportTo(flags.exported, outcome.model);
  bool same = survivesFile(outcome.model, digits.valid);
  std::printf("saved, loaded, predicted again: %s\n",
              same ? "bit for bit the same" : "different");
  return same && mean >= requiredAccuracy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return run(parse(argc, argv));
} catch (const sn::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
