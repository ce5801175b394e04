/// Transforms: functions of images for `map`, which a loader's workers call.
///
///     auto train = sn::data::map(pictures, sn::data::compose(
///         sn::data::random_resized_crop(224), sn::data::flip(),
///         sn::data::normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})));
///
/// What is random is drawn from the thread's default generator, which a loader
/// sets for each batch: the same seed gives the same pictures, whatever the
/// number of workers. Numbers without a meaning are an `invalid_argument` Error
/// where the transform is made; an image that it cannot take is one of that
/// line, too.
#pragma once

#include <sinter/data/Compose.h>
#include <sinter/data/Pixels.h>
#include <sinter/data/Planes.h>

#include <cstdint>
#include <functional>
#include <source_location>
#include <utility>
#include <vector>

namespace sinter::data {

/// An image of an image. Copies share nothing that changes.
class ImageTransform {
public:
  explicit ImageTransform(std::function<Image(Image)> function)
      : function(std::move(function)) {}
  Image operator()(Image image) const { return function(std::move(image)); }

private:
  std::function<Image(Image)> function;
};

//===- The same each time -------------------------------------------------===//

/// The shorter side gets `shorter` pixels, the longer one in proportion,
/// rounded down.
ImageTransform
resize(int64_t shorter, Filter filter = Filter::bilinear,
       std::source_location where = std::source_location::current());
ImageTransform
resize(int64_t height, int64_t width, Filter filter = Filter::bilinear,
       std::source_location where = std::source_location::current());

/// The middle, with zeros around it where the image is smaller.
ImageTransform
center_crop(int64_t size,
            std::source_location where = std::source_location::current());
ImageTransform
center_crop(int64_t height, int64_t width,
            std::source_location where = std::source_location::current());

/// As many pixels more at each side.
ImageTransform
pad(int64_t sides, Border border = Border::constant, uint8_t fill = 0,
    std::source_location where = std::source_location::current());
ImageTransform
pad(const Sides &sides, Border border = Border::constant, uint8_t fill = 0,
    std::source_location where = std::source_location::current());

/// Gray, in one channel or in three.
ImageTransform
grayscale(int64_t channels = 1,
          std::source_location where = std::source_location::current());

//===- Random -------------------------------------------------------------===//

/// The transform with probability `p`, else the image as it is.
ImageTransform
random_apply(double p, ImageTransform transform,
             std::source_location where = std::source_location::current());
/// One of these, each as likely.
ImageTransform
random_choice(std::vector<ImageTransform> transforms,
              std::source_location where = std::source_location::current());

/// Left and right exchanged with probability `p`; or top and bottom.
ImageTransform
flip(double p = 0.5,
     std::source_location where = std::source_location::current());
ImageTransform
vertical_flip(double p = 0.5,
              std::source_location where = std::source_location::current());

struct CropOptions {
  int64_t padding = 0; ///< at all sides, before a place is drawn
  Border border = Border::constant;
  uint8_t fill = 0;
};

/// A part of that size, each place as likely. An image that is smaller even
/// with the padding is an Error.
ImageTransform
random_crop(int64_t size, const CropOptions &options = {},
            std::source_location where = std::source_location::current());
ImageTransform
random_crop(int64_t height, int64_t width, const CropOptions &options = {},
            std::source_location where = std::source_location::current());

/// From least to most.
struct Interval {
  double least = 0, most = 0;
};

struct ResizedCropOptions {
  Interval scale = {0.08, 1}; ///< shares of the image's pixels
  /// Width by height, drawn by its logarithm.
  Interval ratio = {3.0 / 4, 4.0 / 3};
  Filter filter = Filter::bilinear;
};

/// A part of a random size and ratio, in that size (Szegedy et al., Going
/// deeper with convolutions, 2014). Where ten draws do not fit the image, its
/// middle.
ImageTransform random_resized_crop(
    int64_t size, const ResizedCropOptions &options = {},
    std::source_location where = std::source_location::current());

struct AffineOptions {
  Interval degrees = {};
  double translate_x = 0, translate_y = 0; ///< at most, as shares of the sides
  Interval scale = {1, 1};
  Interval shear_x = {}, shear_y = {}; ///< in degrees
  Filter filter = Filter::nearest;
  uint8_t fill = 0;
};

/// Turned by up to `degrees` either way.
ImageTransform
random_rotation(double degrees, Filter filter = Filter::nearest,
                uint8_t fill = 0,
                std::source_location where = std::source_location::current());
ImageTransform
random_affine(const AffineOptions &options,
              std::source_location where = std::source_location::current());

/// How far colours change: brightness 0.4 draws a factor from 0.6 to 1.4.
struct JitterOptions {
  double brightness = 0, contrast = 0, saturation = 0;
  double hue = 0; ///< parts of the circle, up to 1/2
};

/// Brightness, contrast, saturation and hue by random factors, in a random
/// order. Gray images have the first two alone.
ImageTransform
color_jitter(const JitterOptions &options,
             std::source_location where = std::source_location::current());

/// Three equal channels with probability `p`.
ImageTransform
random_grayscale(double p = 0.1,
                 std::source_location where = std::source_location::current());

/// Blurred by a Gaussian of a random width in pixels.
ImageTransform
gaussian_blur(int64_t kernel, Interval sigma = {0.1, 2},
              std::source_location where = std::source_location::current());

struct ErasingOptions {
  double p = 0.5;
  Interval scale = {0.02, 0.33}; ///< shares of the image's pixels
  Interval ratio = {0.3, 3.3};   ///< height by width, drawn by its logarithm
  uint8_t value = 0;
  bool noise = false; ///< random values instead
};

/// A random rectangle is overwritten (Zhong et al., Random erasing data
/// augmentation, 2017).
ImageTransform
random_erasing(const ErasingOptions &options = {},
               std::source_location where = std::source_location::current());

//===- To numbers ---------------------------------------------------------===//

/// (samples / 255 - mean) / deviation as f32 planes, a number for each channel
/// or one for all. The numbers are computed when a batch is made, where they
/// are needed.
Normalize
normalize(std::vector<double> mean, std::vector<double> deviation,
          std::source_location where = std::source_location::current());
/// samples / 255.
Normalize
to_planes(std::source_location where = std::source_location::current());

} // namespace sinter::data
