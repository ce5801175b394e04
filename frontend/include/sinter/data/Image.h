/// Image: the pixels of a picture, and reading and writing it.
#pragma once

#include <sinter/Creation.h>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace sinter::data {

/// A picture of 8-bit samples, row by row from the top, the channels of a pixel
/// side by side: [height, width, channels] in row-major order.
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  /// 1 is gray; 3 is red, green, blue; 4 is these and alpha, which is 255 where
  /// nothing shines through. Colours are not multiplied by alpha.
  int64_t channels = 0;
  std::vector<uint8_t> pixels; ///< height * width * channels samples

  uint8_t &at(int64_t y, int64_t x, int64_t channel = 0) {
    return pixels[offset(y, x, channel)];
  }
  uint8_t at(int64_t y, int64_t x, int64_t channel = 0) const {
    return pixels[offset(y, x, channel)];
  }
  bool operator==(const Image &) const = default;

private:
  size_t offset(int64_t y, int64_t x, int64_t channel) const {
    return static_cast<size_t>((y * width + x) * channels + channel);
  }
};

/// A picture and the number of its class.
struct LabeledImage {
  Image image;
  int64_t label = 0;
};

/// What a decoder makes of a file.
struct ImageOptions {
  /// 1, 3 or 4; 0 takes what the file has: gray or colour, with alpha where it
  /// has that. Gray with alpha is 4. Asked for fewer, alpha is dropped; gray of
  /// colours is (19595 r + 38470 g + 7471 b + 32768) / 65536, which ITU-R
  /// BT.601 says.
  int64_t channels = 0;
  /// Of a PNG with a palette, the numbers of its entries instead of their
  /// colours, as one channel. Masks of classes are stored like this.
  bool palette_indices = false;
  /// Pictures of more pixels are refused before memory is had for them: a small
  /// file can say that it is huge.
  int64_t max_pixels = 1 << 27;
};

/// Reads a PNG or JPEG file, whatever its name ends in. Samples of 16 bits keep
/// their upper 8. Orientation in EXIF is not applied, nor are colour profiles
/// and gamma: the pixels are as they are stored. A file that is neither,
/// damaged, cut short or too large is an `io` Error that names it; channels
/// that no Image has are an `invalid_argument` Error.
Image read_image(const std::string &file, const ImageOptions &options = {},
                 std::source_location where = std::source_location::current());

/// The same of a file's bytes, which messages call `image`.
Image decode_image(
    std::span<const std::byte> bytes, const ImageOptions &options = {},
    std::source_location where = std::source_location::current());

/// Writes a PNG of 8 bits, without loss. The file is replaced at once. An image
/// whose sizes disagree with its pixels is an `invalid_argument` Error.
void write_png(const std::string &file, const Image &image,
               std::source_location where = std::source_location::current());

/// The bytes of such a file.
std::vector<std::byte>
encode_png(const Image &image,
           std::source_location where = std::source_location::current());

/// f32 [channels, height, width] of samples / 255, which lie in 0 to 1.
Tensor to_tensor(const Image &image,
                 std::source_location where = std::source_location::current());

/// f32 [images, channels, height, width]; an `invalid_argument` Error unless
/// they have one size. A loader's batcher: its axis 0 is symbolic.
Tensor to_tensor(std::span<const Image> images,
                 std::source_location where = std::source_location::current());

/// The image of an f32 tensor [channels, height, width]: values are clamped to
/// 0 to 1, times 255, rounded. Evaluates the tensor.
Image to_image(const Tensor &tensor,
               std::source_location where = std::source_location::current());

} // namespace sinter::data

namespace sinter::detail {
/// Throws an `invalid_argument` Error of `call` unless the image has 1, 3 or 4
/// channels, no negative size, and as many pixels as these say.
void checkImage(const data::Image &image, const char *call,
                const std::source_location &where);
} // namespace sinter::detail
