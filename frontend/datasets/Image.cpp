/// Pictures in files, in memory and as tensors.
#include <sinter/data/Image.h>

#include "frontend/Raise.h"
#include "frontend/datasets/ImageFormats.h"
#include "runtime/files/MappedFile.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/support/Printable.h"

#include <sinter/Functions.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sinter::data {

Status checkPixels(uint64_t width, uint64_t height,
                   const ImageOptions &options) {
  if (width == 0 || height == 0)
    return makeError(ErrorKind::io, "it has no pixels");
  auto most = static_cast<uint64_t>(std::max<int64_t>(options.max_pixels, 0));
  if (height > most / width)
    return makeError(ErrorKind::io,
                     fmt::format("{} x {} pixels; more than {} are refused, "
                                 "which max_pixels sets",
                                 height, width, most));
  return {};
}

namespace {

constexpr uint8_t opaque = 255;

uint8_t grayOf(const uint8_t *pixel) {
  return uint8_t(
      (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) / 65536);
}

/// The image with other channels.
Image converted(const Image &from, int64_t channels) {
  Image to{from.height, from.width, channels, {}};
  auto count = static_cast<size_t>(from.height * from.width);
  to.pixels.reserve(count * size_t(channels));
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *pixel = from.pixels.data() + i * size_t(from.channels);
    if (channels == 1) {
      to.pixels.push_back(grayOf(pixel));
      continue;
    }
    for (size_t colour = 0; colour < 3; ++colour)
      to.pixels.push_back(pixel[from.channels == 1 ? 0 : colour]);
    if (channels == 4)
      to.pixels.push_back(opaque);
  }
  return to;
}

Result<Image> decode(std::span<const std::byte> bytes,
                     const ImageOptions &options) {
  if (isPng(bytes))
    return decodePng(bytes, options);
  if (isJpeg(bytes) && options.class_indices)
    return makeError(ErrorKind::io, "a JPEG stores no classes");
  if (isJpeg(bytes))
    return decodeJpeg(bytes, options);
  return makeError(ErrorKind::io, "it begins as neither PNG nor JPEG");
}

Result<Image> decodeAs(std::span<const std::byte> bytes,
                       const ImageOptions &options, const std::string &name) {
  int64_t wanted = options.channels;
  if (wanted != 0 && wanted != 1 && wanted != 3 && wanted != 4)
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("image: channels are 1, 3 or 4, or 0 for what "
                                 "the file has, not {}",
                                 wanted));
  auto image = decode(bytes, options);
  if (!image) {
    ErrorInfo error = image.takeError();
    error.message = printable(printableName(name) + ": " + error.message);
    return error;
  }
  if (wanted == 0 || wanted == image->channels)
    return image;
  return converted(*image, wanted);
}

Result<Image> readFile(const std::string &file, const ImageOptions &options) {
  SINTER_TRY_ASSIGN(auto mapped, runtime::MappedFile::open(file));
  return decodeAs(mapped.bytes(), options, file);
}

/// Samples / 255, each channel by itself.
void appendPlanes(const Image &image, std::vector<float> &to) {
  static const auto shares = [] {
    std::array<float, 256> shares{};
    for (size_t i = 0; i < shares.size(); ++i)
      shares[i] = float(i) / 255;
    return shares;
  }();
  auto channels = static_cast<size_t>(image.channels);
  for (size_t channel = 0; channel < channels; ++channel)
    for (size_t at = channel; at < image.pixels.size(); at += channels)
      to.push_back(shares[image.pixels[at]]);
}

} // namespace

Image read_image(const std::string &file, const ImageOptions &options,
                 std::source_location where) try {
  return detail::unwrap(readFile(file, options), where);
} catch (...) {
  detail::raiseExhausted(where);
}

Image decode_image(std::span<const std::byte> bytes,
                   const ImageOptions &options,
                   std::source_location where) try {
  return detail::unwrap(decodeAs(bytes, options, "image"), where);
} catch (...) {
  detail::raiseExhausted(where);
}

std::vector<std::byte> encode_png(const Image &image,
                                  std::source_location where) try {
  detail::checkImage(image, "encode_png", where);
  return detail::unwrap(encodePngBytes(image), where);
} catch (...) {
  detail::raiseExhausted(where);
}

void write_png(const std::string &file, const Image &image,
               std::source_location where) try {
  detail::checkImage(image, "write_png", where);
  auto bytes = detail::unwrap(encodePngBytes(image), where);
  std::array<std::span<const std::byte>, 1> parts = {bytes};
  detail::unwrap(runtime::replaceFile(file, parts), where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor to_tensor(const Image &image, std::source_location where) try {
  detail::checkImage(image, "to_tensor", where);
  std::vector<float> values;
  values.reserve(image.pixels.size());
  appendPlanes(image, values);
  return tensor(values, Dims{image.channels, image.height, image.width}, {},
                where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor to_tensor(std::span<const Image> images,
                 std::source_location where) try {
  std::vector<float> values;
  Image none;
  const Image &first = images.empty() ? none : images.front();
  values.reserve(images.size() * first.pixels.size());
  for (const Image &image : images) {
    detail::checkImage(image, "to_tensor", where);
    if (image.height != first.height || image.width != first.width ||
        image.channels != first.channels)
      detail::raise(
          makeError(ErrorKind::invalid_argument,
                    fmt::format("to_tensor: image {} is {} x {} x {}, the "
                                "first {} x {} x {}",
                                &image - images.data(), image.height,
                                image.width, image.channels, first.height,
                                first.width, first.channels)),
          where);
    appendPlanes(image, values);
  }
  return tensor(
      values,
      Dims{int64_t(images.size()), first.channels, first.height, first.width},
      {}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Image to_image(const Tensor &tensor, std::source_location where) try {
  bool fits =
      tensor.defined() && tensor.rank() == 3 && tensor.dtype() == DType::f32;
  Image image;
  if (fits) {
    image = {tensor.shape()[1].value,
             tensor.shape()[2].value,
             tensor.shape()[0].value,
             {}};
    fits = image.channels == 1 || image.channels == 3 || image.channels == 4;
  }
  if (!fits)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "to_image: the tensor is not f32 [channels, "
                            "height, width] of 1, 3 or 4 channels"),
                  where);
  std::vector<float> values = tensor.to_vector<float>(where);
  auto plane = static_cast<size_t>(image.height * image.width);
  image.pixels.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    float share = std::clamp(std::isnan(values[i]) ? 0.F : values[i], 0.F, 1.F);
    image.pixels[i % plane * size_t(image.channels) + i / plane] =
        uint8_t(std::lround(share * 255));
  }
  return image;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data

namespace sinter::detail {

void checkImage(const data::Image &image, const char *call,
                const std::source_location &where) {
  auto [height, width, channels] =
      std::array{image.height, image.width, image.channels};
  bool hasChannels = channels == 1 || channels == 3 || channels == 4;
  bool fits = hasChannels && height >= 0 && width >= 0;
  // Sizes whose product is not a number of 64 bits have no pixels, either.
  auto count = static_cast<uint64_t>(image.pixels.size());
  if (fits && height != 0 && width != 0)
    fits = uint64_t(height) <= count / uint64_t(width) &&
           uint64_t(height) * uint64_t(width) * uint64_t(channels) == count;
  else if (fits)
    fits = count == 0;
  if (!fits)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("{}: an image of {} x {} pixels of {} channels "
                                "with {} samples",
                                call, height, width, channels, count),
                    call),
          where);
}

} // namespace sinter::detail
