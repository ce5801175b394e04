/// IDX files, MNIST and CIFAR.
#include "tests/unit/datasets/Folder.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/BasicOps.h>
#include <sinter/data/Cifar.h>
#include <sinter/data/Dataset.h>
#include <sinter/data/Idx.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <span>
#include <vector>

using namespace sinter;
using data::IdxArray;

static_assert(data::Dataset<data::Mnist> && data::Dataset<data::Cifar10> &&
              data::Dataset<data::Cifar100>);

namespace {

std::string bigEndian(uint32_t number) {
  std::string digits;
  for (int shift : {24, 16, 8, 0})
    digits += char(number >> shift);
  return digits;
}

std::string header(uint8_t code, const std::vector<uint32_t> &shape) {
  std::string text("\0\0", 2);
  text += char(code);
  text += char(shape.size());
  for (uint32_t dim : shape)
    text += bigEndian(dim);
  return text;
}

IdxArray parse(const std::string &text) {
  return data::parse_idx(std::as_bytes(std::span(text)));
}

/// A numbered element as the file has it.
template <typename T> std::string element(T value) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (std::endian::native == std::endian::little)
    std::ranges::reverse(bytes);
  return {bytes.data(), bytes.size()};
}

template <typename T> void roundTrip(uint8_t code, DType dtype) {
  std::vector<T> values = {T(1), T(-2), T(3.5), T(100), T(0), T(7)};
  std::string text = header(code, {2, 3});
  for (T value : values)
    text += element(value);
  IdxArray array = parse(text);
  EXPECT_EQ(array.dtype, dtype);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(data::to_tensor(array).to_vector<T>(), values);
}

class Idx : public FolderTest {};

/// The raw bytes stored in a gzip file, in blocks that are not compressed.
std::string gzipOf(const std::string &text);

} // namespace

TEST(IdxArrays, OfEveryDTypeAreRead) {
  roundTrip<uint8_t>(0x08, DType::u8);
  roundTrip<int8_t>(0x09, DType::i8);
  roundTrip<int16_t>(0x0b, DType::i16);
  roundTrip<int32_t>(0x0c, DType::i32);
  roundTrip<float>(0x0d, DType::f32);
  roundTrip<double>(0x0e, DType::f64);
}

TEST(IdxArrays, OfAnyRankAreRead) {
  EXPECT_EQ(parse(header(8, {}) + "x").shape.size(), 0U);
  EXPECT_EQ(parse(header(8, {1, 1, 1, 1, 2, 1}) + "xy").bytes.size(), 2U);
  EXPECT_EQ(parse(header(8, {5, 0, 7})).bytes.size(), 0U);
  EXPECT_EQ(parse(header(8, {0xffffffff, 0xffffffff, 0xffffffff, 0})).shape[0],
            0xffffffff);
}

TEST(IdxArrays, HostileHeadersAreErrors) {
  std::string good = header(0x0c, {2, 3}) + std::string(24, 'x');
  EXPECT_EQ(parse(good).bytes.size(), 24U);
  for (size_t length = 0; length < good.size(); ++length)
    errorOf([&] { parse(good.substr(0, length)); });
  expectPart(errorOf([&] { parse(good + "x"); }), "more than the 24 bytes");
  expectPart(errorOf([&] { parse(good.substr(0, 30)); }),
             "18 bytes of data, its header says 24");
  expectPart(errorOf([] { parse("PK\3\4 and so on"); }),
             "does not begin as an IDX file");
  expectPart(errorOf([] { parse(header(0x0a, {1}) + "xx"); }),
             "0x0a is no type");
  // Products beyond 64 bits, and a rank of 255 without axes.
  expectPart(errorOf([] {
               parse(header(0x0e, std::vector<uint32_t>(8, 0xffffffff)));
             }),
             "more than there can be");
  expectPart(errorOf([] { parse(std::string("\0\0\x08\xff", 4)); }),
             "cut short");
}

TEST_F(Idx, PackedFilesAreUnpacked) {
  std::string plain = header(8, {3}) + "abc";
  std::string file = write("a.gz", gzipOf(plain));
  EXPECT_EQ(data::read_idx(file), parse(plain));
  expectPart(
      errorOf([&] { data::read_idx(write("b.gz", gzipOf(plain + "d"))); }),
      "more than the 3 bytes");
  std::string cut = gzipOf(plain).substr(0, 20);
  expectPart(errorOf([&] { data::read_idx(write("c.gz", cut)); }), "c.gz");
  // 4 GiB out of nothing.
  std::string liar = gzipOf(header(8, {0xffffffff}) + "abc");
  expectPart(errorOf([&] { data::read_idx(write("d.gz", liar)); }),
             "more than there can be");
}

TEST_F(Idx, FilesOfMnistBelongTogether) {
  write("train-images-idx3-ubyte", header(8, {2, 2, 3}) + "abcdefghijkl");
  write("train-labels.idx1-ubyte", header(8, {2}) + "\5\7");
  data::Mnist digits(folder);
  ASSERT_EQ(digits.size(), 2);
  auto [image, label] = digits.get(1);
  EXPECT_EQ(label, 7);
  EXPECT_EQ(digits.label(0), 5);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.at(1, 2), 'l');
  errorOf([&] { digits.get(2); }, ErrorKind::invalid_argument);
  errorOf([&] { digits.get(-1); }, ErrorKind::invalid_argument);
  expectPart(errorOf([&] { data::Mnist(folder, false); }),
             "no t10k-images-idx3-ubyte");
  write("train-labels.idx1-ubyte", header(8, {3}) + "\5\7\1");
  expectPart(errorOf([&] { data::Mnist{folder}; }), "2 images, but 3 labels");
  write("train-labels.idx1-ubyte", header(9, {2}) + "\5\7");
  expectPart(errorOf([&] { data::Mnist{folder}; }), "i8[2], expected u8");
}

TEST(Mnist, IsReadAsItIsPublished) {
  const char *suites = std::getenv("SINTER_SUITES");
  if (!suites)
    GTEST_SKIP() << "SINTER_SUITES names no folder";
  std::string folder = std::string(suites) + "/data/mnist";
  const std::array<std::array<int64_t, 10>, 2> counts = {
      {{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
       {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}}};
  for (bool train : {true, false}) {
    data::Mnist digits(folder, train);
    EXPECT_EQ(digits.size(), train ? 60000 : 10000);
    std::array<int64_t, 10> found{};
    for (int64_t i = 0; i < digits.size(); ++i)
      ++found.at(size_t(digits.label(i)));
    EXPECT_EQ(found, counts[train ? 0 : 1]);
  }
  data::Mnist digits(folder);
  int64_t sum = 0;
  for (int64_t i = 0; i < digits.size(); ++i)
    for (uint8_t sample : digits.get(i).image.pixels)
      sum += sample;
  // The mean that everybody normalizes with.
  EXPECT_NEAR(double(sum) / 255 / (60000. * 784), 0.1307, 0.00005);
}

// ---- CIFAR ------------------------------------------------------------------

namespace {

std::string records(int64_t count, const std::string &labels,
                    unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    for (char most : labels)
      text += char(int(random() % unsigned(most)));
    for (int sample = 0; sample < 3072; ++sample)
      text += char(random());
  }
  return text;
}

class Cifar : public FolderTest {};

} // namespace

TEST_F(Cifar, TenClassesAreFiveFilesAndOne) {
  std::string batch;
  for (int i = 1; i <= 5; ++i) {
    batch = records(i, "\x0a", unsigned(i));
    write("data_batch_" + std::to_string(i) + ".bin", batch);
  }
  write("test_batch.bin", records(2, "\x0a"));
  data::Cifar10 train(folder), test(folder, false);
  EXPECT_EQ(train.size(), 15);
  EXPECT_EQ(test.size(), 2);
  EXPECT_TRUE(train.classes().empty());
  write("batches.meta.txt", "airplane\nautomobile\r\n\n");
  EXPECT_EQ(data::Cifar10(folder).classes(),
            (std::vector<std::string>{"airplane", "automobile"}));
  // The last record of the last file: planes become pixels.
  auto [image, label] = train.get(14);
  std::string record = batch.substr(4 * 3073UL);
  EXPECT_EQ(label, record[0]);
  EXPECT_EQ(image.channels, 3);
  for (int64_t y : {0, 31})
    for (int64_t x : {0, 17, 31})
      for (int64_t c : {0, 1, 2})
        EXPECT_EQ(image.at(y, x, c),
                  uint8_t(record[size_t(1 + c * 1024 + y * 32 + x)]));
  errorOf([&] { train.get(15); }, ErrorKind::invalid_argument);
}

TEST_F(Cifar, HundredClassesHaveTwoLabels) {
  std::string batch = records(3, "\x14\x64");
  write("train.bin", batch);
  write("test.bin", records(1, "\x14\x64"));
  write("fine_label_names.txt", "apple\nbee\n");
  write("coarse_label_names.txt", "fruit\n");
  data::Cifar100 train(folder);
  ASSERT_EQ(train.size(), 3);
  auto item = train.get(2);
  EXPECT_EQ(item.coarse_label, batch[2 * 3074UL]);
  EXPECT_EQ(item.label, batch[2 * 3074UL + 1]);
  EXPECT_EQ(item.image.at(0, 1, 2), uint8_t(batch[2 * 3074UL + 2 + 2049]));
  EXPECT_EQ(train.classes()[1], "bee");
  EXPECT_EQ(train.coarse_classes()[0], "fruit");
}

TEST_F(Cifar, DamagedFilesAreErrors) {
  write("test_batch.bin", records(2, "\x0a").substr(0, 6000));
  expectPart(errorOf([&] { data::Cifar10(folder, false); }),
             "6000 bytes, which are no records of 3073");
  write("test_batch.bin", "");
  errorOf([&] { data::Cifar10(folder, false); });
  write("test_batch.bin", std::string(1, 10) + std::string(3072, 0));
  expectPart(errorOf([&] { data::Cifar10(folder, false); }),
             "record 0 has label 10 of 10 classes");
  write("data_batch_1", "\x80\x02}q");
  expectPart(errorOf([&] { data::Cifar10{folder}; }),
             "take the binary version, with data_batch_1.bin");
}

// ---- gzip, stored -----------------------------------------------------------

namespace {

uint32_t checksum(const std::string &text) {
  uint32_t crc = ~0U;
  for (char c : text) {
    crc ^= uint8_t(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

std::string littleEndian(uint32_t number, int bytes) {
  std::string digits;
  for (int i = 0; i < bytes; ++i)
    digits += char(number >> (8 * i));
  return digits;
}

std::string gzipOf(const std::string &text) {
  auto size = uint32_t(text.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10) + "\1" +
         littleEndian(size, 2) + littleEndian(~size, 2) + text +
         littleEndian(checksum(text), 4) + littleEndian(size, 4);
}

} // namespace
