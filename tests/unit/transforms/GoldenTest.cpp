/// Pictures beside those that torchvision and Pillow make (goldens.py).
#include <sinter/data/Transforms.h>

#include <sinter/data/Npy.h>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

using namespace sinter;
using data::Image;

namespace {

/// All arrays of the file.
const std::map<std::string, Tensor> &goldens() {
  static auto *all = new std::map<std::string, Tensor>(
      data::read_npz(SINTER_TRANSFORM_GOLDENS));
  return *all;
}

Image golden(const std::string &name) {
  const Tensor &tensor = goldens().at(name);
  Image image;
  image.height = tensor.dim(0).value;
  image.width = tensor.dim(1).value;
  image.channels = tensor.rank() == 3 ? tensor.dim(2).value : 1;
  image.pixels = tensor.to_vector<uint8_t>();
  return image;
}

Image picture() { return golden("picture"); }

/// The largest difference of two samples; 999 where sizes differ.
int distance(const Image &a, const Image &b) {
  if (a.height != b.height || a.width != b.width || a.channels != b.channels)
    return 999;
  int most = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i)
    most = std::max(most, std::abs(int(a.pixels[i]) - int(b.pixels[i])));
  return most;
}

} // namespace

TEST(TransformGoldens, ResizedAsPillow) {
  std::pair<const char *, data::Filter> filters[] = {
      {"nearest", data::Filter::nearest},
      {"bilinear", data::Filter::bilinear},
      {"bicubic", data::Filter::bicubic}};
  std::pair<int64_t, int64_t> sizes[] = {
      {11, 8}, {40, 31}, {23, 9}, {7, 17}, {1, 1}};
  for (auto [name, filter] : filters)
    for (auto [height, width] : sizes) {
      std::string which = std::string("resized_") + name + "_" +
                          std::to_string(height) + "_" + std::to_string(width);
      EXPECT_EQ(distance(data::resized(picture(), height, width, filter),
                         golden(which)),
                0)
          << which;
    }
}

TEST(TransformGoldens, TransformedAsPillow) {
  data::Affine affines[] = {
      {.degrees = 30},
      {.degrees = -77.5, .translate_x = 2, .translate_y = -3, .scale = 1.3},
      {.degrees = 10,
       .translate_y = 1,
       .scale = 0.7,
       .shear_x = 12,
       .shear_y = -7}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(distance(data::transformed(picture(), affines[i],
                                         data::Filter::nearest, 9),
                       golden("transformed_nearest_" + std::to_string(i))),
              0)
        << i;
    EXPECT_EQ(distance(data::transformed(picture(), affines[i],
                                         data::Filter::bilinear, 9),
                       golden("transformed_bilinear_" + std::to_string(i))),
              0)
        << i;
  }
}

TEST(TransformGoldens, ShapedAsTorchvision) {
  for (int64_t size : {10, 20, 30})
    EXPECT_EQ(distance(data::center_crop(size)(picture()),
                       golden("center_crop_" + std::to_string(size))),
              0)
        << size;
  EXPECT_EQ(distance(data::resize(9)(picture()), golden("resize_9")), 0);
  std::pair<const char *, data::Border> borders[] = {
      {"constant", data::Border::constant},
      {"edge", data::Border::edge},
      {"reflect", data::Border::reflect},
      {"symmetric", data::Border::symmetric}};
  for (auto [name, border] : borders)
    EXPECT_EQ(distance(data::padded(picture(), {1, 2, 3, 4}, border, 7),
                       golden(std::string("padded_") + name)),
              0)
        << name;
}

TEST(TransformGoldens, ColouredAsTorchvision) {
  auto near = [](const Image &image, const std::string &name) {
    EXPECT_LE(distance(image, golden(name)), 1) << name;
  };
  near(data::with_brightness(picture(), 0.3), "brightness_0");
  near(data::with_brightness(picture(), 1.7), "brightness_1");
  near(data::with_contrast(picture(), 0.2), "contrast_0");
  near(data::with_contrast(picture(), 1.9), "contrast_1");
  near(data::with_saturation(picture(), 0), "saturation_0");
  near(data::with_saturation(picture(), 0.6), "saturation_1");
  near(data::with_saturation(picture(), 2.5), "saturation_2");
  near(data::with_hue(picture(), -0.5), "hue_0");
  near(data::with_hue(picture(), 0.13), "hue_1");
  near(data::with_hue(picture(), 0.37), "hue_2");
  near(data::blurred(picture(), 3, 0.5), "blurred_0");
  near(data::blurred(picture(), 7, 1.6), "blurred_1");
}

TEST(TransformGoldens, GrayAsPillow) {
  EXPECT_EQ(distance(data::gray(picture()), golden("gray")), 0);
}

TEST(TransformGoldens, NormalizedAsTorchvision) {
  auto expected = goldens().at("normalized").to_vector<float>();
  data::Planes planes =
      data::normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})(picture());
  EXPECT_EQ(planes.shape(), (std::array<int64_t, 3>{3, 23, 17}));
  std::vector<float> values = planes.values();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], 1e-6) << i;
}
