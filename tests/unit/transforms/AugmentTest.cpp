/// Random transforms: what they draw, and that the loader's seed decides it.
#include <sinter/data/Transforms.h>

#include <sinter/Random.h>
#include <sinter/data/DataLoader.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace sinter;
using data::Image;

namespace {

Image colours(int64_t height, int64_t width) {
  Image image{height, width, 3, {}};
  for (int64_t i = 0; i < height * width * 3; ++i)
    image.pixels.push_back(uint8_t(i * 37 % 251));
  return image;
}

std::vector<data::LabeledImage> pictures(int64_t count) {
  std::vector<data::LabeledImage> all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back({colours(12, 14), i});
  return all;
}

/// Everything that draws.
auto everything() {
  return data::compose(
      data::random_resized_crop(10), data::random_crop(8, {.padding = 2}),
      data::flip(), data::vertical_flip(), data::random_rotation(20),
      data::color_jitter({0.4, 0.4, 0.4, 0.1}), data::random_grayscale(),
      data::gaussian_blur(3), data::random_erasing({.noise = true}),
      data::random_choice({data::pad(0), data::flip(1)}),
      data::normalize({0.5}, {0.25}));
}

std::vector<float> batchesOf(int64_t workers, uint64_t seed) {
  data::DataLoader loader(data::map(data::InMemory(pictures(20)), everything()),
                          {.batch_size = 6, .workers = workers, .seed = seed});
  std::vector<float> all;
  for (auto &[images, labels] : loader) {
    EXPECT_EQ(images.rank(), 4);
    EXPECT_EQ(images.dim(3).value, 8);
    std::vector<float> values = images.to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
    values = labels.to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

} // namespace

TEST(Augment, TheLoadersSeedDecidesWhateverTheNumberOfWorkers) {
  std::vector<float> expected = batchesOf(0, 5);
  EXPECT_EQ(expected.size(), 20u * (3 * 8 * 8 + 1));
  for (int64_t workers : {1, 2, 3})
    EXPECT_EQ(batchesOf(workers, 5), expected) << workers;
  EXPECT_NE(batchesOf(2, 6), expected);
}

TEST(Augment, ItemsDrawNumbersOfTheirOwn) {
  data::DataLoader loader(
      data::map(data::InMemory(pictures(64)),
                data::compose(data::random_crop(5, {.padding = 1}),
                              data::to_planes())),
      {.batch_size = 64});
  for (auto &[images, labels] : loader) {
    std::vector<float> all = images.to_vector<float>();
    std::set<std::vector<float>> distinct;
    for (size_t i = 0; i < 64; ++i)
      distinct.insert({all.begin() + i * 75, all.begin() + (i + 1) * 75});
    EXPECT_GT(distinct.size(), 30u);
  }
}

TEST(Augment, ProbabilitiesAreKept) {
  manual_seed(1);
  Image image = colours(2, 3), other = data::flipped(image);
  int flipped = 0;
  for (int i = 0; i < 2000; ++i) {
    Image made = data::flip(0.3)(image);
    flipped += made == other;
    EXPECT_TRUE(made == other || made == image);
  }
  EXPECT_NEAR(flipped, 600, 5 * 21);
  EXPECT_EQ(data::flip(0)(image), image);
  EXPECT_EQ(data::flip(1)(image), other);
  EXPECT_EQ(data::random_apply(0, data::pad(3))(image), image);
}

TEST(Augment, ACropIsEverywhereEquallyOften) {
  manual_seed(2);
  Image image{3, 3, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  std::map<std::vector<uint8_t>, int> places;
  for (int i = 0; i < 4000; ++i)
    ++places[data::random_crop(2)(image).pixels];
  EXPECT_EQ(places.size(), 4u);
  for (auto &[place, times] : places)
    EXPECT_NEAR(times, 1000, 5 * 28);
  places.clear();
  for (int i = 0; i < 4000; ++i)
    ++places[data::random_crop(3, {.padding = 1})(image).pixels];
  EXPECT_EQ(places.size(), 9u);
}

TEST(Augment, AResizedCropHasItsSize) {
  manual_seed(3);
  auto crop = data::random_resized_crop(7);
  std::set<std::vector<uint8_t>> distinct;
  for (int i = 0; i < 50; ++i) {
    Image made = crop(colours(20, 31));
    EXPECT_EQ(made.height, 7);
    EXPECT_EQ(made.width, 7);
    distinct.insert(made.pixels);
  }
  EXPECT_GT(distinct.size(), 45u);
  // No part of a long image is nearly square and has all of its pixels.
  Image middle =
      data::random_resized_crop(4, {.scale = {1, 1}})(colours(4, 30));
  EXPECT_EQ(middle.width, 4);
}

TEST(Augment, ErasingChangesARectangle) {
  manual_seed(4);
  Image image{20, 30, 1, std::vector<uint8_t>(600, 200)};
  auto erase = data::random_erasing({.p = 1, .scale = {0.1, 0.2}, .value = 5});
  for (int i = 0; i < 20; ++i) {
    Image made = erase(image);
    int64_t erased = std::ranges::count(made.pixels, 5);
    EXPECT_NEAR(double(erased) / 600, 0.15, 0.07);
    EXPECT_EQ(erased + std::ranges::count(made.pixels, 200), 600);
  }
  EXPECT_EQ(data::random_erasing({.p = 0})(image), image);
}

TEST(Augment, WhatATransformRefusesNamesItsLineInTheLoop) {
  auto small = data::random_crop(40);
  data::DataLoader loader(data::map(data::InMemory(pictures(4)),
                                    data::compose(small, data::to_planes())),
                          {.batch_size = 2, .workers = 2});
  try {
    loader.begin();
    FAIL() << "accepted";
  } catch (const data::LoaderError &error) {
    EXPECT_EQ(error.item(), 0);
    EXPECT_NE(error.message().find("random_crop: 40 x 40 pixels of 12 x 14"),
              std::string::npos)
        << error.message();
    EXPECT_NE(error.message().find("AugmentTest.cpp:"), std::string::npos)
        << error.message();
  }
}
