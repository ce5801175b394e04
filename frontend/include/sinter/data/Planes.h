/// Planes: an image as f32 planes, channel by channel, of which Collate makes
/// [images, channels, height, width].
#pragma once

#include <sinter/data/Image.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <vector>

namespace sinter::data {

/// What is made of a sample: sample * scale + shift.
struct Scaling {
  float scale = 1, shift = 0;
};

/// An item whose numbers are written straight into its batch.
class Planes {
public:
  using Element = float;

  /// `lines`: one of each channel.
  Planes(Image image, std::array<Scaling, 4> lines)
      : image(std::move(image)), lines(lines) {}

  /// Channels, height, width.
  std::array<int64_t, 3> shape() const {
    return {image.channels, image.height, image.width};
  }
  size_t size() const { return image.pixels.size(); }
  /// Writes all numbers; `to` has room for `size` of them.
  void write(std::span<float> to) const;
  std::vector<float> values() const;

private:
  Image image;
  std::array<Scaling, 4> lines;
};

/// Makes planes of images; see `normalize`.
class Normalize {
public:
  Normalize(std::vector<double> mean, std::vector<double> deviation,
            std::source_location where);
  Planes operator()(Image image) const;

private:
  std::vector<double> mean, deviation;
  std::source_location line;
};

} // namespace sinter::data
