/// `.npy` files.
#include "runtime/params/Npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

HostArray arrayOf(DType dtype, std::vector<int64_t> dims) {
  HostArray array{dtype, std::move(dims), {}};
  size_t bytes = byteWidth(dtype);
  for (int64_t dim : array.dims)
    bytes *= size_t(dim);
  for (size_t index = 0; index < bytes; ++index)
    array.bytes.push_back(
        std::byte(dtype == DType::boolean ? index % 2 : index * 7));
  return array;
}

std::vector<std::byte> bytesOf(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A file in memory.
std::vector<std::byte> format(const HostArray &array) {
  auto file = bytesOf(*npyHeader(array.dtype, array.dims));
  file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  return file;
}

/// A file of version 1 whose header is `header`.
std::vector<std::byte> fileOf(std::string header, std::string_view data) {
  std::string text("\x93NUMPY\1\0", 8);
  text += {static_cast<char>(header.size() & 255),
           static_cast<char>(header.size() >> 8)};
  return bytesOf(text + header + std::string(data));
}

std::string messageOf(std::string header, std::string_view data = "") {
  Result<HostArray> array = parseNpy(fileOf(std::move(header), data));
  return array ? "accepted" : array.error().message;
}

template <typename T> std::vector<T> valuesOf(const HostArray &array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

constexpr DType stored[] = {DType::f64, DType::f32,     DType::f16, DType::bf16,
                            DType::i8,  DType::i16,     DType::i32, DType::i64,
                            DType::u8,  DType::u16,     DType::u32, DType::u64,
                            DType::c64, DType::boolean, DType::c128};

} // namespace

TEST(Npy, ReadsWhatItWrites) {
  for (DType dtype : stored)
    for (const std::vector<int64_t> &dims :
         {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 2, 3, 4}}) {
      HostArray array = arrayOf(dtype, dims);
      Result<HostArray> read = parseNpy(format(array));
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->dtype, array.dtype);
      EXPECT_EQ(read->dims, array.dims);
      EXPECT_EQ(read->bytes, array.bytes);
    }
}

TEST(Npy, WhatNumPyLacksIsAnErrorByName) {
  for (DType dtype : {DType::f8e4m3fn, DType::f8e5m2, DType::i4, DType::u4}) {
    auto header = npyHeader(dtype, std::vector<int64_t>{2});
    ASSERT_FALSE(header) << name(dtype);
    EXPECT_EQ(header.error().kind, ErrorKind::unsupported);
    EXPECT_NE(header.error().message.find(name(dtype)), std::string::npos);
  }
}

TEST(Npy, HeaderIsAlignedTo64Bytes) {
  for (const std::vector<int64_t> &dims :
       {std::vector<int64_t>{}, {3}, {1 << 20, 12345, 77}})
    EXPECT_EQ(npyHeader(DType::f32, dims)->size() % 64, 0u);
}

/// Made by NumPy 2.4.6: numpy.asfortranarray of numpy.arange(6) as `>i2`,
/// [2,3].
TEST(Npy, ReadsColumnMajorBigEndian) {
  auto file =
      fileOf("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), "
             "}                                                      \n",
             {"\0\0\0\3\0\1\0\4\0\2\0\5", 12});
  Result<HostArray> array = parseNpy(file);
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(valuesOf<int16_t>(*array),
            (std::vector<int16_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, ReadsColumnMajorOfEveryRank) {
  for (const std::vector<int64_t> &dims :
       {std::vector<int64_t>{}, {5}, {2, 3, 4}, {2, 0, 4}}) {
    HostArray array = arrayOf(DType::u8, dims);
    auto file = format(array);
    std::string all(reinterpret_cast<const char *>(file.data()), file.size());
    all.replace(all.find("False"), 5, "True ");
    Result<HostArray> read = parseNpy(bytesOf(all));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->bytes.size(), array.bytes.size());
    if (dims.size() == 3 && dims[1] == 3)
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 3; ++j)
          for (int64_t k = 0; k < 4; ++k)
            EXPECT_EQ(read->bytes[(i * 3 + j) * 4 + k],
                      array.bytes[i + 2 * j + 6 * k]);
    else
      EXPECT_EQ(read->bytes, array.bytes);
  }
}

TEST(Npy, ComplexBytesAreSwappedByHalves) {
  auto file = fileOf("{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}",
                     {"\x3f\x80\0\0\x40\0\0\0", 8});
  Result<HostArray> array = parseNpy(file);
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(valuesOf<float>(*array), (std::vector<float>{1, 2}));
}

TEST(Npy, ReadsOtherSpellings) {
  const char *headers[] = {
      "{\"descr\":\"<i2\",\"fortran_order\":False,\"shape\":(2,)}",
      "{'shape': (2L,), 'fortran_order': False, 'descr': 'i2'}",
      "{'descr': '=i2', 'fortran_order': False, 'shape': (2,), }  \n"};
  for (const char *header : headers) {
    Result<HostArray> array = parseNpy(fileOf(header, {"\1\0\2\0", 4}));
    ASSERT_TRUE(array) << header << ": " << array.error().message;
    EXPECT_EQ(valuesOf<int16_t>(*array), (std::vector<int16_t>{1, 2}));
  }
}

TEST(Npy, ReadsVersionsTwoAndThree) {
  auto file = format(arrayOf(DType::f32, {2}));
  std::string text(reinterpret_cast<const char *>(file.data()), file.size());
  for (char version : {'\2', '\3'}) {
    std::string other = text;
    other[6] = version;
    other.insert(10, 2, '\0');
    EXPECT_TRUE(parseNpy(bytesOf(other)));
  }
  text[6] = '\4';
  EXPECT_FALSE(parseNpy(bytesOf(text)));
}

TEST(Npy, RefusesFilesThatAreCutOffOrTooLong) {
  std::vector<std::byte> good = format(arrayOf(DType::f32, {2, 3}));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parseNpy(std::span(good).first(size))) << size;
  good.push_back(std::byte{0});
  EXPECT_FALSE(parseNpy(good));
}

TEST(Npy, HostileHeadersAreErrorsThatSayWhy) {
  auto type = [](const std::string &descr) {
    return messageOf("{'descr': " + descr +
                     ", 'fortran_order': False, 'shape': (1,)}");
  };
  auto shape = [](const std::string &dims) {
    return messageOf(
        "{'descr': '<f4', 'fortran_order': False, 'shape': " + dims + "}");
  };
  EXPECT_EQ(type("'|O'"), "npy: element type '|O' is not supported");
  EXPECT_EQ(type("'<U4'"), "npy: element type '<U4' is not supported");
  EXPECT_EQ(type("''"), "npy: element type '' is not supported");
  EXPECT_EQ(type("'>V2'"), "npy: element type '>V2' is not supported");
  EXPECT_EQ(type("[('x', '<f4')]"),
            "npy: records of several fields are not supported");
  EXPECT_EQ(type("'<f4"), "npy: element type '<f4, ' is not supported");
  for (const char *dims : {"(-1,)", "(1", "(1,,)", "(a,)", "2", "(1 2)",
                           "(99999999999999999999,)"})
    EXPECT_EQ(shape(dims), "npy: the shape cannot be read") << dims;
  std::string deep = "(";
  for (int axis = 0; axis < 65; ++axis)
    deep += "1,";
  EXPECT_EQ(shape(deep + ")"), "npy: the shape cannot be read");
  EXPECT_EQ(shape("(4294967296, 4294967296)"),
            "npy: the shape (4294967296, 4294967296) is too large");
  EXPECT_EQ(shape("(0, 4294967296, 4294967296)"),
            "npy: the shape (0, 4294967296, 4294967296) is too large");
  EXPECT_EQ(shape("(1000000000000,)"), "npy: 0 bytes of data, the shape "
                                       "(1000000000000) needs 4000000000000");
  EXPECT_EQ(messageOf("{'descr': '<f4', 'shape': (1,)}"),
            "npy: the header lacks descr, fortran_order or shape");
  EXPECT_EQ(messageOf("{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}"),
            "npy: the header has 'descr' twice");
  EXPECT_EQ(messageOf("{'descr': '<f4', 'x': 1}"),
            "npy: the header has the unknown key 'x'");
  EXPECT_EQ(messageOf("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}"),
            "npy: fortran_order is neither True nor False");
  EXPECT_EQ(messageOf("[]"), "npy: the header is no dictionary");
  EXPECT_EQ(messageOf(""), "npy: the header is no dictionary");
  EXPECT_EQ(
      messageOf("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\2"),
      "npy: a bool byte is neither 0 nor 1");
  std::string wide("\x93NUMPY\2\0\0\0\0\x7f", 12);
  EXPECT_EQ(parseNpy(bytesOf(wide)).error().message,
            "npy: a header of 2130706432 bytes exceeds 65536");
}

TEST(Npy, FilesAreReplacedAtOnceAndErrorsNameThem) {
  namespace fs = std::filesystem;
  fs::path folder =
      fs::temp_directory_path() / ("sinter-npy-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  std::string path = folder / "a.npy";
  HostArray array = arrayOf(DType::i32, {2, 2});
  ASSERT_TRUE(writeNpy(path, viewOf(array)));
  array.bytes[0] = std::byte{9};
  ASSERT_TRUE(writeNpy(path, viewOf(array)));
  Result<HostArray> read = readNpy(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, array.bytes);
  Status refused = writeNpy(path, viewOf(HostArray{DType::i4, {}, {}}));
  EXPECT_EQ(refused.error().message.find(path), 0u);
  EXPECT_EQ(readNpy(path)->bytes, array.bytes) << "the old file is gone";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1)
      << "a temporary file stayed";
  fs::resize_file(path, 130);
  EXPECT_EQ(readNpy(path).error().message.find(path + ": npy: "), 0u);
  fs::remove_all(folder);
}
