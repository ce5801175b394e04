/// Blurs by a Gaussian: rows first, then columns, in f32 between.
#include <sinter/data/Pixels.h>

#include "frontend/transforms/NewImage.h"

#include <sinter/Held.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sinter::data {

static std::vector<float> weightsOf(int64_t kernel, double sigma) {
  std::vector<float> weights;
  double sum = 0;
  for (int64_t i = 0; i < kernel; ++i) {
    double at = double(i) - double(kernel - 1) / 2;
    double weight = std::exp(-at * at / (2 * sigma * sigma));
    sum += weight;
    weights.push_back(float(weight));
  }
  for (float &weight : weights)
    weight = float(weight / sum);
  return weights;
}

/// Each sample the sum of those `step` apart by their weights.
static void addUp(const float *from, int64_t step,
                  const std::vector<float> &weights, std::vector<float> &to) {
  std::ranges::fill(to, 0.f);
  for (float weight : weights) {
    for (size_t i = 0; i < to.size(); ++i)
      to[i] += from[i] * weight;
    from += step;
  }
}

Image blurred(const Image &image, int64_t kernel, double sigma,
              std::source_location where) try {
  detail::checkPixels(image, "blurred", where);
  if (kernel < 1 || kernel % 2 == 0 || !(sigma > 0 && sigma < 1e6))
    detail::refuseImage(
        "blurred",
        fmt::format("a kernel of {} pixels and sigma {}", kernel, sigma),
        where);
  int64_t half = kernel / 2;
  if (half >= std::min(image.height, image.width))
    detail::refuseImage("blurred",
                        fmt::format("a kernel of {} pixels over {} x {}",
                                    kernel, image.height, image.width),
                        where);
  Image wide =
      padded(image, {half, half, half, half}, Border::reflect, 0, where);
  std::vector<float> weights = weightsOf(kernel, sigma);
  int64_t row = image.width * image.channels,
          wideRow = wide.width * wide.channels;
  std::vector<float> line(static_cast<size_t>(wideRow)), sums(size_t(row), 0.f);
  std::vector<float> rows(size_t(wide.height * row));
  for (int64_t y = 0; y < wide.height; ++y) {
    std::copy_n(wide.pixels.data() + y * wideRow, wideRow, line.begin());
    addUp(line.data(), image.channels, weights, sums);
    std::ranges::copy(sums, rows.begin() + y * row);
  }
  Image result = detail::newImage(image.height, image.width, image.channels,
                                  "blurred", where);
  for (int64_t y = 0; y < image.height; ++y) {
    addUp(rows.data() + y * row, row, weights, sums);
    for (int64_t i = 0; i < row; ++i)
      result.pixels[size_t(y * row + i)] =
          uint8_t(std::clamp(std::nearbyint(sums[size_t(i)]), 0.f, 255.f));
  }
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
