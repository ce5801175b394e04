/// NewImage: checks of images and sizes, and images to write to.
#pragma once

#include <sinter/Arg.h>
#include <sinter/data/Pixels.h>

#include <cstdint>
#include <string>

namespace sinter::detail {

/// Throws an `invalid_argument` Error `CALL: what`.
[[noreturn]] void refuseImage(const char *call, const std::string &what,
                              const SourceLine &where);

/// Throws unless the image has 1, 3 or 4 channels and as many pixels as its
/// sizes say, and at least one where `notEmpty`.
void checkPixels(const data::Image &image, const char *call,
                 const SourceLine &where, bool notEmpty = true);

/// Throws where an image would have more pixels than any that is read, or less
/// than none.
void checkSize(int64_t height, int64_t width, const char *call,
               const SourceLine &where);

/// Zeros, of a size that is checked.
data::Image newImage(int64_t height, int64_t width, int64_t channels,
                     const char *call, const SourceLine &where);

} // namespace sinter::detail
