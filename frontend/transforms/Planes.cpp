/// Samples side by side become planes of floats.
#include <sinter/data/Planes.h>

#include "frontend/transforms/NewImage.h"

#include <sinter/Held.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sinter::data {

/// One plane of pixels of `channels` samples; the loop has a constant stride,
/// which compilers have vector code for.
template <int channels>
static void writePlane(const uint8_t *from, size_t pixels, Scaling scaling,
                       float *to) {
  for (size_t i = 0; i < pixels; ++i)
    to[i] = float(from[i * channels]) * scaling.scale + scaling.shift;
}

void Planes::write(std::span<float> to) const {
  if (to.size() != size())
    detail::refuseImage(
        "planes", fmt::format("room for {} numbers, not {}", to.size(), size()),
        {});
  auto pixels = size_t(image.height * image.width);
  auto *plane = image.channels == 1   ? &writePlane<1>
                : image.channels == 3 ? &writePlane<3>
                                      : &writePlane<4>;
  for (size_t c = 0; c < size_t(image.channels); ++c)
    plane(image.pixels.data() + c, pixels, lines[c], to.data() + c * pixels);
}

std::vector<float> Planes::values() const try {
  std::vector<float> all(size());
  write(all);
  return all;
} catch (...) {
  detail::raiseExhausted({});
}

Normalize::Normalize(std::vector<double> means, std::vector<double> deviations,
                     std::source_location where)
    : mean(std::move(means)), deviation(std::move(deviations)), line(where) {
  bool isRight = mean.size() == deviation.size() &&
                 (mean.size() == 1 || mean.size() == 3 || mean.size() == 4);
  for (double number : mean)
    isRight = isRight && std::isfinite(number);
  for (double number : deviation)
    isRight = isRight && number > 0 && std::isfinite(number);
  if (!isRight)
    detail::refuseImage("normalize",
                        fmt::format("means {} and deviations {}",
                                    fmt::join(mean, ", "),
                                    fmt::join(deviation, ", ")),
                        where);
}

Planes Normalize::operator()(Image image) const try {
  detail::checkPixels(image, "normalize", line, false);
  if (mean.size() != 1 && static_cast<int64_t>(mean.size()) != image.channels)
    detail::refuseImage(
        "normalize",
        fmt::format("{} means for {} channels", mean.size(), image.channels),
        line);
  std::array<Scaling, 4> lines;
  for (size_t c = 0; c < lines.size(); ++c) {
    size_t i = std::min(c, mean.size() - 1);
    lines[c] = {float(1 / (255 * deviation[i])),
                float(-mean[i] / deviation[i])};
  }
  return {std::move(image), lines};
} catch (...) {
  detail::raiseExhausted(line);
}

} // namespace sinter::data
