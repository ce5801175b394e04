/// Large constants are read when they are used, block by block.
#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/Stats.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

constexpr size_t poolBytes = 3 * digestBlock - 4096;

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

/// out = x + the two floats at `offset` of 12 MiB of constants.
ProgramBuilder addConstant(uint64_t offset, uint64_t bytes = 8) {
  ProgramBuilder b;
  uint32_t two = b.constant(2);
  b.constants.assign(poolBytes, std::byte(0));
  const float values[] = {5, 7};
  std::memcpy(b.constants.data() + offset, values, sizeof(values));
  uint32_t constant = b.constantData(offset, bytes);
  uint32_t x = b.input("x", {two});
  uint32_t out = b.output({two});
  b.launch(b.kernel("map_add", 2, 1, 1, {"add"}), {x, constant, out}, {two});
  return b;
}

class ConstantPoolTest : public testing::Test {
protected:
  void SetUp() override {
    path = testing::TempDir() + "constant-pool-" + std::to_string(getpid());
    resetStats();
  }
  void TearDown() override { fs::remove(path); }

  std::shared_ptr<const Program> load(const std::vector<std::byte> &file) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(file.data()),
               std::streamsize(file.size()));
    auto program = Program::loadFile(path, cpu());
    EXPECT_TRUE(program) << program.error().message;
    return program ? *program : nullptr;
  }

  /// The first number of a run, or the error.
  static std::string runWith(const Program &program) {
    BufferRef x = bufferOf(cpu(), std::vector<float>{1, 2});
    auto outputs = run(program, std::vector{bind(x, {2})});
    if (!outputs)
      return outputs.error().message;
    return std::to_string(int(valuesOf<float>(*(*outputs)[0].buffer)[0]));
  }

  std::string path;
};

/// Where the constants begin.
size_t poolStart(std::span<const std::byte> file) {
  auto model = readModel(file);
  return size_t(model->find(SectionKind::constants)->bytes.data() -
                file.data());
}

} // namespace

TEST_F(ConstantPoolTest, LoadingReadsMetadataOnly) {
  auto program = load(addConstant(2 * digestBlock + 512).file());
  ASSERT_TRUE(program);
  EXPECT_EQ(readStats().blocksChecked, 0u);
  EXPECT_EQ(runWith(*program), "6");
  EXPECT_EQ(readStats().blocksChecked, 1u) << "the block of the constant";
  EXPECT_EQ(runWith(*program), "6");
  EXPECT_EQ(readStats().blocksChecked, 1u) << "once";
}

TEST_F(ConstantPoolTest, AConstantMayLieInSeveralBlocks) {
  auto program =
      load(addConstant(digestBlock - 256, 2 * digestBlock - 4096 + 256).file());
  ASSERT_TRUE(program);
  EXPECT_EQ(runWith(*program), "6");
  EXPECT_EQ(readStats().blocksChecked, 3u);
}

TEST_F(ConstantPoolTest, AFlippedByteIsFoundWhenItsBlockIsUsed) {
  std::vector<std::byte> good = addConstant(2 * digestBlock + 512).file();
  std::vector<std::byte> bad = good;
  bad[poolStart(good) + 2 * digestBlock + 700] ^= std::byte(0x10);
  auto program = load(bad);
  ASSERT_TRUE(program);
  std::string expected =
      path + ": model file: the digest of constants section 0 is wrong in "
             "block 2 (bytes 8388608 to 12578816)";
  EXPECT_EQ(runWith(*program), expected);
  EXPECT_EQ(runWith(*program), expected) << "it stays an error";
  EXPECT_FALSE(readModel(bad));
  // Nothing else is affected.
  auto other = load(good);
  ASSERT_TRUE(other);
  EXPECT_EQ(runWith(*other), "6");
}

TEST_F(ConstantPoolTest, OnlyBlocksInUseAreChecked) {
  std::vector<std::byte> file = addConstant(256).file();
  file[poolStart(file) + 2 * digestBlock] ^= std::byte(1);
  auto program = load(file);
  ASSERT_TRUE(program);
  EXPECT_EQ(runWith(*program), "6");
  EXPECT_EQ(readStats().blocksChecked, 1u);
  EXPECT_FALSE(readModel(file)) << "`sinter cache verify` checks everything";
}

TEST_F(ConstantPoolTest, FlippedBytesOutsideOfLargeConstantsAreFoundByLoading) {
  const std::vector<std::byte> file = addConstant(256).file();
  size_t start = poolStart(file);
  std::vector<std::byte> altered = file;
  for (size_t at = 0; at < file.size(); ++at) {
    if (at == start)
      at += poolBytes;
    altered[at] ^= std::byte(1);
    ASSERT_FALSE(readModel(altered, ModelCheck::untilUse)) << at;
    altered[at] ^= std::byte(1);
  }
  ASSERT_TRUE(readModel(file, ModelCheck::untilUse));
}

TEST_F(ConstantPoolTest, ASmallPoolIsCheckedByLoading) {
  ProgramBuilder b = scaleProgram();
  b.constants.assign(1000, std::byte(1));
  std::vector<std::byte> file = b.file();
  file[poolStart(file) + 999] ^= std::byte(1);
  EXPECT_FALSE(Program::load(file, cpu()));
  EXPECT_EQ(readModel(b.file())->find(SectionKind::blocks), nullptr);
}

TEST_F(ConstantPoolTest, ManyThreadsCheckOnce) {
  auto program = load(addConstant(digestBlock - 256, digestBlock).file());
  ASSERT_TRUE(program);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] { right += runWith(*program) == "6"; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(readStats().blocksChecked, 2u);
}

TEST_F(ConstantPoolTest, OtherDevicesGetACopyWhenItIsUsed) {
  Device &null = **getDevice({DeviceKind::null, 0});
  ProgramBuilder b;
  uint32_t two = b.constant(2), bytes = b.constant(8);
  b.constants.assign(poolBytes, std::byte(0));
  const float values[] = {5, 7};
  std::memcpy(b.constants.data() + 512, values, sizeof(values));
  uint32_t constant = b.constantData(512, 8);
  b.copy(constant, b.output({two}), bytes);
  b.program.target = "null";
  std::vector<std::byte> file = b.file();
  size_t inUse = null.memoryInfo().inUse;
  auto program = Program::load(file, null);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(null.memoryInfo().inUse, inUse);
  for (int round = 0; round < 2; ++round) {
    auto outputs = run(**program, {});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer),
              (std::vector<float>{5, 7}));
  }
  EXPECT_EQ(null.memoryInfo().inUse, inUse + 256) << "one copy";
  EXPECT_EQ(readStats().blocksChecked, 1u);
  program->reset();
  EXPECT_EQ(null.memoryInfo().inUse, inUse);
}

TEST_F(ConstantPoolTest, BlocksSectionsMustFit) {
  std::vector<std::byte> file = addConstant(256).file();
  auto model = readModel(file);
  ASSERT_TRUE(model);
  const Section *blocks = model->find(SectionKind::blocks);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->bytes.size(), 3 * sizeof(Digest));
  auto stripped = stripModel(file);
  ASSERT_TRUE(stripped);
  EXPECT_TRUE(readModel(*stripped)->find(SectionKind::blocks));

  // Other digests, with every digest over them made to fit.
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  std::vector<SectionEntry> table(header.numSections);
  size_t tableBytes = table.size() * sizeof(SectionEntry);
  std::memcpy(table.data(), file.data() + sizeof(header), tableBytes);
  size_t at = size_t(blocks->bytes.data() - file.data());
  file[at] ^= std::byte(1);
  table.back().digest = sectionDigest(std::span(file).subspan(at));
  header.contentDigest = contentDigest(table);
  header.headerDigest = headerDigest(header, table);
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), table.data(), tableBytes);
  auto refused = readModel(file, ModelCheck::untilUse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "model file: the blocks section is not that of the constants");
}
