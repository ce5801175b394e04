#include "runtime/files/DiskCache.h"

#include "tests/unit/params/FileFaults.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> bytesOf(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class DiskCacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "disk-cache-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  DiskCache cache(uint64_t limit = 1 << 20) const { return {folder, limit}; }

  /// The kernel of a key, or what its error says.
  std::string kernel(uint64_t key) const {
    auto found = cache().findBytes(CacheKind::kernel, {0, key});
    if (!found)
      return found.error().message;
    if (!*found)
      return "absent";
    return {reinterpret_cast<const char *>((*found)->data()), (*found)->size()};
  }

  std::string folder;
};

} // namespace

TEST_F(DiskCacheTest, KeepsKernelsBesidePrograms) {
  ASSERT_TRUE(cache().storeProgram({0, 1}, scaleProgram().file()));
  EXPECT_EQ(kernel(1), "absent");
  ASSERT_TRUE(cache().storeBytes(CacheKind::kernel, {0, 1}, bytesOf("code")));
  ASSERT_TRUE(cache().storeBytes(CacheKind::kernel, {0, 2}, {}));
  EXPECT_EQ(kernel(1), "code");
  EXPECT_EQ(kernel(2), "");
  ASSERT_TRUE(cache().storeBytes(CacheKind::kernel, {0, 1}, bytesOf("newer")));
  EXPECT_EQ(kernel(1), "newer");
  CacheInfo info = cache().info();
  EXPECT_EQ(info.entries, 3u);
  EXPECT_EQ(info.kernels, 2u);
  EXPECT_EQ(info.pipelines, 0u);
  EXPECT_EQ(cache().verify()->size(), 0u);
  auto isProgram = [](CacheKind kind, std::span<const std::byte>) {
    return kind == CacheKind::program;
  };
  EXPECT_EQ(cache().verify(isProgram)->size(), 2u);
  struct stat status;
  ASSERT_EQ(stat(cache().bytesPath(CacheKind::kernel, {0, 1}).c_str(), &status),
            0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  cache().removeBytes(CacheKind::kernel, {0, 1});
  EXPECT_EQ(kernel(1), "absent");
  EXPECT_EQ(*cache().clear(), 2u);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(DiskCacheTest, ADriversPipelinesAreNoKernel) {
  ASSERT_TRUE(cache().storeBytes(CacheKind::kernel, {0, 1}, bytesOf("code")));
  ASSERT_TRUE(
      cache().storeBytes(CacheKind::pipelines, {0, 1}, bytesOf("driver's")));
  EXPECT_EQ(kernel(1), "code");
  CacheInfo info = cache().info();
  EXPECT_EQ(info.entries, 2u);
  EXPECT_EQ(info.kernels, 1u);
  EXPECT_EQ(info.pipelines, 1u);
  EXPECT_EQ(cache().verify()->size(), 0u);
  cache().removeBytes(CacheKind::pipelines, {0, 1});
  EXPECT_FALSE(*cache().findBytes(CacheKind::pipelines, {0, 1}));
  EXPECT_EQ(kernel(1), "code");
}

TEST_F(DiskCacheTest, EveryFlippedBitOfAKernelIsSeen) {
  ASSERT_TRUE(cache().storeBytes(CacheKind::kernel, {0, 1},
                                 bytesOf("some machine code")));
  std::string path = cache().bytesPath(CacheKind::kernel, {0, 1});
  std::ifstream in(path, std::ios::binary);
  std::string whole(std::istreambuf_iterator<char>(in), {});
  auto expectRefused = [&](const std::string &file) {
    std::ofstream(path, std::ios::binary) << file;
    EXPECT_EQ(*cache().verify(),
              std::vector{fs::path(path).filename().string()});
    EXPECT_EQ(kernel(1), "program cache: " + path + ": the digest is wrong");
    EXPECT_EQ(kernel(1), "absent") << "it was removed";
  };
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = whole;
      altered[at] = char(altered[at] ^ (1 << bit));
      expectRefused(altered);
    }
  for (size_t size = 0; size < whole.size(); ++size)
    expectRefused(whole.substr(0, size));
  expectRefused(whole + "x");
}

TEST_F(DiskCacheTest, ExchangedEntriesAreSeen) {
  auto nameOf = [&](CacheKind kind, uint64_t key) {
    return fs::path(cache().bytesPath(kind, {0, key})).filename().string();
  };
  for (CacheKind kind : {CacheKind::kernel, CacheKind::machineCode,
                         CacheKind::pipelines, CacheKind::tiles}) {
    for (uint64_t key : {1, 2})
      ASSERT_TRUE(cache().storeBytes(kind, {0, key}, bytesOf("the same")));
    std::string one = cache().bytesPath(kind, {0, 1});
    std::string other = cache().bytesPath(kind, {0, 2});
    fs::rename(one, folder + "/kept");
    fs::rename(other, one);
    fs::rename(folder + "/kept", other);
    EXPECT_EQ(cache().verify()->size(), 2u);
    for (uint64_t key : {1, 2}) {
      auto found = cache().findBytes(kind, {0, key});
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().message,
                "program cache: " + cache().bytesPath(kind, {0, key}) +
                    ": it is the entry " + nameOf(kind, 3 - key));
      EXPECT_FALSE(*cache().findBytes(kind, {0, key})) << "it was removed";
    }
  }
  // Nor is an entry of another kind the one of its key.
  ASSERT_TRUE(cache().storeBytes(CacheKind::tiles, {0, 1}, bytesOf("tiles")));
  fs::rename(cache().bytesPath(CacheKind::tiles, {0, 1}),
             cache().bytesPath(CacheKind::kernel, {0, 1}));
  EXPECT_EQ(kernel(1),
            "program cache: " + cache().bytesPath(CacheKind::kernel, {0, 1}) +
                ": it is the entry " + nameOf(CacheKind::tiles, 1));
}

TEST_F(DiskCacheTest, LeavesToOthersWhatTheyAreWriting) {
  constexpr uint64_t limit = 20000;
  auto temporary = [&](char digit) {
    return folder + "/.sinter-" + std::string(32, digit) + ".tmp";
  };
  auto age = [&](const std::string &path, int seconds) {
    timespec times[2] = {};
    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec -= seconds;
    times[0] = times[1];
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  for (bool clears : {false, true}) {
    for (char digit : {'1', '2', '3'})
      std::ofstream(temporary(digit)) << "being written";
    std::ofstream(folder + "/.sinter-notes.tmp") << "somebody's";
    age(temporary('2'), 3000);
    age(temporary('3'), 4000);
    age(folder + "/.sinter-notes.tmp", 4000);
    if (clears) {
      ASSERT_TRUE(cache().clear());
    } else {
      std::vector<std::byte> code(limit / 2);
      for (uint64_t key = 0; key < 4; ++key)
        ASSERT_TRUE(cache(limit).storeBytes(CacheKind::kernel, {0, key}, code));
    }
    EXPECT_TRUE(fs::exists(temporary('1')));
    EXPECT_TRUE(fs::exists(temporary('2')));
    EXPECT_FALSE(fs::exists(temporary('3'))) << "nobody writes it any more";
    EXPECT_TRUE(fs::exists(folder + "/.sinter-notes.tmp"));
  }
}

TEST_F(DiskCacheTest, LeavesFilesOfOthersAlone) {
  std::string path = cache().bytesPath(CacheKind::kernel, {0, 1});
  std::ofstream(folder + "/target") << "x";
  fs::create_symlink(folder + "/target", path);
  EXPECT_EQ(kernel(1),
            "program cache: " + path + ": it is not a file of this user");
  if (geteuid() != 0)
    return;
  ASSERT_TRUE(cache().storeBytes(CacheKind::kernel, {0, 2}, bytesOf("code")));
  path = cache().bytesPath(CacheKind::kernel, {0, 2});
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(kernel(2),
            "program cache: " + path + ": it is not a file of this user");
}

TEST_F(DiskCacheTest, AFullDiskLeavesWhatWasThere) {
  std::vector<std::byte> program = scaleProgram().file();
  ASSERT_TRUE(cache().storeProgram({0, 1}, program));
  ASSERT_TRUE(cache().storeBytes(CacheKind::kernel, {0, 1}, bytesOf("old")));
  auto expectFull = [&](const Status &stored) {
    sinter::test::fileFaults().room = UINT64_MAX;
    ASSERT_FALSE(stored);
    EXPECT_NE(stored.error().message.find("No space left on device"),
              std::string::npos)
        << stored.error().message;
    EXPECT_EQ(kernel(1), "old");
    EXPECT_EQ(cache().verify()->size(), 0u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  };
  for (uint64_t bytes : {0, 1, 71, 72, 73, 76}) {
    sinter::test::fileFaults().room = bytes;
    expectFull(cache().storeBytes(CacheKind::kernel, {0, 1}, bytesOf("newer")));
    sinter::test::fileFaults().room = bytes;
    expectFull(cache().storeBytes(CacheKind::kernel, {0, 2}, bytesOf("other")));
  }
  for (uint64_t bytes : {uint64_t(0), uint64_t(100), program.size() - 1}) {
    sinter::test::fileFaults().room = bytes;
    expectFull(cache().storeProgram({0, 2}, program));
  }
  sinter::test::fileFaults().room = 72 + 5;
  Status stored =
      cache().storeBytes(CacheKind::kernel, {0, 1}, bytesOf("newer"));
  sinter::test::fileFaults().room = UINT64_MAX;
  EXPECT_TRUE(stored);
  EXPECT_EQ(kernel(1), "newer");
}

TEST_F(DiskCacheTest, OneProcessNeverPassesTheLimit) {
  constexpr uint64_t limit = 20000;
  std::vector<std::byte> code(500);
  uint64_t most = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    ASSERT_TRUE(cache(limit).storeBytes(CacheKind::kernel, {0, key}, code));
    CacheInfo info = cache(limit).info();
    EXPECT_LE(info.bytes, limit);
    most = std::max(most, info.bytes);
    EXPECT_NE(kernel(key), "absent");
  }
  EXPECT_GT(most, limit * 3 / 4);
  EXPECT_EQ(kernel(0), "absent");
  Status stored = cache(limit).storeBytes(CacheKind::kernel, {1, 0},
                                          std::vector<std::byte>(limit));
  ASSERT_FALSE(stored);
  EXPECT_NE(stored.error().message.find("larger than the limit of 20000"),
            std::string::npos);
}

TEST_F(DiskCacheTest, SeesWhatOthersWrote) {
  constexpr uint64_t limit = 20000;
  ASSERT_TRUE(cache(limit).storeBytes(CacheKind::kernel, {0, 1},
                                      std::vector<std::byte>(100)));
  // Another process fills the directory.
  std::string path = cache().bytesPath(CacheKind::kernel, {0, 2});
  std::ofstream(path, std::ios::binary) << std::string(limit, 'x');
  for (uint64_t key = 3; key < 3 + 1 + limit / 16 / 100; ++key)
    ASSERT_TRUE(cache(limit).storeBytes(CacheKind::kernel, {0, key},
                                        std::vector<std::byte>(100)));
  EXPECT_LE(cache().info().bytes, limit);
}
