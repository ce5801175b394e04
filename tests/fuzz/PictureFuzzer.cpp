/// PNG and JPEG: a picture that is read is written and read again.
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Error.h>
#include <sinter/data/Image.h>

using namespace sinter;
using fuzz::require;

static void check(std::span<const std::byte> bytes,
                  const data::ImageOptions &options) {
  data::Image image;
  try {
    image = data::decode_image(bytes, options);
  } catch (const Error &error) {
    require(error.kind() == ErrorKind::io);
    return;
  }
  require(image.height * image.width <= options.max_pixels);
  require(options.channels == 0 || image.channels == options.channels);
  require(data::decode_image(data::encode_png(image)) == image);
}

SINTER_FUZZER(Picture) {
  auto bytes = fuzz::bytesOf(data, size);
  check(bytes, {.max_pixels = 1 << 16});
  check(bytes, {.channels = 3, .max_pixels = 1 << 16});
  check(bytes, {.class_indices = true, .max_pixels = 1 << 16});
}
