/// Batches that are mixtures.
#include <sinter/data/Mix.h>

#include <sinter/Basic.h>
#include <sinter/Random.h>
#include <sinter/data/Collate.h>
#include <sinter/data/Compose.h>
#include <sinter/data/DataLoader.h>

#include <gtest/gtest.h>

#include <set>

using namespace sinter;

namespace {

using Item = std::pair<std::vector<float>, int64_t>;

/// n images [1,4,4] whose pixels are their number.
std::pair<Tensor, Tensor> batchOf(int64_t n) {
  std::vector<float> pixels;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) {
    pixels.insert(pixels.end(), 16, float(i));
    labels.push_back(i);
  }
  return {tensor(pixels, {n, 1, 4, 4}), tensor(labels, {n})};
}

} // namespace

TEST(Mix, MixupAddsUpImagesAndLabelsByOneShare) {
  manual_seed(1);
  std::set<float> shares;
  for (int i = 0; i < 5; ++i) {
    auto [images, labels] = data::mixup(1.0, 3)(batchOf(3));
    std::vector<float> of = labels.to_vector<float>();
    std::vector<float> pixels = images.to_vector<float>();
    float share = of[0]; // of image 0, whose number is its class
    shares.insert(share);
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
    EXPECT_NEAR(of[2], 1 - share, 1e-6) << "of the one before it";
    EXPECT_NEAR(pixels[0], 2 * (1 - share), 1e-5);
    EXPECT_NEAR(pixels[16], share, 1e-5);
    EXPECT_NEAR(pixels[32], 2 * share + (1 - share), 1e-5);
  }
  EXPECT_EQ(shares.size(), 5u);
}

TEST(Mix, CutmixTakesARectangleAndCountsIt) {
  manual_seed(2);
  int mixed = 0;
  for (int i = 0; i < 10; ++i) {
    auto [images, labels] = data::cutmix(1.0, 2)(batchOf(2));
    std::vector<float> of = labels.to_vector<float>();
    std::vector<float> pixels = images.to_vector<float>();
    int others = 0;
    for (int p = 0; p < 16; ++p) {
      EXPECT_TRUE(pixels[p] == 0 || pixels[p] == 1);
      EXPECT_EQ(pixels[p] + pixels[16 + p], 1) << "both have one rectangle";
      others += pixels[p] == 1;
    }
    EXPECT_NEAR(of[1], others / 16.0, 1e-6);
    mixed += others > 0 && others < 16;
  }
  EXPECT_GT(mixed, 0);
}

TEST(Mix, EveryBatchRunsOneProgram) {
  std::vector<Item> items;
  for (int64_t i = 0; i < 10; ++i)
    items.push_back({std::vector<float>(16, float(i)), i % 5});
  auto batcher = data::compose(
      data::Collate(),
      [](std::pair<Tensor, Tensor> batch) {
        Dim n = batch.first.dim(0);
        return std::pair(reshape(batch.first, {n, 1, 4, 4}), batch.second);
      },
      data::mixup(0.4, 5));
  data::InMemory dataset(items);
  data::DataLoader loader(dataset, {.batch_size = 4, .workers = 2}, batcher);
  auto made = [] { return stats().compiles + stats().disk_hits; };
  uint64_t after = 0;
  double sum = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto &[images, labels] : loader) {
      sum += (mean(images) + mean(labels)).item<float>();
      if (after == 0)
        after = made();
    }
  EXPECT_EQ(made(), after);
  EXPECT_GT(sum, 0);
}

TEST(Mix, OtherBatchesAreErrors) {
  auto wrong = std::pair(ones({2, 3}), tensor(std::vector<int64_t>{0, 1}));
  EXPECT_THROW(data::mixup(1, 2)(wrong), Error);
  EXPECT_THROW(data::mixup(0, 2), Error);
  EXPECT_THROW(data::cutmix(1, 0), Error);
}
