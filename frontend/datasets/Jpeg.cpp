/// JPEG files, by turbojpeg.
#include "frontend/datasets/ImageFormats.h"

#include <memory>
#include <string>
#include <turbojpeg.h>

namespace sinter::data {

namespace {

struct Close {
  void operator()(void *decoder) const { tjDestroy(decoder); }
};
using Decoder = std::unique_ptr<void, Close>;

ErrorInfo damaged(const Decoder &decoder) {
  return makeError(ErrorKind::io, std::string("a damaged JPEG: ") +
                                      tjGetErrorStr2(decoder.get()));
}

/// a * b / 255, rounded.
int scaled(int a, int b) {
  int product = a * b + 128;
  return (product / 256 + product) / 256;
}

/// Colours of inks, which Adobe's programs, and so all others, store inverted.
Image colourOfInks(const Image &inks) {
  Image image{inks.height, inks.width, 3, {}};
  image.pixels.reserve(inks.pixels.size() / 4 * 3);
  for (size_t at = 0; at < inks.pixels.size(); at += 4) {
    int light = inks.pixels[at + 3];
    for (size_t ink = 0; ink < 3; ++ink)
      image.pixels.push_back(
          uint8_t(light - scaled(255 - inks.pixels[at + ink], light)));
  }
  return image;
}

} // namespace

bool isJpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xff} &&
         bytes[1] == std::byte{0xd8} && bytes[2] == std::byte{0xff};
}

Result<Image> decodeJpeg(std::span<const std::byte> bytes,
                         const ImageOptions &options) {
  Decoder decoder(tjInitDecompress());
  if (!decoder)
    return makeError(ErrorKind::out_of_memory, "no memory to decode it");
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), data, bytes.size(), &width, &height,
                          &sampling, &colours) != 0)
    return damaged(decoder);
  SINTER_TRY(checkPixels(uint64_t(width), uint64_t(height), options));
  bool isInk = colours == TJCS_CMYK || colours == TJCS_YCCK;
  int format = isInk ? TJPF_CMYK : colours == TJCS_GRAY ? TJPF_GRAY : TJPF_RGB;
  Image image{height, width, isInk ? 4 : colours == TJCS_GRAY ? 1 : 3, {}};
  image.pixels.resize(size_t(height) * size_t(width) * size_t(image.channels));
  // Scans are limited, as a small file may hold a great many over the whole
  // picture.
  constexpr int flags =
      TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  if (tjDecompress2(decoder.get(), data, bytes.size(), image.pixels.data(),
                    width, 0, height, format, flags) != 0)
    return damaged(decoder);
  return isInk ? colourOfInks(image) : std::move(image);
}

} // namespace sinter::data
