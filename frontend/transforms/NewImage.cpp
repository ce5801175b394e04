/// Checks of images and sizes, and images to write to.
#include "frontend/transforms/NewImage.h"

#include "frontend/Raise.h"

#include <fmt/format.h>

namespace sinter::detail {

/// So that a wrong number does not take all memory: as many as a reader takes.
static constexpr int64_t mostPixels = int64_t(1) << 27;

void refuseImage(const char *call, const std::string &what,
                 const SourceLine &where) {
  raise(makeError(ErrorKind::invalid_argument,
                  fmt::format("{}: {}", call, what), call),
        where);
}

void checkPixels(const data::Image &image, const char *call,
                 const SourceLine &where, bool notEmpty) {
  int64_t height = image.height, width = image.width;
  bool hasSize = height >= 0 && width >= 0 && height <= mostPixels &&
                 (height == 0 || width <= mostPixels / height);
  bool hasChannels =
      image.channels == 1 || image.channels == 3 || image.channels == 4;
  if (!hasSize || !hasChannels ||
      image.pixels.size() !=
          static_cast<size_t>(height * width * image.channels))
    refuseImage(call,
                fmt::format("an image of {} x {} pixels, {} channels and {} "
                            "samples",
                            height, width, image.channels, image.pixels.size()),
                where);
  if (notEmpty && image.pixels.empty())
    refuseImage(call, "an image without pixels", where);
}

void checkSize(int64_t height, int64_t width, const char *call,
               const SourceLine &where) {
  if (height < 0 || width < 0 || height > mostPixels ||
      (height > 0 && width > mostPixels / height))
    refuseImage(call, fmt::format("an image of {} x {} pixels", height, width),
                where);
}

data::Image newImage(int64_t height, int64_t width, int64_t channels,
                     const char *call, const SourceLine &where) {
  checkSize(height, width, call, where);
  data::Image image;
  image.height = height;
  image.width = width;
  image.channels = channels;
  image.pixels.resize(static_cast<size_t>(height * width * channels));
  return image;
}

} // namespace sinter::detail
