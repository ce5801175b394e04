/// Where pixels go: parts, borders, mirrors, turns.
#include <sinter/data/Pixels.h>

#include "frontend/transforms/NewImage.h"

#include <sinter/Held.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sinter::data {

//===- Parts and borders --------------------------------------------------===//

static Image filled(int64_t height, int64_t width, int64_t channels,
                    uint8_t value, const char *call, const SourceLine &where) {
  Image image = detail::newImage(height, width, channels, call, where);
  if (value)
    std::ranges::fill(image.pixels, value);
  return image;
}

Image cropped(const Image &image, int64_t top, int64_t left, int64_t height,
              int64_t width, uint8_t fill, std::source_location where) try {
  detail::checkPixels(image, "cropped", where, false);
  constexpr int64_t far = int64_t(1) << 40;
  if (std::min(top, left) < -far || std::max(top, left) > far)
    detail::refuseImage("cropped", fmt::format("a part at {}, {}", top, left),
                        where);
  Image part = filled(height, width, image.channels, fill, "cropped", where);
  int64_t begin = std::max<int64_t>(left, 0);
  int64_t end = std::min(left + width, image.width);
  if (begin >= end)
    return part;
  auto bytes = size_t((end - begin) * image.channels);
  for (int64_t y = std::max<int64_t>(-top, 0);
       y < std::min(height, image.height - top); ++y)
    std::memcpy(
        &part.pixels[size_t((y * width + begin - left) * image.channels)],
        &image.pixels[size_t(((y + top) * image.width + begin) *
                             image.channels)],
        bytes);
  return part;
} catch (...) {
  detail::raiseExhausted(where);
}

/// Which of `size` pixels is seen at `index`, which may lie outside.
static int64_t mirrored(int64_t index, int64_t size, Border border) {
  if (border == Border::edge)
    return std::clamp<int64_t>(index, 0, size - 1);
  int64_t twice = border == Border::symmetric ? 1 : 0;
  if (index < 0)
    return -index - twice;
  return index < size ? index : 2 * (size - 1) - index + twice;
}

static void checkSides(const Image &image, const Sides &sides, Border border,
                       const SourceLine &where) {
  int64_t all[] = {sides.left, sides.top, sides.right, sides.bottom};
  int64_t lengths[] = {image.width, image.height, image.width, image.height};
  int64_t less = border == Border::reflect ? 1 : 0;
  for (int i = 0; i < 4; ++i) {
    bool isMirror = border == Border::reflect || border == Border::symmetric;
    if (all[i] > int64_t(1) << 27 || all[i] < -lengths[i] ||
        (isMirror && all[i] > lengths[i] - less) ||
        (border != Border::constant && lengths[i] == 0))
      detail::refuseImage(
          "padded", fmt::format("{} pixels beside {}", all[i], lengths[i]),
          where);
  }
}

Image padded(const Image &image, const Sides &sides, Border border,
             uint8_t fill, std::source_location where) try {
  detail::checkPixels(image, "padded", where, false);
  checkSides(image, sides, border, where);
  int64_t height = image.height + sides.top + sides.bottom;
  int64_t width = image.width + sides.left + sides.right;
  if (border == Border::constant)
    return cropped(image, -sides.top, -sides.left, height, width, fill, where);
  Image result =
      detail::newImage(height, width, image.channels, "padded", where);
  auto pixel = size_t(image.channels);
  uint8_t *to = result.pixels.data();
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t *row =
        image.pixels.data() + mirrored(y - sides.top, image.height, border) *
                                  image.width * image.channels;
    for (int64_t x = 0; x < width; ++x, to += pixel)
      std::memcpy(to,
                  row + mirrored(x - sides.left, image.width, border) *
                            image.channels,
                  pixel);
  }
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

template <int channels> static void flipRow(uint8_t *row, int64_t width) {
  struct Pixel {
    uint8_t samples[channels];
  };
  auto *pixels = reinterpret_cast<Pixel *>(row);
  std::reverse(pixels, pixels + width);
}

Image flipped(Image image, std::source_location where) {
  detail::checkPixels(image, "flipped", where, false);
  auto *flip = image.channels == 1   ? &flipRow<1>
               : image.channels == 3 ? &flipRow<3>
                                     : &flipRow<4>;
  for (int64_t y = 0; y < image.height; ++y)
    flip(image.pixels.data() + y * image.width * image.channels, image.width);
  return image;
}

Image flipped_vertically(Image image, std::source_location where) {
  detail::checkPixels(image, "flipped_vertically", where, false);
  int64_t row = image.width * image.channels;
  for (int64_t y = 0; y < image.height / 2; ++y)
    std::swap_ranges(image.pixels.begin() + y * row,
                     image.pixels.begin() + (y + 1) * row,
                     image.pixels.begin() + (image.height - 1 - y) * row);
  return image;
}

//===- Turns --------------------------------------------------------------===//

namespace {

/// Where a pixel comes from: x' = a x + b y + c, y' = d x + e y + f.
struct Inverse {
  double a, b, c, d, e, f;
};

/// Whole pixels with 16 bits behind the point.
class NearestWalk {
public:
  NearestWalk(const Image &from, const Inverse &m)
      : from(from), stepX{fixed(m.a), fixed(m.d)},
        stepY{fixed(m.b), fixed(m.e)}, row{fixed(m.c + m.a * 0.5 + m.b * 0.5),
                                           fixed(m.f + m.d * 0.5 + m.e * 0.5)} {
  }

  void write(Image &to) {
    uint8_t *pixel = to.pixels.data();
    auto bytes = size_t(to.channels);
    for (int64_t y = 0; y < to.height; ++y) {
      int64_t atX = row[0], atY = row[1];
      for (int64_t x = 0; x < to.width; ++x, pixel += bytes) {
        int64_t column = atX >> 16, line = atY >> 16;
        if (column >= 0 && column < from.width && line >= 0 &&
            line < from.height)
          std::memcpy(pixel,
                      &from.pixels[size_t((line * from.width + column) *
                                          from.channels)],
                      bytes);
        atX += stepX[0];
        atY += stepX[1];
      }
      row[0] += stepY[0];
      row[1] += stepY[1];
    }
  }

private:
  static int64_t fixed(double value) {
    return int64_t(std::floor(value * 65536 + 0.5));
  }
  const Image &from;
  int64_t stepX[2], stepY[2], row[2];
};

void writeBilinear(const Image &from, const Inverse &m, Image &to) {
  uint8_t *pixel = to.pixels.data();
  int64_t channels = from.channels, right = from.width - 1;
  for (int64_t y = 0; y < to.height; ++y)
    for (int64_t x = 0; x < to.width; ++x, pixel += channels) {
      double column = double(x) + 0.5, line = double(y) + 0.5;
      double atX = m.a * column + m.b * line + m.c;
      double atY = m.d * column + m.e * line + m.f;
      if (!(atX >= 0 && atX < double(from.width) && atY >= 0 &&
            atY < double(from.height)))
        continue;
      atX -= 0.5;
      atY -= 0.5;
      double floorX = std::floor(atX), floorY = std::floor(atY);
      double partX = atX - floorX, partY = atY - floorY;
      auto x0 = int64_t(floorX), y0 = int64_t(floorY);
      int64_t left = std::clamp<int64_t>(x0, 0, right) * channels;
      int64_t next = std::clamp<int64_t>(x0 + 1, 0, right) * channels;
      auto rowAt = [&](int64_t number) {
        return from.pixels.data() +
               std::clamp<int64_t>(number, 0, from.height - 1) * from.width *
                   channels;
      };
      const uint8_t *upper = rowAt(y0), *lower = rowAt(y0 + 1);
      for (int64_t c = 0; c < channels; ++c) {
        double above =
            upper[left + c] + (upper[next + c] - upper[left + c]) * partX;
        double below =
            lower[left + c] + (lower[next + c] - lower[left + c]) * partX;
        pixel[c] = uint8_t(above + (below - above) * partY);
      }
    }
}

/// The inverse of what `affine` does about the middle of an image: first the
/// shear, then the turn, the scale and the shift.
Inverse inverseOf(const Affine &affine, int64_t height, int64_t width) {
  constexpr double radians = 3.141592653589793 / 180;
  double turn = affine.degrees * radians, shearX = affine.shear_x * radians,
         shearY = affine.shear_y * radians;
  double centerX = double(width) * 0.5, centerY = double(height) * 0.5;
  // Of turn and shear, without the scale, whose determinant is 1.
  double a = std::cos(turn - shearY) / std::cos(shearY);
  double b = -std::cos(turn - shearY) * std::tan(shearX) / std::cos(shearY) -
             std::sin(turn);
  double c = std::sin(turn - shearY) / std::cos(shearY);
  double d = -std::sin(turn - shearY) * std::tan(shearX) / std::cos(shearY) +
             std::cos(turn);
  Inverse m{d / affine.scale,  -b / affine.scale, 0,
            -c / affine.scale, a / affine.scale,  0};
  double shiftX = -centerX - affine.translate_x,
         shiftY = -centerY - affine.translate_y;
  m.c = m.a * shiftX + m.b * shiftY + centerX;
  m.f = m.d * shiftX + m.e * shiftY + centerY;
  return m;
}

} // namespace

static void checkAffine(const Affine &affine, Filter filter,
                        const SourceLine &where) {
  for (double number : {affine.degrees, affine.translate_x, affine.translate_y})
    if (!(std::abs(number) <= 1e6))
      detail::refuseImage("transformed", fmt::format("a number {}", number),
                          where);
  if (!(affine.scale >= 1e-3 && affine.scale <= 1e3))
    detail::refuseImage("transformed",
                        fmt::format("a scale of {}", affine.scale), where);
  for (double shear : {affine.shear_x, affine.shear_y})
    if (!(std::abs(shear) < 89.9))
      detail::refuseImage("transformed", fmt::format("a shear of {}", shear),
                          where);
  if (filter == Filter::bicubic)
    detail::refuseImage("transformed",
                        "a filter that is not nearest or "
                        "bilinear",
                        where);
}

Image transformed(const Image &image, const Affine &affine, Filter filter,
                  uint8_t fill, std::source_location where) try {
  detail::checkPixels(image, "transformed", where);
  checkAffine(affine, filter, where);
  Image result = filled(image.height, image.width, image.channels, fill,
                        "transformed", where);
  Inverse inverse = inverseOf(affine, image.height, image.width);
  if (filter == Filter::nearest)
    NearestWalk(image, inverse).write(result);
  else
    writeBilinear(image, inverse, result);
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
