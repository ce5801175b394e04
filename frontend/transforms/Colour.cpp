/// Colours: brightness, contrast, saturation and hue as torchvision changes
/// those of tensors, gray as Pillow has it.
#include <sinter/data/Pixels.h>

#include "frontend/transforms/NewImage.h"

#include <sinter/Held.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sinter::data {

static void checkFactor(const char *call, double factor,
                        const SourceLine &where) {
  if (!(factor >= 0 && factor <= 1e6))
    detail::refuseImage(call, fmt::format("a factor of {}", factor), where);
}

/// Whether the image has colours. Gray ones have none, and what alpha would
/// become nobody says.
static bool hasColours(const Image &image, const char *call,
                       const SourceLine &where) {
  detail::checkPixels(image, call, where, false);
  if (image.channels == 4)
    detail::refuseImage(call, "an image with alpha", where);
  return image.channels == 3;
}

static uint8_t truncated(float value) {
  return uint8_t(std::clamp(value, 0.f, 255.f));
}

/// A pixel's gray in whole levels, rounded down.
static float levelOf(const uint8_t *pixel) {
  return std::floor(float(pixel[0]) * 0.2989f + float(pixel[1]) * 0.587f +
                    float(pixel[2]) * 0.114f);
}

Image with_brightness(Image image, double factor, std::source_location where) {
  hasColours(image, "with_brightness", where);
  checkFactor("with_brightness", factor, where);
  auto times = float(factor);
  for (uint8_t &sample : image.pixels)
    sample = truncated(float(sample) * times);
  return image;
}

Image with_contrast(Image image, double factor, std::source_location where) {
  bool isColoured = hasColours(image, "with_contrast", where);
  checkFactor("with_contrast", factor, where);
  if (image.pixels.empty())
    return image;
  double sum = 0;
  for (size_t i = 0; i < image.pixels.size(); i += size_t(image.channels))
    sum += isColoured ? levelOf(&image.pixels[i]) : float(image.pixels[i]);
  auto mean = float(sum / double(image.height * image.width));
  auto times = float(factor);
  float rest = mean * float(1 - factor);
  for (uint8_t &sample : image.pixels)
    sample = truncated(float(sample) * times + rest);
  return image;
}

Image with_saturation(Image image, double factor, std::source_location where) {
  checkFactor("with_saturation", factor, where);
  if (!hasColours(image, "with_saturation", where))
    return image;
  auto times = float(factor), others = float(1 - factor);
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    float rest = levelOf(&image.pixels[i]) * others;
    for (size_t c = i; c < i + 3; ++c)
      image.pixels[c] = truncated(float(image.pixels[c]) * times + rest);
  }
  return image;
}

//===- Hue ----------------------------------------------------------------===//

/// Turns one pixel's hue, by way of hue, saturation and value.
static void turnHue(uint8_t *pixel, float turn) {
  float r = float(pixel[0]) / 255, g = float(pixel[1]) / 255,
        b = float(pixel[2]) / 255;
  float most = std::max({r, g, b}), least = std::min({r, g, b});
  if (most == least)
    return;
  float range = most - least, saturation = range / most;
  float fromRed = (most - r) / range, fromGreen = (most - g) / range,
        fromBlue = (most - b) / range;
  float hue = most == r   ? fromBlue - fromGreen
              : most == g ? fromRed + 2 - fromBlue
                          : fromGreen + 4 - fromRed;
  hue = std::fmod(hue * (1.f / 6) + 1, 1.f) + turn;
  hue -= std::floor(hue);
  float sixth = std::floor(hue * 6), part = hue * 6 - sixth;
  auto unit = [](float value) { return std::clamp(value, 0.f, 1.f); };
  float low = unit(most * (1 - saturation));
  float falling = unit(most * (1 - saturation * part));
  float rising = unit(most * (1 - saturation + saturation * part));
  const float colours[6][3] = {{most, rising, low}, {falling, most, low},
                               {low, most, rising}, {low, falling, most},
                               {rising, low, most}, {most, low, falling}};
  const float *colour = colours[int(sixth) % 6];
  // As much above 255 as keeps 1 there, and makes levels equally wide.
  for (int c = 0; c < 3; ++c)
    pixel[c] = uint8_t(colour[c] * 255.999f);
}

Image with_hue(Image image, double turn, std::source_location where) {
  if (!(turn >= -0.5 && turn <= 0.5))
    detail::refuseImage("with_hue", fmt::format("a turn of {}", turn), where);
  if (!hasColours(image, "with_hue", where))
    return image;
  for (size_t i = 0; i < image.pixels.size(); i += 3)
    turnHue(&image.pixels[i], float(turn));
  return image;
}

//===- Gray ---------------------------------------------------------------===//

Image gray(const Image &image, int64_t channels,
           std::source_location where) try {
  detail::checkPixels(image, "gray", where, false);
  if (channels != 1 && channels != 3)
    detail::refuseImage("gray", fmt::format("{} channels", channels), where);
  Image result =
      detail::newImage(image.height, image.width, channels, "gray", where);
  const uint8_t *from = image.pixels.data();
  for (size_t i = 0; i < result.pixels.size(); i += size_t(channels)) {
    unsigned level =
        image.channels == 1
            ? from[0]
            : (19595u * from[0] + 38470u * from[1] + 7471u * from[2] + 32768) >>
                  16;
    std::fill_n(&result.pixels[i], channels, uint8_t(level));
    from += image.channels;
  }
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
