/// Pixels: what is done to an image, with numbers that the caller knows. The
/// transforms of a data set, which draw theirs, stand on these.
///
/// Results follow torchvision's and Pillow's for images of 8 bits: exactly
/// where it says so, within one level elsewhere; the tests hold them against
/// files that those made. Channels are independent of each other, alpha too,
/// but where colours are asked for: those take images of 3 channels, and leave
/// gray ones as they are where gray has no such property.
///
/// An image whose sizes disagree with its pixels, and numbers that have no
/// meaning, are an `invalid_argument` Error.
#pragma once

#include <sinter/data/Image.h>

#include <array>
#include <cstdint>
#include <source_location>

namespace sinter::data {

/// How pixels between pixels are found.
enum class Filter : uint8_t {
  nearest,
  bilinear, ///< smaller images are averaged: antialiased
  bicubic,  ///< Keys's cubic with a = -1/2, antialiased, too
};

/// What lies outside an image.
enum class Border : uint8_t {
  constant,  ///< one value in all channels
  edge,      ///< the last pixel again
  reflect,   ///< the image mirrored, its last pixel once
  symmetric, ///< the image mirrored, its last pixel twice
};

/// Pixels at the four sides; negative ones are cut off.
struct Sides {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
};

/// In another size; exactly as Pillow does.
Image resized(const Image &image, int64_t height, int64_t width,
              Filter filter = Filter::bilinear,
              std::source_location where = std::source_location::current());

/// The part of that size that begins there; what lies outside is `fill`.
Image cropped(const Image &image, int64_t top, int64_t left, int64_t height,
              int64_t width, uint8_t fill = 0,
              std::source_location where = std::source_location::current());

/// With more pixels at its sides. `reflect` takes less than the image has, and
/// `symmetric` not more.
Image padded(const Image &image, const Sides &sides,
             Border border = Border::constant, uint8_t fill = 0,
             std::source_location where = std::source_location::current());

/// Left and right exchanged; or top and bottom.
Image flipped(Image image,
              std::source_location where = std::source_location::current());
Image flipped_vertically(
    Image image, std::source_location where = std::source_location::current());

/// A turn, a shift and a change of size about the middle of an image.
struct Affine {
  double degrees = 0;                      ///< clockwise
  double translate_x = 0, translate_y = 0; ///< in pixels
  double scale = 1;
  double shear_x = 0, shear_y = 0; ///< in degrees, less than 90 either way
};

/// The image turned, in its own size; exactly as Pillow's `transform` does
/// (`nearest`, `bilinear`). What comes from outside is `fill`.
Image transformed(const Image &image, const Affine &affine,
                  Filter filter = Filter::nearest, uint8_t fill = 0,
                  std::source_location where = std::source_location::current());

/// Colours times `factor`, which is 0 or more.
Image with_brightness(
    Image image, double factor,
    std::source_location where = std::source_location::current());
/// Distances from the mean gray times `factor`.
Image with_contrast(
    Image image, double factor,
    std::source_location where = std::source_location::current());
/// Distances from the pixel's gray times `factor`.
Image with_saturation(
    Image image, double factor,
    std::source_location where = std::source_location::current());
/// Hues moved by `turn` of the circle, -1/2 to 1/2.
Image with_hue(Image image, double turn,
               std::source_location where = std::source_location::current());

/// One channel, or three equal ones: (19595 r + 38470 g + 7471 b + 32768) /
/// 65536. Exactly as Pillow does.
Image gray(const Image &image, int64_t channels = 1,
           std::source_location where = std::source_location::current());

/// Each pixel the mean of its neighbours by a Gaussian weight, of a square of
/// `kernel` pixels (odd), over an image that is mirrored at its sides.
Image blurred(const Image &image, int64_t kernel, double sigma,
              std::source_location where = std::source_location::current());

} // namespace sinter::data
