/// What is done to pixels, by numbers that are easy to see; and what is
/// refused.
#include <sinter/data/Transforms.h>

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

using namespace sinter;
using data::Border;
using data::Image;

namespace {

/// Samples 0, 1, 2, ...
Image counted(int64_t height, int64_t width, int64_t channels = 1) {
  Image image;
  image.height = height;
  image.width = width;
  image.channels = channels;
  image.pixels.resize(size_t(height * width * channels));
  std::iota(image.pixels.begin(), image.pixels.end(), uint8_t(0));
  return image;
}

template <typename F> std::string messageOf(F function) {
  try {
    function();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(error.site().find("PixelsTest.cpp"), std::string::npos)
        << error.what();
    return error.message();
  }
  return "accepted";
}

using Samples = std::vector<uint8_t>;

} // namespace

TEST(Pixels, CroppedIsAPart) {
  EXPECT_EQ(data::cropped(counted(3, 4), 1, 1, 2, 2).pixels,
            (Samples{5, 6, 9, 10}));
  EXPECT_EQ(data::cropped(counted(2, 2, 3), 0, 1, 2, 1).pixels,
            (Samples{3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(data::cropped(counted(2, 2), -1, -1, 3, 3, 7).pixels,
            (Samples{7, 7, 7, 7, 0, 1, 7, 2, 3}));
  EXPECT_EQ(data::cropped(counted(2, 2), 5, 0, 1, 2, 7).pixels,
            (Samples{7, 7}));
  EXPECT_TRUE(data::cropped(counted(2, 2), 0, 0, 0, 2).pixels.empty());
}

TEST(Pixels, PaddedHasABorder) {
  Image row = counted(1, 3);
  auto padded = [&](Border border) {
    return data::padded(row, {2, 0, 2, 0}, border, 9).pixels;
  };
  EXPECT_EQ(padded(Border::constant), (Samples{9, 9, 0, 1, 2, 9, 9}));
  EXPECT_EQ(padded(Border::edge), (Samples{0, 0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(padded(Border::reflect), (Samples{2, 1, 0, 1, 2, 1, 0}));
  EXPECT_EQ(padded(Border::symmetric), (Samples{1, 0, 0, 1, 2, 2, 1}));
  EXPECT_EQ(data::padded(row, {-1, 0, 1, 0}).pixels, (Samples{1, 2, 0}));
}

TEST(Pixels, FlippedChangesSides) {
  EXPECT_EQ(data::flipped(counted(2, 2, 3)).pixels,
            (Samples{3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8}));
  EXPECT_EQ(data::flipped_vertically(counted(3, 2)).pixels,
            (Samples{4, 5, 2, 3, 0, 1}));
  for (int64_t channels : {1, 3, 4}) {
    Image image = counted(3, 5, channels);
    EXPECT_EQ(data::flipped(data::flipped(image)), image);
  }
}

TEST(Pixels, TheSameSizeIsTheSameImage) {
  for (data::Filter filter :
       {data::Filter::nearest, data::Filter::bilinear, data::Filter::bicubic})
    EXPECT_EQ(data::resized(counted(4, 5, 4), 4, 5, filter), counted(4, 5, 4));
}

TEST(Pixels, GrayImagesHaveNoColours) {
  Image image = counted(2, 3);
  EXPECT_EQ(data::with_saturation(image, 3), image);
  EXPECT_EQ(data::with_hue(image, 0.5), image);
  EXPECT_EQ(data::gray(image), image);
  EXPECT_EQ(data::gray(counted(1, 2), 3).pixels, (Samples{0, 0, 0, 1, 1, 1}));
}

TEST(Pixels, BadImagesAndNumbersAreErrors) {
  Image torn = counted(2, 2);
  torn.pixels.pop_back();
  EXPECT_EQ(messageOf([&] { data::flipped(torn); }),
            "flipped: an image of 2 x 2 pixels, 1 channels and 3 samples");
  Image huge = counted(1, 1);
  huge.height = huge.width = int64_t(1) << 40;
  EXPECT_NE(messageOf([&] { data::resized(huge, 4, 4); }), "accepted");
  Image two = counted(2, 1);
  two.channels = 2;
  two.height = 1;
  EXPECT_NE(messageOf([&] { data::gray(two); }), "accepted");
  EXPECT_EQ(messageOf([] { data::resized(counted(2, 2), 1 << 20, 1 << 20); }),
            "resized: an image of 1048576 x 1048576 pixels");
  EXPECT_EQ(messageOf([] { data::resized(counted(2, 2), 0, 4); }),
            "resized: a size of 0 or less");
  EXPECT_EQ(messageOf([] { data::resized(Image{0, 0, 3, {}}, 2, 2); }),
            "resized: an image without pixels");
  EXPECT_EQ(messageOf([] {
              data::padded(counted(2, 2), {2, 0, 0, 0}, Border::reflect);
            }),
            "padded: 2 pixels beside 2");
  EXPECT_NE(messageOf([] {
              data::cropped(counted(2, 2), std::numeric_limits<int64_t>::min(),
                            0, 2, 2);
            }),
            "accepted");
  EXPECT_NE(messageOf([] { data::padded(counted(2, 2), {-3, 0, 0, 0}); }),
            "accepted");
  EXPECT_EQ(messageOf([] { data::blurred(counted(2, 2), 4, 1); }),
            "blurred: a kernel of 4 pixels and sigma 1");
  EXPECT_EQ(messageOf([] { data::blurred(counted(2, 2), 5, 1); }),
            "blurred: a kernel of 5 pixels over 2 x 2");
  EXPECT_NE(
      messageOf([] { data::transformed(counted(2, 2), {.degrees = NAN}); }),
      "accepted");
  EXPECT_NE(messageOf([] { data::transformed(counted(2, 2), {.scale = 0}); }),
            "accepted");
  EXPECT_EQ(messageOf([] { data::with_hue(counted(2, 2, 3), 0.6); }),
            "with_hue: a turn of 0.6");
  EXPECT_EQ(messageOf([] { data::with_contrast(counted(2, 2, 4), 1); }),
            "with_contrast: an image with alpha");
  EXPECT_EQ(messageOf([] { data::normalize({0, 0, 0}, {1, 1, 0}); }),
            "normalize: means 0, 0, 0 and deviations 1, 1, 0");
  EXPECT_EQ(
      messageOf([] { data::normalize({0, 0, 0}, {1, 1, 1})(counted(2, 2)); }),
      "normalize: 3 means for 1 channels");
}

TEST(Pixels, TransformsRefuseWhereTheyAreMade) {
  EXPECT_EQ(messageOf([] { data::resize(0); }),
            "resize: shorter is 0, not 1 or more");
  EXPECT_NE(messageOf([] { data::flip(1.5); }), "accepted");
  EXPECT_NE(messageOf([] { data::random_choice({}); }), "accepted");
  EXPECT_EQ(
      messageOf([] { data::random_resized_crop(4, {.scale = {0.5, 2}}); }),
      "random_resized_crop: scale from 0.5 to 2");
  EXPECT_NE(messageOf([] { data::color_jitter({.hue = 0.7}); }), "accepted");
  EXPECT_NE(messageOf([] { data::gaussian_blur(4); }), "accepted");
  EXPECT_EQ(messageOf([] { data::random_crop(8)(counted(4, 4)); }),
            "random_crop: 8 x 8 pixels of 4 x 4 with 0 at each side");
}
