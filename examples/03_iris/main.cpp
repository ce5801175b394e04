/// Irises: trains a small network and writes a record of the run, from which a
/// run that was ended goes on to the very same weights.
#include <sinter/Config.h>
#include <sinter/sinter.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace sn = sinter;
namespace fs = std::filesystem;

constexpr int64_t measures = 4, kinds = 3;
constexpr int64_t recordEvery = 5; // epochs
constexpr double requiredAccuracy = 0.9;

struct Mlp {
  sn::nn::Linear fc1{measures, 16}, fc2{16, kinds};
  sn::nn::Dropout dropout{0.1};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(dropout(sn::relu(fc1(x))));
  }
  SINTER_MODULE(Mlp, fc1, fc2, dropout)
};

/// The four measures and the kind; batches are pairs of tensors.
using Flower = std::pair<std::array<float, measures>, int64_t>;
using Flowers = sn::data::Subset<sn::data::InMemory<Flower>>;
using Loader = sn::data::DataLoader<Flowers>;

/// Every fifth flower is for testing. The measures have mean 0 and deviation 1
/// over those to train on.
static sn::data::Split<sn::data::InMemory<Flower>>
loadFlowers(const std::string &path) {
  sn::data::CsvDataset rows(path);
  std::vector<Flower> flowers(rows.size());
  for (int64_t i = 0; i < rows.size(); ++i)
    flowers[i].second = static_cast<int64_t>(rows.get(i)[measures]);
  for (int64_t measure = 0; measure < measures; ++measure) {
    double sum = 0, squares = 0, count = 0;
    for (int64_t i = 0; i < rows.size(); ++i)
      if (double value = rows.get(i)[measure]; i % 5 != 4) {
        sum += value;
        squares += value * value;
        ++count;
      }
    double mean = sum / count;
    double deviation = std::sqrt(squares / count - mean * mean);
    for (int64_t i = 0; i < rows.size(); ++i)
      flowers[i].first[measure] =
          static_cast<float>((rows.get(i)[measure] - mean) / deviation);
  }
  return sn::data::split_every(sn::data::InMemory(std::move(flowers)), 5);
}

struct Flags {
  int64_t epochs = 60;
  std::string record, weights, data = IRIS_CSV;
  SINTER_DOC(record, "a file for the run; none is written without one")
  SINTER_DOC(weights, "a file for the final weights")
  SINTER_CONFIG(Flags, epochs, record, weights, data)
};

/// All that a run consists of.
struct Run {
  Mlp model;
  sn::optim::Adam adam{{.lr = 0.01}};
  Loader loader;

  explicit Run(const Flowers &flowers)
      : loader(flowers, {.batch_size = 16,
                         .workers = 1,
                         .sampler = sn::data::random_sampler(7)}) {}

  sn::Record record() const {
    sn::Record record;
    record.put("model", model);
    record.put("optimizer", adam);
    record.put("data", loader);
    record.put("random", sn::default_generator());
    return record;
  }
  void load(const sn::Record &record) {
    record.get("model", model);
    record.get("optimizer", adam, model);
    record.get("data", loader);
    record.get("random", sn::default_generator());
  }
};

/// One epoch; the mean loss of its batches.
static double trainEpoch(Run &run) {
  double total = 0;
  for (auto &[flowers, labels] : run.loader) {
    sn::Tensor loss = sn::cross_entropy(run.model.forward(flowers), labels);
    run.adam.step(run.model, loss.backward());
    total += loss.item<double>();
  }
  return total / static_cast<double>(run.loader.size());
}

/// All flowers as one batch.
static std::pair<sn::Tensor, sn::Tensor> allOf(const Flowers &flowers) {
  Loader loader(flowers, {.batch_size = flowers.size()});
  return *loader.begin();
}

static double accuracy(const Mlp &model, const Flowers &test) {
  auto [flowers, labels] = allOf(test);
  sn::Tensor found = sn::argmax(model.forward(flowers), 1) == labels;
  return sn::mean(found.to(sn::DType::f64)).item<double>();
}

/// `1.50e-3`
static std::string scientific(double value) {
  int exponent =
      value == 0 ? 0
                 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  char text[64];
  std::snprintf(text, sizeof(text), "%.2fe%d", value / std::pow(10.0, exponent),
                exponent);
  return text;
}

/// The largest difference of the scores of a model and of what comes back from
/// its file.
static double differenceAfterLoad(const Mlp &model, const Flowers &test) {
  fs::path path = fs::temp_directory_path() /
                  ("iris-" + std::to_string(getpid()) + ".safetensors");
  model.save(path);
  Mlp loaded;
  loaded.load(path);
  loaded.eval();
  fs::remove(path);
  sn::Tensor flowers = allOf(test).first;
  return sn::amax(sn::abs(model.forward(flowers) - loaded.forward(flowers)))
      .item<double>();
}

static int train(const Flags &flags) {
  auto flowers = loadFlowers(flags.data);
  sn::manual_seed(1);
  Run run(flowers.train);
  if (!flags.record.empty() && fs::exists(flags.record)) {
    run.load(sn::Record::load(flags.record));
    std::printf("going on from epoch %lld\n",
                static_cast<long long>(run.loader.cursor().epoch));
  }
  while (run.loader.cursor().epoch < flags.epochs) {
    double loss = trainEpoch(run);
    int64_t done = run.loader.cursor().epoch;
    if (done % recordEvery != 0 && done != flags.epochs)
      continue;
    std::printf("epoch %3lld  loss %.4f\n", static_cast<long long>(done), loss);
    if (!flags.record.empty())
      run.record().save(flags.record);
  }
  if (!flags.weights.empty())
    run.model.save(flags.weights);
  run.model.eval();
  double share = accuracy(run.model, flowers.valid);
  double difference = differenceAfterLoad(run.model, flowers.valid);
  std::printf("test accuracy: %.2f %%\n", 100 * share);
  std::printf("difference after save and load: %s\n",
              scientific(difference).c_str());
  return difference == 0 && share >= requiredAccuracy ? 0 : 1;
}

int main(int argc, char **argv) try {
  return train(sn::parse_config<Flags>(argc, argv));
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
