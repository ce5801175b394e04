/// Transforms that do the same each time, and those made of others.
#include <sinter/data/Transforms.h>

#include "frontend/Raise.h"
#include "frontend/transforms/Draws.h"
#include "frontend/transforms/NewImage.h"

#include <sinter/Arguments.h>

#include <cmath>

namespace sinter::data {

using detail::Arguments;
using Where = std::source_location;

ImageTransform resize(int64_t shorter, Filter filter, Where where) try {
  Arguments("resize", where).positive("shorter", shorter);
  return ImageTransform([=](Image image) {
    detail::checkPixels(image, "resize", where);
    bool isUpright = image.width <= image.height;
    int64_t from = isUpright ? image.width : image.height;
    int64_t longer = shorter * (isUpright ? image.height : image.width) / from;
    return isUpright ? resized(image, longer, shorter, filter, where)
                     : resized(image, shorter, longer, filter, where);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform resize(int64_t height, int64_t width, Filter filter,
                      Where where) try {
  Arguments("resize", where)
      .positive("height", height)
      .positive("width", width);
  return ImageTransform([=](Image image) {
    return resized(image, height, width, filter, where);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform center_crop(int64_t size, Where where) {
  return center_crop(size, size, where);
}

ImageTransform center_crop(int64_t height, int64_t width, Where where) try {
  Arguments("center_crop", where)
      .positive("height", height)
      .positive("width", width);
  return ImageTransform([=](Image image) {
    detail::checkPixels(image, "center_crop", where, false);
    // Of an odd rest, a larger image loses the half that is even, and a smaller
    // one gets the smaller half first.
    auto begin = [](int64_t from, int64_t to) {
      return from >= to ? int64_t(std::nearbyint(double(from - to) / 2))
                        : -((to - from) / 2);
    };
    return cropped(image, begin(image.height, height),
                   begin(image.width, width), height, width, 0, where);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform pad(int64_t sides, Border border, uint8_t fill, Where where) {
  return pad({sides, sides, sides, sides}, border, fill, where);
}

ImageTransform pad(const Sides &sides, Border border, uint8_t fill,
                   Where where) try {
  return ImageTransform(
      [=](Image image) { return padded(image, sides, border, fill, where); });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform grayscale(int64_t channels, Where where) try {
  if (channels != 1 && channels != 3)
    detail::refuseImage("grayscale", std::to_string(channels) + " channels",
                        where);
  return ImageTransform(
      [=](Image image) { return gray(image, channels, where); });
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Of others ----------------------------------------------------------===//

ImageTransform random_apply(double p, ImageTransform transform,
                            Where where) try {
  Arguments("random_apply", where).within("p", p, 0, 1);
  return ImageTransform([p, transform = std::move(transform)](Image image) {
    return Draws().with(p) ? transform(std::move(image)) : image;
  });
} catch (...) {
  detail::raiseExhausted(where);
}

ImageTransform random_choice(std::vector<ImageTransform> transforms,
                             Where where) try {
  if (transforms.empty())
    detail::refuseImage("random_choice", "no transforms", where);
  return ImageTransform([all = std::move(transforms)](Image image) {
    auto which = Draws().below(int64_t(all.size()));
    return all[size_t(which)](std::move(image));
  });
} catch (...) {
  detail::raiseExhausted(where);
}

//===- To numbers ---------------------------------------------------------===//

Normalize normalize(std::vector<double> mean, std::vector<double> deviation,
                    Where where) try {
  return {std::move(mean), std::move(deviation), where};
} catch (...) {
  detail::raiseExhausted(where);
}

Normalize to_planes(Where where) { return normalize({0}, {1}, where); }

} // namespace sinter::data
