/// Reads images of digits.
#include "examples/12_hybrid_trainer/Images.h"

#include <sinter/Datasets.h>

namespace sn = sinter;

Batch ImageBatcher::operator()(std::vector<Image> images) const {
  std::vector<float> pixels;
  std::vector<int64_t> labels;
  for (const Image &image : images) {
    pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
    labels.push_back(image.label);
  }
  auto count = static_cast<int64_t>(images.size());
  auto width = static_cast<int64_t>(images.front().pixels.size());
  return {sn::tensor(pixels, {count, width}), sn::tensor(labels, {count})};
}

ImageSets loadDigits(const std::string &csv) {
  sn::data::CsvDataset rows(csv);
  ImageSets sets;
  for (int64_t i = 0; i < rows.size(); ++i) {
    std::span<const double> row = rows.get(i);
    Image image{.pixels = {}, .label = static_cast<int64_t>(row.back())};
    for (double pixel : row.first(row.size() - 1))
      image.pixels.push_back(static_cast<float>(pixel / 16));
    (i % 5 == 4 ? sets.test : sets.train).push_back(std::move(image));
  }
  return sets;
}

static std::vector<Image> imagesOf(const sn::data::Mnist &mnist) {
  std::vector<Image> images;
  for (int64_t i = 0; i < mnist.size(); ++i) {
    auto [image, label] = mnist.get(i);
    std::vector<float> pixels(image.pixels.begin(), image.pixels.end());
    for (float &pixel : pixels)
      pixel /= 255;
    images.push_back({std::move(pixels), label});
  }
  return images;
}

ImageSets loadMnist(const std::string &folder) {
  return {imagesOf(sn::data::Mnist(folder)),
          imagesOf(sn::data::Mnist(folder, false))};
}
