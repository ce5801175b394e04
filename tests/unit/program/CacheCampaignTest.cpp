/// One cache directory of many processes, while entries are altered, exchanged
/// and cleared and processes are killed: every answer is right, and what is
/// broken is a counted warning.
#include "runtime/files/DiskCache.h"
#include "runtime/program/ProgramCache.h"
#include "runtime/support/Flags.h"
#include "sinter/runtime/Log.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

using Random = std::minstd_rand;

constexpr uint64_t numKeys = 12;
constexpr CacheKind byteKinds[] = {CacheKind::kernel, CacheKind::machineCode,
                                   CacheKind::tiles};
constexpr uint64_t numEntries = numKeys * (1 + std::size(byteKinds));
constexpr size_t numProcesses = 8;

/// SINTER_TEST_ROUNDS, else a few.
int roundCount() {
  const char *text = std::getenv("SINTER_TEST_ROUNDS");
  return text ? std::atoi(text) : 4;
}

/// What processes tell each other.
struct Shared {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> lookups{0};
  std::atomic<uint64_t> wrong{0};    ///< answers
  std::atomic<uint64_t> failed{0};   ///< lookups that ended in an error
  std::atomic<uint64_t> warnings{0}; ///< of processes that ended well
};

/// out[n] = x[n] * (key + 1).
std::vector<std::byte> programOf(uint64_t key) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t x = b.input("x", {n});
  uint32_t out = b.output({n});
  auto factor = float(key + 1);
  b.constants.resize(sizeof(factor));
  std::memcpy(b.constants.data(), &factor, sizeof(factor));
  uint32_t constant = b.constantData(0, sizeof(factor));
  uint32_t scale = b.kernel("map_scale", 2, 1, 1, {"scale"});
  b.launch(scale, {x, constant, out}, {n});
  return b.file();
}

std::vector<std::byte> bytesOf(CacheKind kind, uint64_t key) {
  std::string text = fmt::format("{} of {} ", unsigned(kind), key);
  std::vector<std::byte> bytes;
  for (uint64_t i = 0; i < 200 + key; ++i)
    for (char letter : text)
      bytes.push_back(std::byte(letter));
  return bytes;
}

/// Of the process it is in.
class Worker {
public:
  explicit Worker(Shared &shared) : shared(shared) {}

  void lookUp(uint64_t entry) {
    uint64_t key = entry % numKeys, kind = entry / numKeys;
    if (kind == 0)
      runProgram(key);
    else
      findBytes(byteKinds[kind - 1], key);
    ++shared.lookups;
  }

  void lookUpAll() {
    for (uint64_t entry = 0; entry < numEntries; ++entry)
      lookUp(entry);
  }

private:
  void runProgram(uint64_t key) {
    Device &cpu = **getDevice({DeviceKind::cpu, 0});
    clearMemoryCache();
    auto compile = [&]() -> Result<std::vector<std::byte>> {
      return programOf(key);
    };
    auto found = findOrCompile({7, key}, cpu, compile);
    std::vector<float> values = {1, 2, 3};
    Binding x = bind(bufferOf(cpu, values), {3});
    auto outputs = found ? run(*found->program, {&x, 1})
                         : Result<std::vector<Output>>(found.error());
    if (!outputs) {
      ++shared.failed;
      return;
    }
    for (float &value : values)
      value *= float(key + 1);
    shared.wrong += valuesOf<float>(*(*outputs)[0].buffer) != values;
  }

  /// As those do who keep bytes in the cache.
  void findBytes(CacheKind kind, uint64_t key) {
    DiskCache disk = DiskCache::fromEnvironment();
    shared.failed += !disk.prepareOrWarn();
    auto found = disk.findBytes(kind, {8, key});
    if (!found)
      logWarning(found.error().message);
    else if (*found)
      shared.wrong += **found != bytesOf(kind, key);
    if (found && *found)
      return;
    if (Status stored = disk.storeBytes(kind, {8, key}, bytesOf(kind, key));
        !stored)
      logWarning(stored.error().message);
  }

  Shared &shared;
};

class CacheCampaign : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cache-campaign-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    setenv("SINTER_CACHE_DIR", folder.c_str(), 1);
    setenv("SINTER_LOG", "off", 1);
    reloadFlags();
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared = new (memory) Shared;
  }
  void TearDown() override {
    munmap(shared, sizeof(Shared));
    fs::remove_all(folder);
    unsetenv("SINTER_CACHE_DIR");
    unsetenv("SINTER_LOG");
    reloadFlags();
  }

  /// A process that calls `work(worker)` and tells its warnings.
  template <typename Work> pid_t start(Work work) {
    pid_t child = fork();
    if (child != 0)
      return child;
    uint64_t before = warningCount();
    Worker worker(*shared);
    work(worker);
    shared->warnings += warningCount() - before;
    _exit(0);
  }

  /// One that looks entries up until all are to stop. Every other has a limit
  /// that takes entries away.
  pid_t startLooking(unsigned seed) {
    return start([this, seed](Worker &worker) {
      if (seed % 2) {
        setenv("SINTER_CACHE_LIMIT", "60000", 1);
        reloadFlags();
      }
      Random random(seed);
      while (!shared->stop)
        worker.lookUp(random() % numEntries);
    });
  }

  void expectEnds(pid_t child, int status = 0) const {
    int ended = -1;
    waitpid(child, &ended, 0);
    EXPECT_EQ(ended, status);
  }

  /// Looks up everything in a process of its own; its warnings.
  uint64_t warningsOfAll() {
    uint64_t before = shared->warnings;
    expectEnds(start([](Worker &worker) { worker.lookUpAll(); }));
    return shared->warnings - before;
  }

  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto &entry : fs::directory_iterator(folder))
      if (!entry.path().filename().string().starts_with("."))
        all.push_back(entry.path());
    std::ranges::sort(all);
    return all;
  }

  /// Breaks one entry in one of several ways, in place or by another file.
  void alter(const fs::path &entry, Random &random) const {
    std::error_code ignored; // it may be gone
    uint64_t size = fs::file_size(entry, ignored);
    if (ignored || size < 2)
      return;
    switch (random() % 4) {
    case 0:
      fs::resize_file(entry, random() % size, ignored);
      break;
    case 1: {
      std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
      auto at = std::streamoff(random() % size);
      file.seekg(at);
      int old = file.get();
      file.seekp(at);
      file.put(char(old ^ 0x10));
      break;
    }
    case 2:
      std::ofstream(entry, std::ios::binary) << std::string(size, '\0');
      break;
    default: {
      std::string other = folder + "/.other";
      std::ofstream(other, std::ios::binary) << "something else";
      fs::rename(other, entry, ignored);
    }
    }
  }

  static void exchange(const fs::path &one, const fs::path &other) {
    syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(),
            RENAME_EXCHANGE);
  }

  /// Something that happens to a directory in use.
  void disturb(Random &random, std::vector<pid_t> &children) {
    std::vector<fs::path> all = entries();
    auto any = [&] { return all[random() % all.size()]; };
    switch (random() % 8) {
    case 0:
      EXPECT_TRUE(clearDiskCache());
      break;
    case 1:
      EXPECT_TRUE(verifyDiskCache());
      break;
    case 2: {
      pid_t &child = children[random() % children.size()];
      kill(child, SIGKILL);
      expectEnds(child, SIGKILL);
      child = startLooking(unsigned(random()));
      break;
    }
    case 3:
    case 4:
      if (!all.empty())
        exchange(any(), any());
      break;
    default:
      if (!all.empty())
        alter(any(), random);
    }
  }

  void run8(Random &random) {
    shared->stop = false;
    std::vector<pid_t> children;
    for (size_t i = 0; i < numProcesses; ++i)
      children.push_back(startLooking(unsigned(random())));
    uint64_t wanted = shared->lookups + 400;
    while (shared->lookups < wanted) {
      disturb(random, children);
      usleep(500);
    }
    shared->stop = true;
    for (pid_t child : children)
      expectEnds(child);
  }

  /// Breaks some entries, each once; how many.
  uint64_t breakSome(Random &random) {
    std::vector<fs::path> all = entries();
    std::ranges::shuffle(all, random);
    size_t altered = random() % 8, pairs = random() % 5;
    for (size_t i = 0; i < altered; ++i)
      alter(all[i], random);
    for (size_t i = 0; i < pairs; ++i)
      exchange(all[altered + 2 * i], all[altered + 2 * i + 1]);
    return altered + 2 * pairs;
  }

  std::string folder;
  Shared *shared = nullptr;
};

} // namespace

TEST_F(CacheCampaign, EveryAnswerIsRightAndEveryDamageIsCounted) {
  Random random(30);
  uint64_t broken = 0;
  for (int round = 0; round < roundCount(); ++round) {
    run8(random);
    // In peace: what was broken is made again, then counted exactly.
    warningsOfAll();
    EXPECT_EQ(warningsOfAll(), 0u) << "round " << round;
    ASSERT_EQ(entries().size(), numEntries);
    uint64_t count = breakSome(random);
    broken += count;
    EXPECT_EQ(warningsOfAll(), count) << "round " << round;
    EXPECT_EQ(verifyDiskCache()->size(), 0u);
    ASSERT_EQ(shared->wrong, 0u) << "round " << round;
    ASSERT_EQ(shared->failed, 0u) << "round " << round;
  }
  RecordProperty("lookups", int(shared->lookups));
  RecordProperty("broken", int(broken));
}

TEST_F(CacheCampaign, ClearingIsNoDamage) {
  std::vector<pid_t> children;
  for (unsigned seed = 0; seed < 4; ++seed)
    children.push_back(startLooking(seed));
  uint64_t wanted = 1000;
  while (shared->lookups < wanted) {
    EXPECT_TRUE(clearDiskCache());
    EXPECT_TRUE(verifyDiskCache()->empty());
    usleep(300);
  }
  shared->stop = true;
  for (pid_t child : children)
    expectEnds(child);
  EXPECT_EQ(shared->warnings, 0u);
  EXPECT_EQ(shared->wrong, 0u);
  EXPECT_EQ(shared->failed, 0u);
}

// Both have process 1.
TEST_F(CacheCampaign, ContainersShareADirectory) {
  std::vector<pid_t> containers;
  for (int i = 0; i < 2; ++i) {
    pid_t outside = fork();
    if (outside == 0) {
      if (unshare(CLONE_NEWPID) != 0)
        _exit(2);
      pid_t inside = start([](Worker &worker) {
        if (getpid() != 1)
          _exit(1);
        for (int round = 0; round < 10; ++round) {
          EXPECT_TRUE(clearDiskCache());
          worker.lookUpAll();
        }
      });
      int ended = 0;
      waitpid(inside, &ended, 0);
      _exit(ended == 0 ? 0 : 1);
    }
    containers.push_back(outside);
  }
  bool allowed = true;
  for (pid_t child : containers) {
    int ended = 0;
    waitpid(child, &ended, 0);
    allowed = allowed && WEXITSTATUS(ended) != 2;
    EXPECT_TRUE(!allowed || ended == 0);
  }
  if (!allowed)
    GTEST_SKIP() << "no new namespace of processes may be made here";
  EXPECT_EQ(shared->warnings, 0u);
  EXPECT_EQ(shared->wrong, 0u);
  EXPECT_EQ(shared->failed, 0u);
}
