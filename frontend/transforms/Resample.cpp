/// Images in other sizes, by separable filters in fixed point, as Pillow has
/// them: weights of 22 bits, rows first, samples of 8 bits between.
#include <sinter/data/Pixels.h>

#include "frontend/transforms/NewImage.h"

#include <sinter/Held.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sinter::data {

namespace {

constexpr int bits = 32 - 8 - 2;

/// What each output reads of a row or column: the same number of weights each,
/// the last of which may be 0.
struct Taps {
  int64_t each = 0;
  std::vector<int64_t> first, count;
  std::vector<int32_t> weights;
};

double bilinear(double x) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

Taps tapsOf(int64_t from, int64_t to, Filter filter) {
  bool isCubic = filter == Filter::bicubic;
  double scale = double(from) / double(to), filterScale = std::max(scale, 1.0);
  double support = (isCubic ? 2.0 : 1.0) * filterScale;
  Taps taps;
  taps.each = int64_t(std::ceil(support)) * 2 + 1;
  taps.weights.assign(static_cast<size_t>(to * taps.each), 0);
  std::vector<double> row(static_cast<size_t>(taps.each));
  for (int64_t i = 0; i < to; ++i) {
    double center = (double(i) + 0.5) * scale, sum = 0;
    auto first =
        std::max<int64_t>(int64_t(std::floor(center - support + 0.5)), 0);
    int64_t count =
        std::min(int64_t(std::floor(center + support + 0.5)), from) - first;
    for (int64_t k = 0; k < count; ++k) {
      double at = (double(k + first) - center + 0.5) * (1 / filterScale);
      sum += row[size_t(k)] = isCubic ? bicubic(at) : bilinear(at);
    }
    for (int64_t k = 0; k < count; ++k) {
      double weight = sum != 0 ? row[size_t(k)] / sum : row[size_t(k)];
      taps.weights[size_t(i * taps.each + k)] =
          int32_t((weight < 0 ? -0.5 : 0.5) + weight * (1 << bits));
    }
    taps.first.push_back(first);
    taps.count.push_back(count);
  }
  return taps;
}

uint8_t clipped(int32_t sum) {
  return uint8_t(std::clamp(sum >> bits, 0, 255));
}

template <int channels>
void resizeRow(const uint8_t *from, uint8_t *to, const Taps &taps) {
  auto width = int64_t(taps.first.size());
  for (int64_t x = 0; x < width; ++x) {
    const int32_t *weights = taps.weights.data() + x * taps.each;
    const uint8_t *pixel = from + taps.first[size_t(x)] * channels;
    int32_t sums[channels];
    std::fill_n(sums, channels, 1 << (bits - 1));
    for (int64_t k = 0; k < taps.count[size_t(x)]; ++k)
      for (int c = 0; c < channels; ++c)
        sums[c] += pixel[k * channels + c] * weights[k];
    for (int c = 0; c < channels; ++c)
      to[x * channels + c] = clipped(sums[c]);
  }
}

Image resizedRows(const Image &image, int64_t width, Filter filter,
                  const SourceLine &where) {
  Image result =
      detail::newImage(image.height, width, image.channels, "resized", where);
  Taps taps = tapsOf(image.width, width, filter);
  auto *row = image.channels == 1   ? &resizeRow<1>
              : image.channels == 3 ? &resizeRow<3>
                                    : &resizeRow<4>;
  for (int64_t y = 0; y < image.height; ++y)
    row(image.pixels.data() + y * image.width * image.channels,
        result.pixels.data() + y * width * image.channels, taps);
  return result;
}

Image resizedColumns(const Image &image, int64_t height, Filter filter,
                     const SourceLine &where) {
  Image result =
      detail::newImage(height, image.width, image.channels, "resized", where);
  Taps taps = tapsOf(image.height, height, filter);
  int64_t row = image.width * image.channels;
  std::vector<int32_t> sums(static_cast<size_t>(row));
  for (int64_t y = 0; y < height; ++y) {
    std::ranges::fill(sums, 1 << (bits - 1));
    for (int64_t k = 0; k < taps.count[size_t(y)]; ++k) {
      int32_t weight = taps.weights[size_t(y * taps.each + k)];
      const uint8_t *from =
          image.pixels.data() + (taps.first[size_t(y)] + k) * row;
      for (int64_t i = 0; i < row; ++i)
        sums[size_t(i)] += from[i] * weight;
    }
    uint8_t *to = result.pixels.data() + y * row;
    for (int64_t i = 0; i < row; ++i)
      to[i] = clipped(sums[size_t(i)]);
  }
  return result;
}

Image nearest(const Image &image, int64_t height, int64_t width,
              const SourceLine &where) {
  Image result =
      detail::newImage(height, width, image.channels, "resized", where);
  auto pixel = size_t(image.channels);
  auto place = [](int64_t i, int64_t from, int64_t to) {
    return std::min(int64_t((double(i) + 0.5) * (double(from) / double(to))),
                    from - 1);
  };
  std::vector<int64_t> columns;
  for (int64_t x = 0; x < width; ++x)
    columns.push_back(place(x, image.width, width) * image.channels);
  uint8_t *to = result.pixels.data();
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t *row = image.pixels.data() + place(y, image.height, height) *
                                                   image.width * image.channels;
    for (int64_t column : columns) {
      std::memcpy(to, row + column, pixel);
      to += pixel;
    }
  }
  return result;
}

} // namespace

Image resized(const Image &image, int64_t height, int64_t width, Filter filter,
              std::source_location where) try {
  detail::checkPixels(image, "resized", where);
  if (height < 1 || width < 1)
    detail::refuseImage("resized", "a size of 0 or less", where);
  detail::checkSize(height, width, "resized", where);
  if (height == image.height && width == image.width)
    return image;
  if (filter == Filter::nearest)
    return nearest(image, height, width, where);
  if (width == image.width)
    return resizedColumns(image, height, filter, where);
  Image rows = resizedRows(image, width, filter, where);
  return height == image.height ? rows
                                : resizedColumns(rows, height, filter, where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
