/// Safetensors: round trips, determinism, and refusals that name the tensor.
#include "tests/Sanitized.h"

#include "runtime/params/Safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace sinter;
using namespace sinter::runtime;

namespace {

class Safetensors : public testing::Test {
protected:
  void SetUp() override {
    auto *info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             ("sinter-" + std::string(info->name()) + "-" +
              std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    path = folder / "model.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static std::string readAll(const std::string &from) {
    std::ifstream in(from, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void writeRaw(const std::string &header, size_t dataBytes,
                const std::string &fill = {}) {
    std::ofstream out(path, std::ios::binary);
    uint64_t length = header.size();
    out.write(reinterpret_cast<const char *>(&length), sizeof(length));
    out << header << fill << std::string(dataBytes - fill.size(), '\0');
  }
  /// Expects a refusal whose message holds every one of `parts`.
  void expectRefused(std::initializer_list<const char *> parts,
                     ErrorKind kind = ErrorKind::io) {
    auto file = SafetensorsFile::open(path);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().kind, kind) << file.error().message;
    EXPECT_NE(file.error().message.find(path), std::string::npos);
    for (const char *part : parts)
      EXPECT_NE(file.error().message.find(part), std::string::npos)
          << file.error().message << " lacks " << part;
  }

  std::filesystem::path folder;
  std::string path;
};

template <typename T, size_t n>
std::span<const std::byte> bytesOf(const std::array<T, n> &data) {
  return std::as_bytes(std::span(data));
}

} // namespace

// A list of dims of twenty megabytes: refused with a small part of that.
TEST_F(Safetensors, RefusesMillionsOfAxes) {
  std::string shape = "1";
  for (int axis = 1; axis < 10'000'000; ++axis)
    shape += ",1";
  writeRaw(R"({"w":{"dtype":"U8","shape":[)" + shape +
               R"(],"data_offsets":[0,1]}})",
           1);
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  expectRefused({"more than", "values"});
  getrusage(RUSAGE_SELF, &after);
  int64_t grown = int64_t(after.ru_maxrss - before.ru_maxrss) << 10;
  if (!hasAddressSanitizer()) // which keeps what was freed
    EXPECT_LT(grown, (64 << 20) + 4 * int64_t(shape.size()));
  writeRaw(R"({"w":{"dtype":"U8","shape":[)" + shape.substr(0, 129) +
               R"(],"data_offsets":[0,1]}})",
           1);
  expectRefused({"'w'", "65 dims, more than 64"}, ErrorKind::unsupported);
}

TEST_F(Safetensors, NamesArePrintable) {
  writeRaw(R"({"w\u001b[31m":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}})",
           1);
  expectRefused({"'w\\x1b[31m'", "takes 2 bytes"});
}

TEST_F(Safetensors, RoundTripsEveryDType) {
  std::array<double, 6> data = {1, -2, 0.5, 1e300, -0.0, 3};
  std::vector<NamedTensor> tensors;
  for (DType type :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16,
        DType::i32, DType::i64, DType::u8, DType::c64, DType::f8e4m3fn,
        DType::f8e5m2, DType::f8e8m0fnu, DType::u16, DType::u32, DType::u64,
        DType::f8e4m3fnuz, DType::f8e5m2fnuz})
    tensors.push_back({"t." + std::string(name(type)),
                       type,
                       {2, 3},
                       bytesOf(data).first(6 * byteWidth(type))});
  std::array<uint8_t, 2> bits = {1, 0};
  tensors.push_back({"mask", DType::boolean, {2}, bytesOf(bits)});
  tensors.push_back({"empty", DType::f32, {0, 7}, {}});
  tensors.push_back({"scalar", DType::f64, {}, bytesOf(data).first(8)});
  ASSERT_TRUE(
      writeSafetensors(path, tensors, {{"made by", "a \"test\""}}).ok());

  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->tensors().size(), tensors.size());
  for (const NamedTensor &tensor : tensors) {
    const NamedTensor *found = file->find(tensor.name);
    ASSERT_TRUE(found) << tensor.name;
    EXPECT_EQ(found->dtype, tensor.dtype);
    EXPECT_EQ(found->shape, tensor.shape);
    EXPECT_TRUE(std::ranges::equal(found->data, tensor.data));
    size_t alignment = std::min<size_t>(byteWidth(tensor.dtype), 8);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->data.data()) % alignment, 0u);
  }
  ASSERT_EQ(file->metadata().size(), 1u);
  EXPECT_EQ(file->metadata()[0].second, "a \"test\"");
}

TEST_F(Safetensors, OrderOfInputDoesNotChangeTheBytes) {
  std::array<float, 2> a = {1, 2};
  std::array<int64_t, 1> b = {7};
  NamedTensor first{"a", DType::f32, {2}, bytesOf(a)};
  NamedTensor second{"b", DType::i64, {1}, bytesOf(b)};
  ASSERT_TRUE(writeSafetensors(path, std::array{first, second},
                               {{"x", "1"}, {"y", "2"}})
                  .ok());
  std::string forward = readAll(path);
  ASSERT_TRUE(writeSafetensors(path, std::array{second, first},
                               {{"y", "2"}, {"x", "1"}})
                  .ok());
  EXPECT_EQ(readAll(path), forward);
}

TEST_F(Safetensors, MappingOutlivesReplacement) {
  std::array<float, 2> a = {1, 2}, b = {3, 4};
  NamedTensor tensor{"a", DType::f32, {2}, bytesOf(a)};
  ASSERT_TRUE(writeSafetensors(path, std::span(&tensor, 1)).ok());
  auto before = SafetensorsFile::open(path);
  ASSERT_TRUE(before.ok());
  tensor.data = bytesOf(b);
  ASSERT_TRUE(writeSafetensors(path, std::span(&tensor, 1)).ok());
  EXPECT_TRUE(std::ranges::equal(before->find("a")->data, bytesOf(a)));
  auto after = SafetensorsFile::open(path);
  ASSERT_TRUE(after.ok());
  EXPECT_TRUE(std::ranges::equal(after->find("a")->data, bytesOf(b)));
}

TEST_F(Safetensors, FailedWriteKeepsTheOldFile) {
  std::array<float, 2> a = {1, 2};
  NamedTensor tensor{"a", DType::f32, {2}, bytesOf(a)};
  ASSERT_TRUE(writeSafetensors(path, std::span(&tensor, 1)).ok());
  std::string before = readAll(path);
  Status twice = writeSafetensors(path, std::array{tensor, tensor});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(twice.error().message.find("'a'"), std::string::npos);
  EXPECT_EQ(readAll(path), before);

  std::string missing = folder / "no" / "such" / "folder";
  Status nowhere = writeSafetensors(missing, std::span(&tensor, 1));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::io);
  size_t files = 0;
  for ([[maybe_unused]] auto &entry :
       std::filesystem::directory_iterator(folder))
    ++files;
  EXPECT_EQ(files, 1u) << "a temporary file was left behind";
}

TEST_F(Safetensors, TensorsAreMadeWhenTheyAreWritten) {
  // One piece of memory serves all.
  std::array<float, 2> memory = {};
  std::vector<std::string> asked;
  auto made = [&](const std::string &name, float value) {
    return MadeTensor{name,
                      DType::f32,
                      {2},
                      [&, name, value]() -> Result<std::span<const std::byte>> {
                        asked.push_back(name);
                        memory = {value, value};
                        return bytesOf(memory);
                      }};
  };
  std::vector<MadeTensor> tensors{made("b", 2), made("a", 1)};
  auto write = [&] {
    return writeSafetensors(path, std::span<const MadeTensor>(tensors));
  };
  ASSERT_TRUE(write().ok());
  EXPECT_EQ(asked, (std::vector<std::string>{"a", "b"}));
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  std::array<float, 2> ones = {1, 1}, twos = {2, 2};
  EXPECT_TRUE(std::ranges::equal(file->find("a")->data, bytesOf(ones)));
  EXPECT_TRUE(std::ranges::equal(file->find("b")->data, bytesOf(twos)));

  // What one fails with is what writing fails with, and the old file stays.
  std::string before = readAll(path);
  tensors[0].elements = []() -> Result<std::span<const std::byte>> {
    return makeError(ErrorKind::io, "b is gone");
  };
  Status failed = write();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "b is gone");
  tensors[0].shape = {3};
  tensors[0].elements = [&]() -> Result<std::span<const std::byte>> {
    return bytesOf(memory);
  };
  EXPECT_FALSE(write().ok());
  EXPECT_EQ(readAll(path), before);
}

TEST_F(Safetensors, RefusesFilesThatAreNone) {
  path = folder / "missing";
  expectRefused({"No such file"});
  path = folder;
  expectRefused({"not a regular file"});
  path = folder / "short";
  std::ofstream(path) << "abc";
  expectRefused({"3 bytes are too few"});
}

TEST_F(Safetensors, RefusesBadHeaders) {
  writeRaw("[]", 0);
  expectRefused({"does not begin with '{'"});
  writeRaw("{\"a\":", 0);
  expectRefused({"json", "byte 5"});
  writeRaw(R"({"__metadata__":{"a":1}})", 0);
  expectRefused({"__metadata__ \"a\" is no string"});
  std::string entry = R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]})";
  writeRaw("{" + entry + "," + entry + "}", 4);
  expectRefused({"duplicate key \"a\""});
}

TEST_F(Safetensors, RefusesBadEntries) {
  auto refuse = [&](const std::string &entry, size_t bytes,
                    std::initializer_list<const char *> parts,
                    ErrorKind kind = ErrorKind::io) {
    writeRaw("{\"w\":" + entry + "}", bytes);
    expectRefused(parts, kind);
  };
  refuse("7", 0, {"'w'", "no object"});
  refuse(R"({"shape":[1],"data_offsets":[0,4]})", 4, {"'w'", "dtype"});
  refuse(R"({"dtype":"F31","shape":[1],"data_offsets":[0,4]})", 4,
         {"'w'", "F31"}, ErrorKind::unsupported);
  refuse(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4,
         {"'w'", "shape"});
  refuse(R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})", 4,
         {"'w'", "shape"});
  refuse(R"({"dtype":"F32","shape":[4294967296,4294967296],)"
         R"("data_offsets":[0,0]})",
         0, {"'w'", "overflows"});
  refuse(R"({"dtype":"F32","shape":[0,9223372036854775808],)"
         R"("data_offsets":[0,0]})",
         0, {"'w'", "overflows"});
  refuse(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,8]})", 4,
         {"'w'", "3 entries"});
  refuse(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", 4,
         {"'w'", "[4,0]"});
  refuse(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})", 4,
         {"'w'", "[0,8]"});
  refuse(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", 4,
         {"'w'", "takes 8 bytes"});
  refuse(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})", 4,
         {"'w'", "\"x\""});
  refuse(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8,
         {"'w'", "hole"});
  refuse(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 8,
         {"4 data bytes belong to no tensor"});
  writeRaw(R"({"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 1,
           "\x02");
  expectRefused({"'w'", "neither 0 nor 1"});
}

TEST_F(Safetensors, RefusesEveryTruncation) {
  std::array<float, 2> a = {1, 2};
  NamedTensor tensor{"a", DType::f32, {2}, bytesOf(a)};
  ASSERT_TRUE(writeSafetensors(path, std::span(&tensor, 1)).ok());
  std::string whole = readAll(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(SafetensorsFile::open(path).ok()) << size;
  }
}
