/// `.npy` files.
#include "tools/sinter/Npy.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace sinter;
using namespace sinter::cli;

namespace {

Array arrayOf(DType dtype, std::vector<int64_t> dims) {
  Array array{dtype, std::move(dims), {}};
  size_t bytes = byteWidth(dtype);
  for (int64_t dim : array.dims)
    bytes *= size_t(dim);
  for (size_t index = 0; index < bytes; ++index)
    array.bytes.push_back(std::byte(index * 7));
  return array;
}

std::vector<std::byte> bytesOf(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Npy, ReadsWhatItWrites) {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16,
                      DType::i8, DType::i64, DType::u8, DType::boolean})
    for (std::vector<int64_t> dims :
         {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 2, 3, 4}}) {
      Array array = arrayOf(dtype, dims);
      Result<Array> read = parseNpy(formatNpy(array));
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->dtype, array.dtype);
      EXPECT_EQ(read->dims, array.dims);
      EXPECT_EQ(read->bytes, array.bytes);
    }
}

TEST(Npy, HeaderIsAlignedTo64Bytes) {
  Array array = arrayOf(DType::f32, {2, 3});
  EXPECT_EQ((formatNpy(array).size() - array.bytes.size()) % 64, 0u);
}

TEST(Npy, RefusesWhatItCannotRead) {
  std::vector<std::byte> good = formatNpy(arrayOf(DType::f32, {2, 3}));
  for (size_t size : {size_t(0), size_t(5), size_t(20), good.size() - 1})
    EXPECT_FALSE(parseNpy(std::span(good).first(size))) << size;
  auto altered = [&](std::string_view from, std::string_view to) {
    std::string text(reinterpret_cast<const char *>(good.data()), good.size());
    text.replace(text.find(from), from.size(), to);
    return bytesOf(text);
  };
  EXPECT_FALSE(parseNpy(altered("<f4", ">f4")));
  EXPECT_FALSE(parseNpy(altered("<f4", "<c8")));
  EXPECT_FALSE(parseNpy(altered("False", "True ")));
  EXPECT_FALSE(parseNpy(altered("(2, 3)", "(2, 9)")));
  EXPECT_FALSE(parseNpy(altered("(2, 3)", "(-2,3)")));
}

} // namespace
