/// Tensors of model files: inside, beside, zero; checked when they are used.
#include "runtime/program/WeightStore.h"

#include "runtime/files/MappedFile.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Stats.h"
#include "tests/unit/program/ModelBuilder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

class WeightStoreTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             ("weight-store-" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder;
};

bool holds(Result<std::span<const std::byte>> found,
           const std::vector<std::byte> &expected) {
  EXPECT_TRUE(found) << found.error().message;
  return found && std::ranges::equal(*found, expected);
}

/// Weights of several blocks: what follows is one more tensor.
ModelBuilder largeModel() {
  ModelBuilder b = smallModel();
  constexpr int64_t count = 3 << 20; // 12 MiB
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[size_t(i)] = float(i);
  b.info.tensors.insert(b.info.tensors.begin() + 3,
                        {"large", DType::f32, {count}});
  b.data.insert(b.data.begin() + 3, bytesOf(values));
  b.info.states[0].initial = 4;
  return b;
}

} // namespace

TEST_F(WeightStoreTest, givesEveryTensor) {
  ModelBuilder b = smallModel();
  std::vector<std::byte> file = b.file();
  auto model = *readModel(file);
  auto info = *readModelInfo(model);
  WeightStore store(model, info, "");
  ASSERT_EQ(store.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_TRUE(holds(store.bytesOf(i), b.data[i])) << i;
  auto first = *store.bytesOf(0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data()) % 4,
            reinterpret_cast<uintptr_t>(file.data()) % 4)
      << "nothing is copied";
  EXPECT_EQ(first.data(), store.bytesOf(1)->data());
}

TEST_F(WeightStoreTest, checksBlocksWhenTheyAreUsed) {
  ModelBuilder b = largeModel();
  std::string path = (folder / "large.sinter").string();
  ASSERT_TRUE(b.writer().write(path));
  auto mapped = *MappedFile::open(path);
  EXPECT_TRUE(std::ranges::equal(mapped.bytes(), b.file()))
      << "written part by part or at once";
  std::vector<std::byte> bytes(mapped.bytes().begin(), mapped.bytes().end());
  size_t start =
      size_t(readModel(bytes)->find(SectionKind::weights)->bytes.data() -
             bytes.data());
  bytes[start + 2 * digestBlock + 5] ^= std::byte(1);
  EXPECT_FALSE(readModel(bytes));
  auto model = *readModel(bytes, ModelCheck::untilUse);
  auto info = *readModelInfo(model);
  WeightStore store(model, info, "");
  resetStats();
  EXPECT_TRUE(holds(store.bytesOf(0), b.data[0]));
  EXPECT_TRUE(holds(store.bytesOf(2), b.data[2]));
  EXPECT_EQ(readStats().blocksChecked, 1u) << "once, and no other";
  auto broken = store.bytesOf(3);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message.substr(0, 71),
            "model file: the digest of weights section 0 is wrong in block 2 "
            "(bytes ");
  EXPECT_FALSE(store.bytesOf(3)) << "it stays an error";
}

TEST_F(WeightStoreTest, findsTensorsBeside) {
  ModelBuilder b = smallModel();
  std::vector<NamedTensor> tensors = {{"weight", DType::f32, {8}, b.data[0]},
                                      {"bias", DType::f32, {3}, b.data[2]}};
  std::string path = (folder / "w.safetensors").string();
  ASSERT_TRUE(writeSafetensors(path, tensors));
  auto written = *MappedFile::open(path);
  b.info.externals = {{"w.safetensors", written.bytes().size(),
                       sectionDigest(written.bytes())}};
  for (size_t i : {0, 2}) {
    b.info.tensors[i].externalFile = "w.safetensors";
    b.info.tensors[i].externalName = b.info.tensors[i].name;
    b.info.tensors[i].bytes = b.data[i].size();
  }
  std::vector<std::byte> file = b.file();
  auto model = *readModel(file);
  auto info = *readModelInfo(model);
  WeightStore store(model, info, folder.string());
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_TRUE(holds(store.bytesOf(i), b.data[i])) << i;

  auto refused = WeightStore(model, info, "").bytesOf(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "model file: the weights are in 'w.safetensors' beside the file, "
            "and what was loaded is no file");
  tensors[1].data = std::span(b.data[0]).first(12);
  ASSERT_TRUE(writeSafetensors(path, tensors));
  auto other = WeightStore(model, info, folder.string()).bytesOf(0);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "model file: 'w.safetensors' beside it is another file than the "
            "one that was written with the model: size or digest differ");
  fs::remove(path);
  EXPECT_FALSE(WeightStore(model, info, folder.string()).bytesOf(0));
}

// Writes 4.5 GB: among the full tests only.
TEST_F(WeightStoreTest, filesMayBeLargerThanFourGigabytes) {
  if (!std::getenv("SINTER_TEST_LARGE"))
    GTEST_SKIP() << "SINTER_TEST_LARGE runs it";
  constexpr size_t each = size_t(3) << 28, count = 6, shift = 4096;
  std::vector<std::byte> numbers(each + count * shift);
  for (size_t i = 0; i + 8 <= numbers.size(); i += 8) {
    uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15;
    std::memcpy(&numbers[i], &mixed, sizeof(mixed));
  }
  ModelBuilder b = smallModel();
  std::vector<std::span<const std::byte>> data(b.data.begin(), b.data.end());
  for (size_t i = 0; i < count; ++i) {
    auto at = long(3 + i);
    b.info.tensors.insert(
        b.info.tensors.begin() + at,
        {"large" + std::to_string(i), DType::f32, {int64_t(each / 4)}});
    data.insert(data.begin() + at, std::span(numbers).subspan(i * shift, each));
  }
  b.info.states[0].initial = uint32_t(3 + count);
  ModelWriter writer = b.writer();
  writer.setModel(b.info, data);
  std::string path = (folder / "large.sinter").string();
  auto begin = std::chrono::steady_clock::now();
  auto seconds = [&] {
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() -
        std::exchange(begin, std::chrono::steady_clock::now());
    return std::to_string(took.count());
  };
  ASSERT_TRUE(writer.write(path));
  RecordProperty("write", seconds());
  EXPECT_GT(fs::file_size(path), uint64_t(9) << 29);
  auto mapped = *MappedFile::open(path);
  auto model = readModel(mapped.bytes(), ModelCheck::untilUse);
  ASSERT_TRUE(model) << model.error().message;
  auto info = *readModelInfo(*model);
  RecordProperty("open", seconds());
  WeightStore store(*model, info, "");
  resetStats();
  auto last = store.bytesOf(uint32_t(2 + count));
  ASSERT_TRUE(last) << last.error().message;
  ASSERT_EQ(last->size(), each);
  EXPECT_EQ(std::memcmp(last->data(), data[2 + count].data(), each), 0);
  EXPECT_GT(info.tensors[2 + count].offset, uint64_t(3) << 30);
  EXPECT_LE(readStats().blocksChecked, numBlocks(each) + 1);
  RecordProperty("use", seconds());
  EXPECT_TRUE(readModel(mapped.bytes())) << "everything";
  RecordProperty("check", seconds());
}

TEST_F(WeightStoreTest, boolsAreZeroOrOne) {
  ModelBuilder b = smallModel();
  b.info.tensors[2] = {"bias", DType::boolean, {12}};
  std::vector<std::byte> file = b.file(); // bytes of floats
  auto model = *readModel(file);
  auto info = *readModelInfo(model);
  auto found = WeightStore(model, info, "").bytesOf(2);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "model file: tensor 'bias' is bool and has other bytes than 0 and "
            "1");
}
