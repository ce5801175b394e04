/// Tensors from host values: spans, vectors, nested lists.
#include "frontend/Leaves.h"

#include <sinter/Creation.h>
#include <sinter/Memory.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>

using namespace sinter;

namespace {

std::vector<int64_t> sizesOf(const Tensor &tensor) {
  std::vector<int64_t> sizes;
  for (Dim dim : tensor.shape())
    sizes.push_back(dim.value);
  return sizes;
}

template <typename F> void expectError(F function, const std::string &message) {
  try {
    function();
    ADD_FAILURE() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_EQ(error.message(), message);
    EXPECT_NE(error.site().find("CreationTest.cpp"), std::string::npos);
  }
}

} // namespace

/// What was copied can be given back while the rest is copied.
TEST(Creation, SaysWhichBytesWereCopied) {
  std::vector<uint8_t> numbers((size_t(13) << 20) + 4);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = uint8_t(i % 251);
  auto bytes = std::as_bytes(std::span(numbers));
  std::vector<std::atomic<int>> counts(bytes.size() / 4 + 1);
  auto copied = [&](std::span<const std::byte> part) {
    EXPECT_LE(part.size(), size_t(4) << 20);
    for (size_t at = 0; at < part.size(); at += 4)
      ++counts[size_t(part.data() - bytes.data() + at) / 4];
  };
  Tensor leaf =
      detail::leafOf(bytes, DType::u8, {int64_t(bytes.size())}, {}, {}, copied);
  for (size_t i = 0; i < bytes.size() / 4; ++i)
    ASSERT_EQ(counts[i], 1) << i;
  EXPECT_TRUE(leaf.to_vector<uint8_t>() == numbers);
}

TEST(Creation, OfASpan) {
  std::array<int32_t, 6> values = {1, 2, 3, 4, 5, 6};
  Tensor x = tensor(std::span<const int32_t>(values), {2, 3});
  values.fill(0); // the tensor has a copy
  EXPECT_EQ(x.dtype(), DType::i32);
  EXPECT_EQ(sizesOf(x), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  std::span<int32_t> part = std::span(values).first(4);
  EXPECT_EQ(sizesOf(tensor(part, {4})), (std::vector<int64_t>{4}));
}

TEST(Creation, OfAVector) {
  EXPECT_EQ(tensor(std::vector<double>{1, 2}).dtype(), DType::f64);
  Tensor flags = tensor(std::vector<bool>{true, false, true});
  EXPECT_EQ(flags.dtype(), DType::boolean);
  EXPECT_EQ(flags.to_vector<int>(), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(sizesOf(tensor(std::vector<float>{}, {0, 4})),
            (std::vector<int64_t>{0, 4}));
}

TEST(Creation, OfNestedVectors) {
  std::vector<std::vector<float>> rows = {{1, 2, 3}, {4, 5, 6}};
  Tensor x = tensor(rows);
  EXPECT_EQ(sizesOf(x), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor(rows, {.dtype = DType::f64}).dtype(), DType::f64);
  rows[1].pop_back();
  expectError([&] { tensor(rows); }, "tensor: rows have different lengths");
  rows.clear();
  EXPECT_EQ(sizesOf(tensor(rows)), (std::vector<int64_t>{0, 0}));
}

TEST(Creation, OfNestedLists) {
  EXPECT_EQ(sizesOf(tensor({1.f, 2.f, 3.f})), (std::vector<int64_t>{3}));
  Tensor matrix = tensor({{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(sizesOf(matrix), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(matrix.to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  Tensor cube = tensor({{{1.0, 2.0}}, {{3.0, 4.0}}});
  EXPECT_EQ(sizesOf(cube), (std::vector<int64_t>{2, 1, 2}));
  EXPECT_EQ(cube.dtype(), DType::f64);
}

TEST(Creation, AsAnotherDType) {
  Tensor x = tensor({1.5, 2.5}, {.dtype = DType::f16});
  EXPECT_EQ(x.dtype(), DType::f16);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.5f, 2.5f}));
}

TEST(Creation, RaggedRowsAreAnError) {
  const char *message = "tensor: rows have different lengths";
  expectError([] { tensor({{1, 2}, {3}}); }, message);
  expectError([] { tensor({{{1}, {2}}, {{3}}}); }, message);
  expectError([] { tensor({{{1}, {2, 3}}}); }, message);
}

TEST(Creation, ShapesMustFit) {
  std::vector<float> values = {1, 2, 3};
  expectError([&] { tensor(values, {2, 2}); },
              "tensor: 3 elements of f32 do not fill f32[2,2]");
  expectError([&] { tensor(values, {-3}); }, "tensor: bad extent -3");
}

TEST(Creation, WaitsForDevices) {
  Tensor x = tensor({1.0f, 2.0f});
  x.eval();
  synchronize();
  synchronize("cpu");
  try {
    synchronize("vulkan:3");
    ADD_FAILURE() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
  }
}

TEST(Memory, IsCountedAndItsPeakBeginsAgain) {
  sinter::DeviceId device = sinter::default_device();
  sinter::Memory before = sinter::memory(device);
  {
    sinter::Tensor large = sinter::zeros({1 << 20}) + 1.0f;
    large.eval();
    sinter::Memory now = sinter::memory();
    EXPECT_GE(now.in_use, before.in_use + (4 << 20));
    EXPECT_GE(now.peak, now.in_use);
    EXPECT_GE(now.reserved, now.in_use);
    EXPECT_GE(now.total, now.reserved);
  }
  EXPECT_GE(sinter::memory().peak, before.in_use + (4 << 20));
  sinter::reset_peak();
  EXPECT_EQ(sinter::memory().peak, sinter::memory().in_use);
  EXPECT_THROW(sinter::memory("cuda:200"), sinter::Error);
  EXPECT_THROW(sinter::reset_peak("nowhere"), sinter::Error);
}
