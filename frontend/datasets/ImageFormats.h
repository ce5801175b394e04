/// The formats of pictures: each makes an Image of a file's bytes.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/data/Image.h>

#include <cstddef>
#include <span>
#include <vector>

namespace sinter::data {

/// Refuses what has more pixels than the options say, or none.
Status checkPixels(uint64_t width, uint64_t height,
                   const ImageOptions &options);

bool isPng(std::span<const std::byte> bytes);
bool isJpeg(std::span<const std::byte> bytes);

/// Decode whole files, with the channels that these have. Errors are of kind
/// `io` and lack the file's name.
Result<Image> decodePng(std::span<const std::byte> bytes,
                        const ImageOptions &options);
Result<Image> decodeJpeg(std::span<const std::byte> bytes,
                         const ImageOptions &options);

/// A PNG of 8 bits of an image that was checked.
Result<std::vector<std::byte>> encodePngBytes(const Image &image);

} // namespace sinter::data
