#include "runtime/program/ProgramCache.h"

#include "runtime/files/DiskCache.h"
#include "runtime/program/Stats.h"
#include "runtime/support/Flags.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

/// Each test has its own empty directory and memory cache.
class ProgramCacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "program-cache-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    use(folder);
    clearMemoryCache();
    resetStats();
  }

  void TearDown() override {
    chmod(folder.c_str(), 0700);
    fs::remove_all(folder);
    unsetenv("SINTER_CACHE_DIR");
    unsetenv("SINTER_CACHE_LIMIT");
    reloadFlags();
  }

  static void use(const std::string &directory) {
    setenv("SINTER_CACHE_DIR", directory.c_str(), 1);
    reloadFlags();
  }

  static void limit(uint64_t bytes) {
    setenv("SINTER_CACHE_LIMIT", std::to_string(bytes).c_str(), 1);
    reloadFlags();
  }

  /// Finds or "compiles" the scale program.
  Result<CachedProgram> find(uint64_t key) {
    return findOrCompile({1, key}, cpu(),
                         [&]() -> Result<std::vector<std::byte>> {
                           ++compiles;
                           return scaleProgram().file();
                         });
  }

  /// Source of a find that must work, from an empty memory cache.
  CacheSource fromDiskOrCompiler(uint64_t key) {
    clearMemoryCache();
    auto found = find(key);
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->source : CacheSource::memory;
  }

  std::string folder;
  std::atomic<int> compiles{0};
};

} // namespace

TEST_F(ProgramCacheTest, looksInMemoryThenOnDisk) {
  EXPECT_EQ(findInMemory({1, 5}, cpu()), nullptr);
  EXPECT_EQ(find(5)->source, CacheSource::compiled);
  EXPECT_EQ(find(5)->source, CacheSource::memory);
  EXPECT_NE(findInMemory({1, 5}, cpu()), nullptr);
  EXPECT_EQ(fromDiskOrCompiler(5), CacheSource::disk);
  EXPECT_EQ(find(6)->source, CacheSource::compiled);
  EXPECT_EQ(compiles, 2);
  Stats stats = readStats();
  EXPECT_EQ(stats.compiles, 2u);
  EXPECT_EQ(stats.memoryHits, 2u);
  EXPECT_EQ(stats.diskHits, 1u);
  EXPECT_TRUE(fs::exists(diskCachePath({1, 5})));
}

TEST_F(ProgramCacheTest, holdsTheBytesTheCompilerGave) {
  ASSERT_TRUE(find(1));
  auto bytes =
      DiskCache::fromEnvironment().findBytes(CacheKind::program, {1, 1});
  ASSERT_TRUE(bytes && *bytes);
  EXPECT_EQ(**bytes, scaleProgram().file());
}

TEST_F(ProgramCacheTest, noticesWhatIsNoProgram) {
  DiskCache disk = DiskCache::fromEnvironment();
  ASSERT_TRUE(disk.prepare());
  ASSERT_TRUE(disk.storeProgram({1, 1}, std::vector<std::byte>(100)));
  EXPECT_EQ(disk.verify()->size(), 0u) << "it is as it was stored";
  EXPECT_EQ(verifyDiskCache()->size(), 1u);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_EQ(verifyDiskCache()->size(), 0u);
}

TEST_F(ProgramCacheTest, noticesThatProgramsWereExchanged) {
  ASSERT_TRUE(find(1));
  ASSERT_TRUE(find(2));
  std::string one = diskCachePath({1, 1}), other = diskCachePath({1, 2});
  fs::rename(one, folder + "/kept");
  fs::rename(other, one);
  fs::rename(folder + "/kept", other);
  EXPECT_EQ(verifyDiskCache()->size(), 2u);
  uint64_t warnings = readStats().warnings;
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_EQ(fromDiskOrCompiler(2), CacheSource::compiled);
  EXPECT_EQ(readStats().warnings, warnings + 2);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::disk);
  EXPECT_EQ(fromDiskOrCompiler(2), CacheSource::disk);
  EXPECT_EQ(verifyDiskCache()->size(), 0u);
}

// An entry that is altered in place does not reach who has it.
TEST_F(ProgramCacheTest, isNotReadAgain) {
  ASSERT_TRUE(find(1));
  clearMemoryCache();
  auto found = find(1);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->source, CacheSource::disk);
  fs::resize_file(diskCachePath({1, 1}), 0);
  EXPECT_EQ(found->program->graphText(), "module {}\n");
  Binding inputs[] = {bind(bufferOf<float>(cpu(), {1, 2}), {2}), bindScalar(3)};
  auto outputs = run(*found->program, inputs);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer), (std::vector<float>{3, 6}));
}

TEST_F(ProgramCacheTest, isPrivate) {
  use(folder + "/a/b");
  ASSERT_TRUE(find(1));
  struct stat status;
  ASSERT_EQ(stat((folder + "/a/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(diskCachePath({1, 1}).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(ProgramCacheTest, refusesOpenDirectories) {
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_TRUE(fs::is_empty(folder));
  CacheInfo info = diskCacheInfo();
  EXPECT_FALSE(info.usable);
  EXPECT_EQ(info.reason, "program cache: " + folder +
                             ": others may enter it (mode 755, it holds code "
                             "that is run): chmod 700 " +
                             folder);
  EXPECT_GE(readStats().warnings, 2u);
  EXPECT_FALSE(clearDiskCache());
  EXPECT_FALSE(verifyDiskCache());
  EXPECT_EQ(diskCachePath({1, 1}), "");
}

TEST_F(ProgramCacheTest, refusesDirectoriesThatOthersMayEnter) {
  for (unsigned mode : {0770u, 0720u, 0710u, 0740u, 0702u, 0701u, 0704u}) {
    chmod(folder.c_str(), mode);
    uint64_t warnings = readStats().warnings;
    EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
    EXPECT_GT(readStats().warnings, warnings);
    EXPECT_NE(diskCacheInfo().reason.find("others may enter it"),
              std::string::npos);
    EXPECT_TRUE(fs::is_empty(folder));
  }
  chmod(folder.c_str(), 0700);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::disk);
}

TEST_F(ProgramCacheTest, refusesDirectoriesOfOthers) {
  // Root can give the folder away; others have one of root's.
  bool isRoot = geteuid() == 0;
  std::string foreign = isRoot ? folder : "/usr";
  if (isRoot) {
    ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
  }
  use(foreign);
  uint64_t warnings = readStats().warnings;
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_GT(readStats().warnings, warnings);
  EXPECT_EQ(diskCacheInfo().reason,
            fmt::format("program cache: {}: it belongs to user {}, not to {}",
                        foreign, isRoot ? 65534 : 0, geteuid()));
  EXPECT_TRUE(!isRoot || fs::is_empty(folder));
  EXPECT_FALSE(clearDiskCache());
  if (isRoot) {
    ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);
  }
}

TEST_F(ProgramCacheTest, worksWhereNothingCanBeWritten) {
  chmod(folder.c_str(), 0500);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
  }
  pid_t child = fork();
  if (child == 0) {
    // Root may write everywhere.
    bool changed = geteuid() != 0 || setuid(65534) == 0;
    auto found = find(1);
    bool good = changed && diskCacheInfo().usable && found &&
                found->source == CacheSource::compiled &&
                fs::is_empty(folder) && readStats().warnings > 0;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ProgramCacheTest, worksWithoutADirectory) {
  use(folder + "/file");
  std::ofstream(folder + "/file") << "x";
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  use("/proc/no/such/place");
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  fs::create_symlink(folder, folder + "/link");
  use(folder + "/link");
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_FALSE(diskCacheInfo().usable);
}

TEST_F(ProgramCacheTest, replacesBrokenEntries) {
  ASSERT_TRUE(find(1));
  ASSERT_TRUE(find(2));
  std::string path = diskCachePath({1, 1});
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x5a');
  }
  auto broken = verifyDiskCache();
  ASSERT_TRUE(broken);
  EXPECT_EQ(*broken, std::vector{fs::path(path).filename().string()});
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::disk);
  EXPECT_EQ(verifyDiskCache()->size(), 0u);
  fs::resize_file(path, 10);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
  fs::remove(path);
  fs::create_symlink(diskCachePath({1, 2}), path);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::compiled);
}

TEST_F(ProgramCacheTest, keepsToItsLimit) {
  uint64_t size = scaleProgram().file().size();
  limit(size * 7 / 2);
  for (uint64_t key = 1; key <= 3; ++key) {
    ASSERT_TRUE(find(key));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(diskCacheInfo().entries, 3u);
  EXPECT_EQ(fromDiskOrCompiler(1), CacheSource::disk); // now the newest
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(find(4));
  EXPECT_EQ(diskCacheInfo().entries, 3u);
  EXPECT_LE(diskCacheInfo().bytes, diskCacheInfo().limitBytes);
  EXPECT_TRUE(fs::exists(diskCachePath({1, 1})));
  EXPECT_FALSE(fs::exists(diskCachePath({1, 2})));

  limit(10); // too small for anything: a warning, and the program runs
  uint64_t warnings = readStats().warnings;
  EXPECT_EQ(fromDiskOrCompiler(9), CacheSource::compiled);
  EXPECT_GT(readStats().warnings, warnings);
}

TEST_F(ProgramCacheTest, losesNothingOnAFullDisk) {
  pid_t child = fork();
  if (child == 0) {
    // Room for the image in memory, not for the file around it.
    rlimit little{kernelImage().size(), kernelImage().size()};
    setrlimit(RLIMIT_FSIZE, &little);
    signal(SIGXFSZ, SIG_IGN);
    auto found = find(1);
    bool good = found && found->source == CacheSource::compiled &&
                fs::is_empty(folder) && readStats().warnings > 0;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ProgramCacheTest, clears) {
  ASSERT_TRUE(find(1));
  ASSERT_TRUE(find(2));
  std::ofstream(folder + "/notes.txt") << "not an entry";
  EXPECT_EQ(*clearDiskCache(), 2u);
  EXPECT_EQ(diskCacheInfo().entries, 0u);
  EXPECT_TRUE(fs::exists(folder + "/notes.txt"));
}

TEST_F(ProgramCacheTest, compilesAKeyOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> found{0};
  auto compile = [&]() -> Result<std::vector<std::byte>> {
    ++compiles;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return scaleProgram().file();
  };
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto program = findOrCompile({2, t % 2}, cpu(), compile);
      found += program.ok();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(found, 8);
  EXPECT_EQ(compiles, 2);
}

TEST_F(ProgramCacheTest, passesErrorsOn) {
  auto fail = []() -> Result<std::vector<std::byte>> {
    return makeError(ErrorKind::compile, "no");
  };
  auto failed = findOrCompile({3, 3}, cpu(), fail);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::compile);
  EXPECT_EQ(find(3)->source, CacheSource::compiled);
}

TEST_F(ProgramCacheTest, isSharedByProcesses) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    if (child == 0) {
      bool good = true;
      for (uint64_t key = 0; key < 20; ++key) {
        clearMemoryCache();
        good &= find(key).ok();
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(diskCacheInfo().entries, 20u);
  EXPECT_EQ(verifyDiskCache()->size(), 0u);
}

TEST(Key, printsAs32Digits) {
  EXPECT_EQ(toHex({0x1, 0xff}), "000000000000000100000000000000ff");
}
