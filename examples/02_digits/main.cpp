/// Handwritten digits: trains a small network with Adam, five times from
/// different beginnings, then saves one and reads it back.
#include "examples/02_digits/Digits.h"
#include "examples/02_digits/Report.h"

#include <sinter/sinter.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace sn = sinter;

struct Mlp {
  sn::nn::Linear fc1{Digits::pixels, 128}, fc2{128, Digits::classes};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(sn::relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};

struct Flags {
  int64_t seeds = 5;
  int64_t epochs = 40;
  std::string data = DIGITS_CSV;
};

struct Outcome {
  Mlp model;
  double accuracy = 0;
  double loss = 0; ///< mean of the last epoch
  double seconds = 0;
};

constexpr int64_t batchSize = 64;
constexpr double requiredAccuracy = 0.96;

/// The share of images whose digit the model finds.
static double accuracy(const Mlp &model, const Digits &digits) {
  Batch batch = digits.all();
  sn::Tensor found = sn::argmax(model.forward(batch.images), 1);
  return sn::mean((found == batch.labels).to(sn::DType::f32)).item<float>();
}

/// One pass over all training rows; gives the mean loss.
static double trainEpoch(Mlp &model, sn::optim::Adam &adam,
                         const Digits &digits, uint64_t order) {
  std::vector<int64_t> rows = sn::data::shuffled(digits.size(), order);
  double total = 0;
  for (int64_t first = 0; first < digits.size(); first += batchSize) {
    int64_t count = std::min(batchSize, digits.size() - first);
    Batch batch = digits.batch(std::span(rows).subspan(first, count));

    sn::Tensor loss =
        sn::cross_entropy(model.forward(batch.images), batch.labels);
    sn::Gradients grads = loss.backward();
    adam.step(model, std::move(grads));
    total += loss.item<float>() * count; // one program: all of the above
  }
  return total / digits.size();
}

static Outcome train(const Split &split, int64_t seed, int64_t epochs) {
  auto begin = std::chrono::steady_clock::now();
  sn::manual_seed(seed);
  Outcome outcome;
  sn::optim::Adam adam({.lr = 0.003});
  ProgressBar bar("seed " + std::to_string(seed), epochs);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    outcome.loss =
        trainEpoch(outcome.model, adam, split.train, seed * 1000 + epoch);
    bar.show(epoch + 1, "loss " + fixed(outcome.loss, 4));
  }
  outcome.accuracy = accuracy(outcome.model, split.test);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  outcome.seconds = time.count();
  return outcome;
}

/// Whether a model that was saved and loaded gives the very same numbers.
static bool survivesFile(const Mlp &model, const Digits &digits) {
  auto path = std::filesystem::temp_directory_path() /
              ("digits-" + std::to_string(getpid()) + ".safetensors");
  model.save(path);
  Mlp loaded;
  loaded.load(path);
  std::filesystem::remove(path);
  Batch batch = digits.all();
  auto before = model.forward(batch.images).to_vector<float>();
  auto after = loaded.forward(batch.images).to_vector<float>();
  return before.size() == after.size() &&
         std::memcmp(before.data(), after.data(),
                     before.size() * sizeof(float)) == 0;
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
    else {
      std::printf("usage: 02_digits [--seeds N] [--epochs N] [--data FILE]\n");
      std::exit(flag == "--help" ? 0 : 2);
    }
  }
  return flags;
}

static int run(const Flags &flags) {
  Split split = loadDigits(flags.data);
  std::vector<std::vector<std::string>> rows;
  double sum = 0, seconds = 0;
  Outcome outcome;
  for (int64_t seed = 1; seed <= flags.seeds; ++seed) {
    outcome = train(split, seed, flags.epochs);
    sum += outcome.accuracy;
    seconds += outcome.seconds;
    rows.push_back({std::to_string(seed), fixed(outcome.loss, 4),
                    fixed(100 * outcome.accuracy, 2) + " %",
                    fixed(outcome.seconds, 2) + " s"});
  }
  double mean = sum / flags.seeds;
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
  bool same = survivesFile(outcome.model, split.test);
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
