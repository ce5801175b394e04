/// Tensor maps as lines of PTX, and what a launch gives the driver.
#include "runtime/device/cuda/TensorMap.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

struct Encoded {
  int type = 0;
  void *address = nullptr;
  std::vector<uint64_t> extents, strides;
  std::vector<uint32_t> box;
};
Encoded encoded;

// Stands for the driver's.
cuda::Code encode(void *, int type, uint32_t rank, void *address,
                  const uint64_t *extents, const uint64_t *strides,
                  const uint32_t *box, const uint32_t *, int, int, int, int) {
  encoded = {type,
             address,
             {extents, extents + rank},
             {strides, strides + rank - 1},
             {box, box + rank}};
  return cuda::success;
}

TensorMap example() {
  TensorMap map;
  map.buffer = 1;
  map.element = DType::f16;
  map.offset = {16, {}};
  map.extents = {{512, {}}, {2, {0, 1}}, {3, {}}};
  map.strides = {{1, {}}, {512, {}}, {1024, {0, 1}}};
  map.box = {64, 128, 1};
  return map;
}

TEST(TensorMap, SurvivesBeingALine) {
  std::string line = tensorMapLine("kernel", example());
  EXPECT_EQ(line, "// tensor_map kernel f16 1 3 16 512 1 64 2*s0*s1 512 128 3 "
                  "1024*s0*s1 1\n");
  auto maps = tensorMapsOf(".entry kernel {}\n" + line + line, "kernel");
  ASSERT_TRUE(maps.ok());
  ASSERT_EQ(maps->size(), 2U);
  EXPECT_EQ(tensorMapLine("kernel", (*maps)[1]), line);
  auto others = tensorMapsOf(line, "kern");
  ASSERT_TRUE(others.ok());
  EXPECT_TRUE(others->empty());
}

TEST(TensorMap, RefusesDamagedLines) {
  for (const char *rest :
       {"", "f16 1", "i8 0 2 0 8 1 8 8 8 8", "f16 0 1 0 8 1 8",
        "f16 0 6 0 8 1 8", "f16 0 2 0 8 1 8 8 8", "f16 0 2 0 8 1 8 8 8 257",
        "f16 0 2 0 8 1 8 8*t0 8 8", "f16 0 2 0 8 1 0 8 8 8",
        "f16 0 2 x 8 1 8 8 8 8", "f16 -1 2 0 8 1 8 8 8 8",
        "f16 0 2 0 8 1 8 8 8 8 0", "f16 0 3 0 8 1 8 8 8 8 8 64 1 0 0",
        "f16 0 3 0 8 1 8 8 8 8 8 64 1 0 0 0",
        "f16 0 3 0 8 1 8 8 8 8 8 64 1 0 0 9",
        "f16 0 3 0 8 1 8 8 8 1025 8 64 1 0 0 1",
        "f16 0 3 0 8 1 8 8 8 8 8 64 1 0 0 1 0"}) {
    std::string text = std::string("// tensor_map k ") + rest + "\n";
    auto maps = tensorMapsOf(text, "k");
    EXPECT_FALSE(maps.ok()) << rest;
  }
}

TensorMap imageExample() {
  TensorMap map;
  map.extents = {{64, {}}, {28, {}}, {30, {}}, {1, {0}}};
  map.strides = {{1, {}}, {64, {}}, {1792, {}}, {53760, {}}};
  map.box = {64, 1024, 1, 1};
  map.windows = {{-1, -2, 2}, {0, 3, 1}};
  return map;
}

TEST(TensorMap, OfAnImageSurvivesBeingALine) {
  std::string line = tensorMapLine("kernel", imageExample());
  EXPECT_EQ(line,
            "// tensor_map kernel bf16 0 4 0 64 1 64 28 64 1024 30 1792 1 "
            "1*s0 53760 1 -1 -2 2 0 3 1\n");
  auto maps = tensorMapsOf(line, "kernel");
  ASSERT_TRUE(maps.ok());
  ASSERT_EQ(maps->size(), 1U);
  EXPECT_EQ(tensorMapLine("kernel", maps->front()), line);
}

struct EncodedImage {
  std::vector<int> low, high;
  uint32_t channels = 0, windows = 0;
  std::vector<uint32_t> steps;
};
EncodedImage encodedImage;

cuda::Code encodeImage(void *, int, uint32_t rank, void *, const uint64_t *,
                       const uint64_t *, const int *low, const int *high,
                       uint32_t channels, uint32_t windows,
                       const uint32_t *steps, int, int, int, int) {
  encodedImage = {{low, low + rank - 2},
                  {high, high + rank - 2},
                  channels,
                  windows,
                  {steps, steps + rank}};
  return cuda::success;
}

TEST(TensorMap, OfAnImageIsEncodedForItsLaunch) {
  cuda::Driver driver;
  driver.encodeImageMap = encodeImage;
  std::vector<std::byte> memory(64);
  void *buffers[] = {memory.data()};
  int64_t dims[] = {16};
  alignas(tensorMapAlignment) std::byte to[tensorMapBytes];
  ASSERT_TRUE(encodeTensorMap(driver, imageExample(), dims, buffers, to).ok());
  EXPECT_EQ(encodedImage.low, (std::vector<int>{-1, 0}));
  EXPECT_EQ(encodedImage.high, (std::vector<int>{-2, 3}));
  EXPECT_EQ(encodedImage.channels, 64U);
  EXPECT_EQ(encodedImage.windows, 1024U);
  EXPECT_EQ(encodedImage.steps, (std::vector<uint32_t>{1, 2, 1, 1}));
}

TEST(TensorMap, IsEncodedForItsLaunch) {
  cuda::Driver driver;
  driver.encodeTensorMap = encode;
  std::vector<std::byte> memory(4096);
  void *buffers[] = {nullptr, memory.data()};
  int64_t dims[] = {5, 7};
  alignas(tensorMapAlignment) std::byte to[tensorMapBytes];
  ASSERT_TRUE(encodeTensorMap(driver, example(), dims, buffers, to).ok());
  EXPECT_EQ(encoded.type, cuda::tensorOfF16);
  EXPECT_EQ(encoded.address, memory.data() + 32);
  EXPECT_EQ(encoded.extents, (std::vector<uint64_t>{512, 70, 3}));
  EXPECT_EQ(encoded.strides, (std::vector<uint64_t>{1024, 2 * 1024 * 35}));
  EXPECT_EQ(encoded.box, (std::vector<uint32_t>{64, 128, 1}));
}

// The driver takes no extent of 0.
TEST(TensorMap, OfNothingIsNotEncoded) {
  cuda::Driver driver;
  driver.encodeTensorMap = [](auto...) { return cuda::success + 1; };
  void *buffers[] = {nullptr, nullptr};
  int64_t dims[] = {5, 0};
  alignas(tensorMapAlignment) std::byte to[tensorMapBytes];
  to[0] = std::byte(1);
  ASSERT_TRUE(encodeTensorMap(driver, example(), dims, buffers, to).ok());
  EXPECT_EQ(to[0], std::byte(0));
}

TEST(TensorMap, NeedsItsDimsAndBuffers) {
  cuda::Driver driver;
  driver.encodeTensorMap = encode;
  void *buffers[] = {nullptr, nullptr};
  int64_t dims[] = {5, 7}, huge[] = {INT64_MAX, 7}, negative[] = {-1, 7};
  alignas(tensorMapAlignment) std::byte to[tensorMapBytes];
  auto encodes = [&](std::span<const int64_t> dims,
                     std::span<void *const> buffers) {
    return encodeTensorMap(driver, example(), dims, buffers, to).ok();
  };
  EXPECT_TRUE(encodes(dims, buffers));
  EXPECT_FALSE(encodes(std::span(dims).first(1), buffers));
  EXPECT_FALSE(encodes(dims, std::span(buffers).first(1)));
  EXPECT_FALSE(encodes(huge, buffers));
  EXPECT_FALSE(encodes(negative, buffers));
}

} // namespace
