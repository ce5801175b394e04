/// Transforms with random numbers.
#include <sinter/data/Transforms.h>

#include "frontend/Raise.h"
#include "frontend/transforms/Draws.h"
#include "frontend/transforms/NewImage.h"

#include <sinter/Arguments.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace sinter::data {

using detail::Arguments;
using Where = std::source_location;

static void checkInterval(const char *call, const char *name, Interval interval,
                          double least, double most, const Where &where) {
  if (!(interval.least >= least && interval.least <= interval.most &&
        interval.most <= most))
    detail::refuseImage(
        call,
        fmt::format("{} from {} to {}", name, interval.least, interval.most),
        where);
}

//===- Mirrors ------------------------------------------------------------===//

ImageTransform flip(double p, Where where) try {
  Arguments("flip", where).within("p", p, 0, 1);
  return ImageTransform([=](Image image) {
    return Draws().with(p) ? flipped(std::move(image), where) : image;
  });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform vertical_flip(double p, Where where) try {
  Arguments("vertical_flip", where).within("p", p, 0, 1);
  return ImageTransform([=](Image image) {
    return Draws().with(p) ? flipped_vertically(std::move(image), where)
                           : image;
  });
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Parts --------------------------------------------------------------===//

ImageTransform random_crop(int64_t size, const CropOptions &options,
                           Where where) {
  return random_crop(size, size, options, where);
}

/// A crop that begins within `padding` pixels outside needs no padded image.
static Image cropAt(const Image &image, int64_t top, int64_t left,
                    int64_t height, int64_t width, const CropOptions &options,
                    const Where &where) {
  if (options.padding == 0 || options.border == Border::constant)
    return cropped(image, top - options.padding, left - options.padding, height,
                   width, options.fill, where);
  int64_t side = options.padding;
  Image wide =
      padded(image, {side, side, side, side}, options.border, 0, where);
  return cropped(wide, top, left, height, width, 0, where);
}

ImageTransform random_crop(int64_t height, int64_t width,
                           const CropOptions &options, Where where) try {
  Arguments("random_crop", where)
      .positive("height", height)
      .positive("width", width)
      .atLeast(0, "padding", options.padding);
  return ImageTransform([=](Image image) {
    detail::checkPixels(image, "random_crop", where, false);
    int64_t spareRows = image.height + 2 * options.padding - height;
    int64_t spareColumns = image.width + 2 * options.padding - width;
    if (spareRows < 0 || spareColumns < 0)
      detail::refuseImage("random_crop",
                          fmt::format("{} x {} pixels of {} x {} with {} at "
                                      "each side",
                                      height, width, image.height, image.width,
                                      options.padding),
                          where);
    Draws draws;
    int64_t top = draws.below(spareRows + 1);
    int64_t left = draws.below(spareColumns + 1);
    return cropAt(image, top, left, height, width, options, where);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

namespace {
struct Part {
  int64_t top = 0, left = 0, height = 0, width = 0;
};
} // namespace

/// A part of a share of the pixels between `scale`, `ratio` wide by high; none
/// where ten draws were too large. torchvision's way.
static std::optional<Part> drawPart(const Image &image, Interval scale,
                                    Interval ratio, Draws &draws) {
  auto pixels = double(image.height * image.width);
  for (int attempt = 0; attempt < 10; ++attempt) {
    double area = pixels * draws.in(scale), shape = draws.inLogarithms(ratio);
    auto width = int64_t(std::nearbyint(std::sqrt(area * shape)));
    auto height = int64_t(std::nearbyint(std::sqrt(area / shape)));
    if (width < 1 || width > image.width || height < 1 || height > image.height)
      continue;
    int64_t top = draws.below(image.height - height + 1);
    int64_t left = draws.below(image.width - width + 1);
    return Part{top, left, height, width};
  }
  return std::nullopt;
}

/// The largest part in the middle whose ratio is within the interval.
static Part middleOf(const Image &image, Interval ratio) {
  double shape = double(image.width) / double(image.height);
  Part part{0, 0, image.height, image.width};
  if (shape < ratio.least)
    part.height = int64_t(std::nearbyint(double(image.width) / ratio.least));
  else if (shape > ratio.most)
    part.width = int64_t(std::nearbyint(double(image.height) * ratio.most));
  part.top = (image.height - part.height) / 2;
  part.left = (image.width - part.width) / 2;
  return part;
}

ImageTransform random_resized_crop(int64_t size,
                                   const ResizedCropOptions &options,
                                   Where where) try {
  Arguments("random_resized_crop", where).positive("size", size);
  checkInterval("random_resized_crop", "scale", options.scale, 1e-9, 1, where);
  checkInterval("random_resized_crop", "ratio", options.ratio, 1e-3, 1e3,
                where);
  return ImageTransform([=](Image image) {
    detail::checkPixels(image, "random_resized_crop", where);
    Draws draws;
    Part part = drawPart(image, options.scale, options.ratio, draws)
                    .value_or(middleOf(image, options.ratio));
    Image cut =
        cropped(image, part.top, part.left, part.height, part.width, 0, where);
    return resized(cut, size, size, options.filter, where);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform random_erasing(const ErasingOptions &options, Where where) try {
  Arguments("random_erasing", where).within("p", options.p, 0, 1);
  checkInterval("random_erasing", "scale", options.scale, 1e-9, 1, where);
  checkInterval("random_erasing", "ratio", options.ratio, 1e-3, 1e3, where);
  return ImageTransform([=](Image image) {
    detail::checkPixels(image, "random_erasing", where);
    Draws draws;
    if (!draws.with(options.p))
      return image;
    // Its ratio is height by width.
    Interval ratio{1 / options.ratio.most, 1 / options.ratio.least};
    Part part = drawPart(image, options.scale, ratio, draws).value_or(Part());
    for (int64_t y = part.top; y < part.top + part.height; ++y)
      for (int64_t i = part.left * image.channels;
           i < (part.left + part.width) * image.channels; ++i)
        image.pixels[size_t(y * image.width * image.channels + i)] =
            options.noise ? uint8_t(draws.bits() >> 56) : options.value;
    return image;
  });
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Turns --------------------------------------------------------------===//

ImageTransform random_rotation(double degrees, Filter filter, uint8_t fill,
                               Where where) try {
  Arguments("random_rotation", where).within("degrees", degrees, 0, 1e5);
  AffineOptions options;
  options.degrees = {-degrees, degrees};
  options.filter = filter;
  options.fill = fill;
  return random_affine(options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform random_affine(const AffineOptions &options, Where where) try {
  const char *call = "random_affine";
  checkInterval(call, "degrees", options.degrees, -1e5, 1e5, where);
  checkInterval(call, "scale", options.scale, 1e-3, 1e3, where);
  checkInterval(call, "shear_x", options.shear_x, -89, 89, where);
  checkInterval(call, "shear_y", options.shear_y, -89, 89, where);
  Arguments(call, where)
      .within("translate_x", options.translate_x, 0, 1)
      .within("translate_y", options.translate_y, 0, 1);
  if (options.filter == Filter::bicubic)
    detail::refuseImage(call, "a filter that is not nearest or bilinear",
                        where);
  return ImageTransform([=](Image image) {
    Draws draws;
    auto shift = [&](double share, int64_t side) {
      double most = share * double(side);
      return std::nearbyint(draws.in({-most, most}));
    };
    Affine affine;
    affine.degrees = draws.in(options.degrees);
    affine.translate_x = shift(options.translate_x, image.width);
    affine.translate_y = shift(options.translate_y, image.height);
    affine.scale = draws.in(options.scale);
    affine.shear_x = draws.in(options.shear_x);
    affine.shear_y = draws.in(options.shear_y);
    return transformed(image, affine, options.filter, options.fill, where);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Colours ------------------------------------------------------------===//

ImageTransform color_jitter(const JitterOptions &options, Where where) try {
  Arguments("color_jitter", where)
      .within("brightness", options.brightness, 0, 1e3)
      .within("contrast", options.contrast, 0, 1e3)
      .within("saturation", options.saturation, 0, 1e3)
      .within("hue", options.hue, 0, 0.5);
  return ImageTransform([=](Image image) {
    Draws draws;
    auto factor = [&](double change) {
      return draws.in({std::max(0.0, 1 - change), 1 + change});
    };
    double brightness = factor(options.brightness);
    double contrast = factor(options.contrast);
    double saturation = factor(options.saturation);
    double hue = draws.in({-options.hue, options.hue});
    std::array<int, 4> order{0, 1, 2, 3};
    for (int64_t i = 3; i > 0; --i)
      std::swap(order[size_t(i)], order[size_t(draws.below(i + 1))]);
    for (int what : order) {
      if (what == 0 && options.brightness > 0)
        image = with_brightness(std::move(image), brightness, where);
      if (what == 1 && options.contrast > 0)
        image = with_contrast(std::move(image), contrast, where);
      if (what == 2 && options.saturation > 0)
        image = with_saturation(std::move(image), saturation, where);
      if (what == 3 && options.hue > 0)
        image = with_hue(std::move(image), hue, where);
    }
    return image;
  });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform random_grayscale(double p, Where where) try {
  return random_apply(p, grayscale(3, where), where);
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform gaussian_blur(int64_t kernel, Interval sigma, Where where) try {
  if (kernel < 1 || kernel % 2 == 0)
    detail::refuseImage("gaussian_blur",
                        fmt::format("a kernel of {} pixels", kernel), where);
  checkInterval("gaussian_blur", "sigma", sigma, 1e-6, 1e5, where);
  return ImageTransform([=](Image image) {
    return blurred(image, kernel, Draws().in(sigma), where);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
