/// Small real tasks: the accuracy that plain PyTorch models reach, as
/// `data/baselines.json` of the folder SINTER_SUITES has it, is met within
/// 0.01.
#include "runtime/params/Json.h"
#include "tests/e2e/baselines/MnistFiles.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace sn = sinter;
namespace json = sinter::runtime::json;
namespace fs = std::filesystem;
using baselines::Mnist;
using baselines::MnistImage;

using Seconds = std::chrono::duration<double>;

namespace {

constexpr double tolerance = 0.01;
constexpr uint64_t seeds = 20;

/// Features and class of one row.
using Row = std::pair<std::vector<float>, int64_t>;
using Rows = sn::data::Subset<sn::data::InMemory<Row>>;

struct Mlp {
  sn::nn::Linear fc1, fc2;
  Mlp(int64_t in, int64_t hidden, int64_t out)
      : fc1(in, hidden), fc2(hidden, out) {}
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(sn::relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};

/// For square images of `side`, given as rows or as images.
struct Cnn {
  int64_t side;
  sn::nn::Conv2d conv1{1, 8, 3, {.padding = 1}},
      conv2{8, 16, 3, {.padding = 1}};
  sn::nn::MaxPool2d pool{2};
  sn::nn::Linear fc;
  explicit Cnn(int64_t side) : side(side), fc(side * side, 10) {}
  sn::Tensor forward(const sn::Tensor &x) const {
    sn::Tensor y = sn::reshape(x, {x.dim(0), 1, side, side});
    y = pool(sn::relu(conv1(y)));
    y = pool(sn::relu(conv2(y)));
    return fc(sn::reshape(y, {x.dim(0), side * side}));
  }
  SINTER_MODULE(Cnn, conv1, conv2, pool, fc)
};

template <typename Model, typename Loader>
void trainEpoch(Model &model, sn::optim::Adam &adam, Loader &loader) {
  for (auto &[x, labels] : loader) {
    sn::Tensor loss = sn::cross_entropy(model.forward(x), labels);
    adam.step(model, loss.backward());
    loss.eval();
  }
}

template <typename Model, typename Loader>
double accuracy(const Model &model, Loader &loader) {
  double right = 0, all = 0;
  for (auto &[x, labels] : loader) {
    sn::Tensor found = sn::argmax(model.forward(x), 1) == labels;
    right += sn::sum(found.to(sn::DType::i64)).template item<double>();
    all += static_cast<double>(labels.numel());
  }
  return right / all;
}

class Baselines : public testing::Test {
protected:
  void SetUp() override {
    const char *suites = std::getenv("SINTER_SUITES");
    if (!suites)
      GTEST_SKIP() << "SINTER_SUITES is not set";
    folder = fs::path(suites) / "data";
    std::ifstream in(folder / "baselines.json");
    std::string text(std::istreambuf_iterator<char>(in), {});
    auto parsed = json::parse(text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    known = std::move(*parsed);
  }

  std::vector<double> numbers(const char *set, const char *key) const {
    const json::Value *list = known.find(set)->find(key);
    std::vector<double> values;
    for (const json::Value &element : list->elements)
      values.push_back(element.number);
    return values;
  }

  /// Rows with a header and the class in the last column; features have mean
  /// 0 and deviation 1 over the rows to train on (i % 5 != 4).
  sn::data::Split<sn::data::InMemory<Row>> load(const std::string &set) const {
    sn::data::CsvDataset table(folder / "tabular" / (set + ".csv"));
    std::vector<Row> rows;
    for (int64_t i = 0; i < table.size(); ++i) {
      std::span<const double> row = table.get(i);
      rows.push_back(
          {{row.begin(), row.end() - 1}, static_cast<int64_t>(row.back())});
    }
    for (size_t j = 0; j < rows[0].first.size(); ++j) {
      double sum = 0, squares = 0, count = 0;
      for (size_t i = 0; i < rows.size(); ++i)
        if (double x = rows[i].first[j]; i % 5 != 4) {
          sum += x;
          squares += x * x;
          ++count;
        }
      double mean = sum / count;
      double deviation = std::sqrt(squares / count - mean * mean);
      for (Row &row : rows)
        row.first[j] = static_cast<float>((row.first[j] - mean) /
                                          (deviation > 0 ? deviation : 1));
    }
    return sn::data::split_every(sn::data::InMemory(std::move(rows)), 5);
  }

  /// Trains a model of each seed. Their mean lies in the band that PyTorch's
  /// five seeds make, or is at most 0.01 below. A single one says little: where
  /// there are 30 rows to test on, as of iris, each is 0.033. There 60 seeds of
  /// PyTorch 2.15 by this recipe, whose first five are those of the file, have
  /// the mean 0.9489 and the least 0.9, and 60 of ours 0.9433 and 0.9: the
  /// standard errors are 0.003.
  template <typename MakeModel>
  void expectBand(const char *set, int64_t epochs, double lr,
                  const MakeModel &makeModel) const {
    auto rows = load(set);
    std::vector<double> expected = numbers(set, "accuracy_5_seeds"), found;
    std::vector<double> times;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      auto begin = std::chrono::steady_clock::now();
      sn::manual_seed(seed);
      auto model = makeModel();
      sn::optim::Adam adam({.lr = lr});
      sn::data::DataLoader loader(
          rows.train,
          {.batch_size = 32, .sampler = sn::data::random_sampler(seed)});
      for (int64_t epoch = 0; epoch < epochs; ++epoch)
        trainEpoch(model, adam, loader);
      sn::data::DataLoader test(rows.valid, {.batch_size = 512});
      found.push_back(accuracy(model, test));
      times.push_back(
          Seconds(std::chrono::steady_clock::now() - begin).count());
    }
    auto mean = [](const std::vector<double> &values) {
      return std::accumulate(values.begin(), values.end(), 0.0) /
             static_cast<double>(values.size());
    };
    std::printf("%s: mean %.4f (PyTorch %.4f), least %.4f (%.4f)\n", set,
                mean(found), mean(expected), *std::ranges::min_element(found),
                *std::ranges::min_element(expected));
    std::printf("%s: %.3f s for the first, %.3f s for the shortest training\n",
                set, times.front(), *std::ranges::min_element(times));
    EXPECT_GE(mean(found), *std::ranges::min_element(expected) - tolerance);
  }

  fs::path folder;
  json::Value known;
};

} // namespace

TEST_F(Baselines, Iris) {
  expectBand("iris", 150, 0.01, [] { return Mlp(4, 16, 3); });
}

TEST_F(Baselines, Wine) {
  expectBand("wine", 60, 0.01, [] { return Mlp(13, 16, 3); });
}

TEST_F(Baselines, BreastCancer) {
  expectBand("breast_cancer", 40, 0.01, [] { return Mlp(30, 16, 2); });
}

TEST_F(Baselines, DigitsByAnMlp) {
  expectBand("digits8x8", 30, 0.003, [] { return Mlp(64, 64, 10); });
}

TEST_F(Baselines, DigitsByConvolutions) {
  expectBand("digits8x8", 15, 0.003, [] { return Cnn(8); });
}

TEST_F(Baselines, MnistByConvolutionsInOneEpoch) {
  Mnist train(folder / "mnist", "train"), test(folder / "mnist", "t10k");
  auto toBatch = [](std::vector<MnistImage> images) {
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    pixels.reserve(images.size() * Mnist::side * Mnist::side);
    for (const MnistImage &image : images) {
      for (int64_t i = 0; i < Mnist::side * Mnist::side; ++i)
        pixels.push_back(static_cast<float>(image.pixels[i]) / 255);
      labels.push_back(image.label);
    }
    auto count = static_cast<int64_t>(images.size());
    return std::pair(sn::tensor(pixels, {count, 1, Mnist::side, Mnist::side}),
                     sn::tensor(labels, {count}));
  };
  sn::manual_seed(1);
  Cnn model(Mnist::side);
  sn::optim::Adam adam({.lr = 1e-3});
  sn::data::DataLoader loader(
      train, {.batch_size = 64, .sampler = sn::data::random_sampler(1)},
      toBatch);
  auto begin = std::chrono::steady_clock::now();
  trainEpoch(model, adam, loader);
  sn::data::DataLoader testLoader(test, {.batch_size = 500}, toBatch);
  double found = accuracy(model, testLoader);
  Seconds time = std::chrono::steady_clock::now() - begin;
  double expected = numbers("mnist", "cnn_8_16_adam_1e-3_batch64_1_epoch")[0];
  std::printf("mnist: %.4f (PyTorch %.4f), %.2f s for the epoch and the test\n",
              found, expected, time.count());
  EXPECT_GE(found, expected - tolerance);
}
