/// Reads images of digits.
#include "examples/12_hybrid_trainer/Images.h"

#include <algorithm>

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

static std::vector<Image> loadFile(const std::string &file) {
  auto arrays = sn::data::read_npz(file);
  const sn::Tensor &images = arrays.at("images"), &labels = arrays.at("labels");
  double scale = images.dtype() == sn::DType::u8 ? 255 : 1;
  auto pixels = images.to_vector<float>();
  auto digits = labels.to_vector<int64_t>();
  size_t width = digits.empty() ? 0 : pixels.size() / digits.size();
  std::vector<Image> all;
  for (size_t i = 0; i < digits.size(); ++i) {
    Image image{.pixels = {}, .label = digits[i]};
    for (size_t j = 0; j < width; ++j)
      image.pixels.push_back(static_cast<float>(pixels[i * width + j] / scale));
    all.push_back(std::move(image));
  }
  return all;
}

ImageSets loadFolder(const std::string &folder) {
  return {loadFile(folder + "/train.npz"), loadFile(folder + "/test.npz")};
}
