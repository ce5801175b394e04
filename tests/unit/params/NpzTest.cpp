/// `.npz` files and the zip archives that they are.
#include "runtime/params/Npz.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> fromHex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (size_t at = 0; at < hex.size(); at += 2)
    bytes.push_back(
        std::byte(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16)));
  return bytes;
}

/// numpy.savez_compressed of NumPy 2.4.6: w = [[0, 1], [2, 3]] as f32, n = 7.
constexpr std::string_view compressed =
    "504b03042d00000008000000210091f4e7dbffffffffffffffff05001400772e6e70790100"
    "1000900000000000000050000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46e"
    "a5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f9"
    "1a463a0a469a3a0ab50a64032e063068b007120e40e40000504b03042d0000000800000021"
    "0023b8f06cffffffffffffffff050014006e2e6e7079010010008800000000000000460000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54"
    "529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a14012e76060800"
    "00504b01022d032d00000008000000210091f4e7db50000000900000000500000000000000"
    "00000000800100000000772e6e7079504b01022d032d00000008000000210023b8f06c4600"
    "0000880000000500000000000000000000008001870000006e2e6e7079504b050600000000"
    "0200020066000000040100000000";

class Npz : public testing::Test {
protected:
  void SetUp() override { fs::create_directory(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<std::byte> bytesOf(const std::string &file) const {
    std::ifstream in(file, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }

  /// An archive of two arrays; `b` can be packed well.
  std::vector<std::byte> archive(ZipMethod method) {
    std::vector<float> a = {1, 2, 3}, b(1000, 0.5f);
    std::vector<NamedTensor> tensors = {
        {"a", DType::f32, {3}, std::as_bytes(std::span(a))},
        {"folder/b", DType::f32, {10, 100}, std::as_bytes(std::span(b))}};
    Status written = writeNpz(path, tensors, method);
    EXPECT_TRUE(written) << written.error().message;
    return bytesOf(path);
  }

  fs::path folder =
      fs::temp_directory_path() / ("sinter-npz-" + std::to_string(::getpid()));
  std::string path = folder / "x.npz";
};

std::string messageOf(std::span<const std::byte> file) {
  auto arrays = parseNpz(file);
  return arrays ? "accepted" : arrays.error().message;
}

void put32(std::vector<std::byte> &file, size_t at, uint32_t value) {
  std::memcpy(&file[at], &value, sizeof(value));
}

/// The position of the first entry of the directory.
size_t directoryOf(const std::vector<std::byte> &file) {
  uint32_t at = 0;
  std::memcpy(&at, &file[file.size() - 6], sizeof(at));
  return at;
}

} // namespace

TEST_F(Npz, ReadsWhatNumPyCompressed) {
  auto arrays = parseNpz(fromHex(compressed));
  ASSERT_TRUE(arrays) << arrays.error().message;
  ASSERT_EQ(arrays->size(), 2u);
  const auto &[name, array] = arrays->at(0);
  EXPECT_EQ(name, "w");
  EXPECT_EQ(array.dtype, DType::f32);
  EXPECT_EQ(array.dims, (std::vector<int64_t>{2, 2}));
  float values[4];
  ASSERT_EQ(array.bytes.size(), sizeof(values));
  std::memcpy(values, array.bytes.data(), sizeof(values));
  EXPECT_EQ(std::vector<float>(values, values + 4),
            (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(arrays->at(1).first, "n");
  EXPECT_EQ(arrays->at(1).second.dtype, DType::i64);
  EXPECT_EQ(arrays->at(1).second.bytes[0], std::byte{7});
}

TEST_F(Npz, ReadsWhatItWrites) {
  size_t sizes[2] = {};
  for (ZipMethod method : {ZipMethod::stored, ZipMethod::deflated}) {
    auto file = archive(method);
    auto arrays = readNpz(path);
    ASSERT_TRUE(arrays) << arrays.error().message;
    ASSERT_EQ(arrays->size(), 2u);
    EXPECT_EQ(arrays->at(1).first, "folder/b");
    EXPECT_EQ(arrays->at(1).second.dims, (std::vector<int64_t>{10, 100}));
    EXPECT_EQ(arrays->at(1).second.bytes.size(), 4000u);
    EXPECT_EQ(arrays->at(0).second.bytes.size(), 12u);
    EXPECT_EQ(file, archive(method)) << "the bytes are not the same again";
    sizes[method == ZipMethod::deflated] = file.size();
  }
  EXPECT_LT(sizes[1] * 4, sizes[0]);
}

TEST_F(Npz, AnArchiveOfNothing) {
  ASSERT_TRUE(writeNpz(path, {}));
  auto arrays = readNpz(path);
  ASSERT_TRUE(arrays) << arrays.error().message;
  EXPECT_TRUE(arrays->empty());
}

TEST_F(Npz, ANameGivenTwiceIsAnError) {
  std::vector<NamedTensor> tensors(2, {"a", DType::f32, {0}, {}});
  Status written = writeNpz(path, tensors);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Npz, EveryCutOffFileIsRefused) {
  for (ZipMethod method : {ZipMethod::stored, ZipMethod::deflated}) {
    auto file = archive(method);
    for (size_t size = 0; size < file.size(); size += 1 + size / 100)
      EXPECT_FALSE(parseNpz(std::span(file).first(size))) << size;
  }
}

/// No alteration of one byte is overlooked but in what is not read: times,
/// versions and attributes.
TEST_F(Npz, DamagedDataIsRefused) {
  for (ZipMethod method : {ZipMethod::stored, ZipMethod::deflated}) {
    auto file = archive(method);
    size_t directory = directoryOf(file);
    for (size_t at = 35; at < 35 + 78; ++at) { // a.npy, packed
      auto altered = file;
      altered[at] ^= std::byte{0x10};
      EXPECT_FALSE(parseNpz(altered)) << at;
    }
    auto altered = file;
    altered[directory - 1] ^= std::byte{1};
    EXPECT_FALSE(parseNpz(altered));
  }
}

TEST_F(Npz, HostileArchivesAreErrorsThatSayWhy) {
  auto good = archive(ZipMethod::deflated);
  size_t first = directoryOf(good), second = first + 46 + 5;
  auto with = [&](size_t at, uint32_t value) {
    auto file = good;
    put32(file, at, value);
    return messageOf(file);
  };
  // Sizes that the data cannot have, or only with far more memory.
  EXPECT_EQ(with(first + 24, 0xfffffff0), "zip: 'a.npy': 4294967280 bytes "
                                          "cannot come of 79");
  EXPECT_EQ(with(first + 24, 141), "zip: 'a.npy' is damaged");
  EXPECT_EQ(with(first + 24, 139), "zip: 'a.npy' is damaged");
  EXPECT_EQ(with(first + 20, 0x7fffffff),
            "zip: 'a.npy' does not lie before the directory");
  // An entry inside another: a bomb by repetition.
  EXPECT_EQ(with(second + 42, 0), "zip: 'folder/b.npy' has another name in its "
                                  "own header");
  EXPECT_EQ(with(second + 42, 5), "zip: 'folder/b.npy' has no header where the "
                                  "directory says");
  EXPECT_EQ(with(first + 8, 8u << 16 | 1), "zip: 'a.npy' is encrypted");
  EXPECT_EQ(with(first + 8, 12u << 16),
            "zip: 'a.npy': compression method 12 is not supported");
  EXPECT_EQ(with(first + 8, 0), "zip: 'a.npy' is stored, but its sizes differ");
  EXPECT_EQ(with(first + 16, 1), "zip: 'a.npy': the checksum is wrong");
  EXPECT_EQ(with(good.size() - 6, 1), "zip: an entry of the directory is cut "
                                      "off");
  auto listBytes = static_cast<uint32_t>(good.size() - 22 - first);
  EXPECT_EQ(with(good.size() - 12, listBytes << 16 | 255),
            "zip: a directory of 109 bytes cannot hold 255 entries");
  EXPECT_EQ(with(good.size() - 6, 0xffffffff),
            "zip: the 64-bit directory has no locator");
  EXPECT_EQ(with(good.size() - 18, 1),
            "zip: archives of several disks are not supported");
  EXPECT_EQ(messageOf({}), "zip: not a zip archive; this is an empty file");
}

TEST_F(Npz, TheSameEntryTwiceIsRefused) {
  std::vector<std::byte> one(4);
  std::vector<NamedTensor> tensors = {{"a", DType::f32, {1}, one},
                                      {"b", DType::f32, {1}, one}};
  ASSERT_TRUE(writeNpz(path, tensors));
  auto file = bytesOf(path);
  size_t second = directoryOf(file) + 46 + 5;
  put32(file, second + 42, 0);
  file[second + 46] = std::byte{'a'};
  EXPECT_EQ(messageOf(file), "zip: 'a.npy' is there twice");
  // Under two names: the header has but one of them.
  file[second + 46] = std::byte{'b'};
  EXPECT_EQ(messageOf(file), "zip: 'b.npy' has another name in its own header");
}

TEST_F(Npz, WhatIsUnpackedHasALimit) {
  auto file = archive(ZipMethod::deflated);
  EXPECT_TRUE(parseNpz(file, 140 + 4128));
  auto refused = parseNpz(file, 140 + 4127);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "zip: 'folder/b.npy' has 4128 bytes, 4127 are allowed");
}

TEST_F(Npz, OtherFilesInTheArchiveAreAnError) {
  ZipWriter writer;
  std::span<const std::byte> none[] = {{}};
  ASSERT_TRUE(writer.add("readme.txt", none, ZipMethod::stored));
  ASSERT_TRUE(writer.write(path));
  EXPECT_EQ(readNpz(path).error().message,
            path + ": npz: 'readme.txt' is no .npy file");
}

/// A 64-bit directory, as archives beyond 4 GiB have it.
TEST_F(Npz, ReadsTheWideDirectory) {
  auto file = archive(ZipMethod::stored);
  size_t end = file.size() - 22, directory = directoryOf(file);
  std::vector<std::byte> wide(file.begin(),
                              file.begin() + static_cast<ptrdiff_t>(end));
  size_t at = wide.size();
  wide.resize(at + 56 + 20 + 22);
  auto put64 = [&](size_t to, uint64_t value) {
    std::memcpy(&wide[to], &value, sizeof(value));
  };
  put32(wide, at, 0x06064b50);
  put64(at + 24, 2);
  put64(at + 32, 2);
  put64(at + 40, end - directory);
  put64(at + 48, directory);
  put32(wide, at + 56, 0x07064b50);
  put64(at + 56 + 8, at);
  put32(wide, at + 76, 0x06054b50);
  put32(wide, at + 76 + 8, 0xffffffff);
  put32(wide, at + 76 + 12, 0xffffffff);
  put32(wide, at + 76 + 16, 0xffffffff);
  auto arrays = parseNpz(wide);
  ASSERT_TRUE(arrays) << arrays.error().message;
  EXPECT_EQ(arrays->size(), 2u);
  put64(at + 56 + 8, wide.size());
  EXPECT_EQ(messageOf(wide),
            "zip: the 64-bit directory is not where the locator says");
}
