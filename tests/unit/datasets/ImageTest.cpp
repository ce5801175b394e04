/// Pictures of files: as Pillow reads them, and hostile ones.
#include "tests/unit/datasets/Folder.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/BasicOps.h>
#include <sinter/data/Image.h>
#include <sinter/data/Npy.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

using namespace sinter;
using data::Image;
using data::ImageOptions;

namespace {

std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

Image noise(int64_t height, int64_t width, int64_t channels) {
  std::mt19937 random(5);
  Image image{height, width, channels, {}};
  for (int64_t i = 0; i < height * width * channels; ++i)
    image.pixels.push_back(uint8_t(random()));
  return image;
}

/// The largest difference of two samples.
int distance(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b) {
  int most = a.size() == b.size() ? 0 : 256;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

class ImageFiles : public FolderTest {};

} // namespace

TEST(Image, FilesAreReadAsPillowReadsThem) {
  auto expected = data::read_npz(filesOfTests() / "expected.npz");
  int compared = 0;
  for (const auto &[name, pixels] : expected) {
    Image image = data::read_image(filesOfTests() / name);
    SCOPED_TRACE(name);
    ASSERT_EQ(image.height, pixels.shape()[0].value);
    ASSERT_EQ(image.width, pixels.shape()[1].value);
    ASSERT_EQ(image.channels, pixels.shape()[2].value);
    EXPECT_EQ(distance(image.pixels, pixels.to_vector<uint8_t>()), 0);
    ++compared;
  }
  EXPECT_EQ(compared, 21);
}

TEST(Image, OrientationIsNotApplied) {
  Image turned = data::read_image(filesOfTests() / "turned.jpg");
  EXPECT_EQ(turned.height, 21);
  EXPECT_EQ(turned.width, 35);
}

TEST(Image, HasTheChannelsThatAreAskedFor) {
  std::string file = filesOfTests() / "rgba8.png";
  Image own = data::read_image(file);
  Image colours = data::read_image(file, {.channels = 3});
  Image gray = data::read_image(file, {.channels = 1});
  ASSERT_EQ(own.channels, 4);
  for (size_t i = 0; i < gray.pixels.size(); ++i) {
    for (size_t c = 0; c < 3; ++c)
      ASSERT_EQ(colours.pixels[3 * i + c], own.pixels[4 * i + c]);
    double luma = 0.299 * own.pixels[4 * i] + 0.587 * own.pixels[4 * i + 1] +
                  0.114 * own.pixels[4 * i + 2];
    ASSERT_NEAR(gray.pixels[i], luma, 0.51);
  }
  Image spread =
      data::read_image(filesOfTests() / "gray8.png", {.channels = 4});
  Image single = data::read_image(filesOfTests() / "gray8.png");
  EXPECT_EQ(spread.at(2, 3, 0), single.at(2, 3));
  EXPECT_EQ(spread.at(2, 3, 2), single.at(2, 3));
  EXPECT_EQ(spread.at(2, 3, 3), 255);
  expectPart(errorOf([&] { data::read_image(file, {.channels = 2}); },
                     ErrorKind::invalid_argument),
             "channels are 1, 3 or 4");
}

TEST(Image, MasksKeepTheirNumbers) {
  ImageOptions classes{.class_indices = true};
  Image palette = data::read_image(filesOfTests() / "palette4.png", classes);
  Image gray = data::read_image(filesOfTests() / "gray2.png", classes);
  Image scaled = data::read_image(filesOfTests() / "gray2.png");
  EXPECT_EQ(palette.channels, 1);
  EXPECT_LT(*std::ranges::max_element(palette.pixels), 16);
  EXPECT_EQ(*std::ranges::max_element(gray.pixels), 3);
  for (size_t i = 0; i < gray.pixels.size(); ++i)
    ASSERT_EQ(scaled.pixels[i], gray.pixels[i] * 85);
  for (const char *other : {"gray16.png", "rgb8.png", "gray.jpg"})
    expectPart(
        errorOf([&] { data::read_image(filesOfTests() / other, classes); }),
        "stores no classes");
}

TEST_F(ImageFiles, PngIsWrittenWithoutLoss) {
  for (int64_t channels : {1, 3, 4}) {
    Image image = noise(7, 11, channels);
    std::string file = folder / "image.png";
    data::write_png(file, image);
    EXPECT_EQ(data::read_image(file), image);
    EXPECT_EQ(data::decode_image(data::encode_png(image)), image);
  }
}

TEST_F(ImageFiles, ImagesThatContradictThemselvesAreRefused) {
  std::string file = folder / "image.png";
  for (Image image : {Image{2, 2, 3, std::vector<uint8_t>(11)},
                      Image{2, 2, 2, std::vector<uint8_t>(8)},
                      Image{-1, -4, 1, std::vector<uint8_t>(4)},
                      Image{int64_t(1) << 62, 4, 1, {}}, Image{0, 4, 1, {}}})
    errorOf([&] { data::write_png(file, image); }, ErrorKind::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Image, BecomesATensorAndBack) {
  Image image = noise(3, 5, 3);
  Tensor tensor = data::to_tensor(image);
  EXPECT_EQ(tensor.dtype(), DType::f32);
  auto values = tensor.to_vector<float>();
  ASSERT_EQ(values.size(), 45U);
  EXPECT_EQ(values[1 * 15 + 2 * 5 + 4], float(image.at(2, 4, 1)) / 255);
  EXPECT_EQ(data::to_image(tensor), image);

  std::vector<Image> images = {image, noise(3, 5, 3), image};
  Tensor batch = data::to_tensor(images);
  EXPECT_EQ(batch.shape()[0].value, 3);
  EXPECT_EQ(batch.shape()[1].value, 3);
  EXPECT_EQ(batch.shape()[3].value, 5);
  images[1] = noise(5, 3, 3);
  expectPart(
      errorOf([&] { data::to_tensor(images); }, ErrorKind::invalid_argument),
      "image 1 is 5 x 3 x 3, the first 3 x 5 x 3");
  errorOf([&] { data::to_image(batch); }, ErrorKind::invalid_argument);
}

TEST(Image, ValuesBeyondOneAreClamped) {
  Tensor tensor = sinter::tensor<float>(
      {-1.F, 0.5F, 2.F, std::numeric_limits<float>::quiet_NaN()}, {1, 1, 4});
  EXPECT_EQ(data::to_image(tensor).pixels,
            (std::vector<uint8_t>{0, 128, 255, 0}));
}

TEST(Image, TheUsersLineIsInErrors) {
  try {
    data::read_image("/no/such/file.png");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    expectPart(error.site(), "ImageTest.cpp");
    expectPart(error.message(), "/no/such/file.png");
  }
}

TEST(Image, HugeSizesAreRefusedBeforeMemoryIsHad) {
  Image image = noise(2, 2, 1);
  auto bytes = data::encode_png(image);
  // A small file that says it has 60,000 x 60,000 pixels.
  std::string png(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  std::string huge = png;
  for (size_t at : {18U, 22U}) {
    huge[at] = char(0xea);
    huge[at + 1] = char(0x60);
  }
  // The checksum is wrong then, which libpng says first.
  errorOf([&] { data::decode_image(bytesOf(huge)); });

  auto large =
      data::encode_png(Image{1000, 1000, 1, std::vector<uint8_t>(1000000)});
  expectPart(
      errorOf([&] { data::decode_image(large, {.max_pixels = 999999}); }),
      "1000 x 1000 pixels; more than 999999 are refused");
  EXPECT_EQ(data::decode_image(large, {.max_pixels = 1000000}).width, 1000);
  errorOf([&] { data::decode_image(large, {.max_pixels = -1}); });
}

TEST(Image, MoreThanDeflateCanHoldIsRefused) {
  // A true header of 10,000 x 10,000 pixels, and nothing more to speak of.
  std::string png = readAll(filesOfTests() / "bomb.png");
  expectPart(errorOf([&] { data::decode_image(bytesOf(png)); }),
             "more than there can be in its");
}

TEST(Image, WhatIsNoPictureIsAnError) {
  expectPart(errorOf([] { data::decode_image({}); }), "neither PNG nor JPEG");
  expectPart(errorOf([] { data::decode_image(bytesOf("GIF89a")); }),
             "neither PNG nor JPEG");
}

TEST(Image, FilesCutShortAreErrors) {
  for (const char *name : {"rgb8.png", "rgb8-interlaced.png", "rgb420.jpg",
                           "progressive.jpg", "cmyk.jpg"}) {
    std::string whole = readAll(filesOfTests() / name);
    ASSERT_GT(whole.size(), 100U);
    for (size_t length = 0; length < whole.size() - 2; ++length) {
      SCOPED_TRACE(std::string(name) + " cut to " + std::to_string(length));
      std::string cut = whole.substr(0, length);
      errorOf([&] { data::decode_image(bytesOf(cut)); });
    }
  }
}

TEST(Image, DamageAnywhereIsAnErrorOrAPicture) {
  std::mt19937 random(3);
  int64_t errors = 0, pictures = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(filesOfTests())) {
    auto ending = entry.path().extension();
    if (ending != ".png" && ending != ".jpg")
      continue;
    std::string whole = readAll(entry.path());
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = char(random());
      try {
        data::decode_image(bytesOf(damaged), {.max_pixels = 1 << 20});
        ++pictures;
      } catch (const Error &error) {
        ASSERT_EQ(error.kind(), ErrorKind::io) << error.what();
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 3000);
  EXPECT_GT(pictures, 100);
}
