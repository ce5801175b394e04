/// Kernels' code as bytes, and when a kernel is compiled again.
#include "compiler/KernelCache.h"
#include "compiler/Compiler.h"
#include "compiler/package/KernelFile.h"
#include "runtime/program/Stats.h"
#include "runtime/support/Flags.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::compiler;
namespace fs = std::filesystem;

namespace {

KernelCode someCode() {
  KernelCode code;
  code.object = std::string("object\0bytes", 12);
  code.exprs = {{ExprOp::symbol, 0, 0, 1},
                {ExprOp::constant, 0, 0, 64},
                {ExprOp::ceilDiv, 0, 1, 0}};
  code.numSymbols = 2;
  code.phases = {{"map_1", 2, 1.5f}, {"map_1_merge", 1, 0.25f}};
  code.workspaces = {1, 2};
  return code;
}

void expectSame(const KernelCode &a, const KernelCode &b) {
  EXPECT_EQ(a.object, b.object);
  EXPECT_EQ(a.exprs, b.exprs);
  EXPECT_EQ(a.numSymbols, b.numSymbols);
  ASSERT_EQ(a.phases.size(), b.phases.size());
  for (size_t i = 0; i < a.phases.size(); ++i) {
    EXPECT_EQ(a.phases[i].symbol, b.phases[i].symbol);
    EXPECT_EQ(a.phases[i].chunks, b.phases[i].chunks);
    EXPECT_EQ(a.phases[i].chunkMicroseconds, b.phases[i].chunkMicroseconds);
  }
  EXPECT_EQ(a.workspaces, b.workspaces);
}

/// The error of reading what `change` made of the code.
template <typename Change> std::string refusal(Change change) {
  KernelCode code = someCode();
  change(code);
  auto read = readKernel("key", writeKernel("key", code));
  return read ? std::string() : read.error().message;
}

/// An own empty disk cache, and texts that no other test has.
class KernelCacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kernel-cache-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    before =
        std::getenv("SINTER_CACHE_DIR") ? std::getenv("SINTER_CACHE_DIR") : "";
    use(folder);
    runtime::resetStats();
    auto made = makeTarget("cpu");
    ASSERT_TRUE(made);
    target = *made;
  }
  void TearDown() override {
    use(before);
    fs::remove_all(folder);
  }

  static void use(const std::string &directory) {
    setenv("SINTER_CACHE_DIR", directory.c_str(), 1);
    reloadFlags();
  }
  static std::string newText() {
    static std::atomic<int> number{0};
    return "kernel " + std::to_string(number++);
  }
  KernelCache cache(NumericsMode numerics = NumericsMode::standard) {
    return KernelCache(*target, {.numerics = numerics});
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(folder))
      found.push_back(entry.path());
    return found;
  }

  std::string folder;
  std::string before;
  std::shared_ptr<const Target> target;
};

TEST(KernelFile, ReadsWhatItWrote) {
  KernelCode code = someCode();
  std::vector<std::byte> bytes = writeKernel("key", code);
  EXPECT_EQ(bytes, writeKernel("key", code));
  auto read = readKernel("key", bytes);
  ASSERT_TRUE(read) << read.error().message;
  expectSame(*read, code);
}

TEST(KernelFile, RefusesOtherKernels) {
  auto read = readKernel("key", writeKernel("another key", someCode()));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "kernel file: of another kernel");
}

TEST(KernelFile, TrustsNothing) {
  EXPECT_EQ(refusal([](KernelCode &code) { code.phases.clear(); }),
            "kernel file: without code");
  EXPECT_EQ(refusal([](KernelCode &code) { code.phases[0].chunks = 3; }),
            "kernel file: with a phase that is not valid");
  EXPECT_EQ(refusal([](KernelCode &code) { code.workspaces = {3}; }),
            "kernel file: with a workspace that is not valid");
  EXPECT_EQ(refusal([](KernelCode &code) { code.numSymbols = 1; }),
            "expr 0 names symbol 1 of 1");
  EXPECT_EQ(refusal([](KernelCode &code) { code.exprs[2].lhs = 2; }),
            "expr 2 uses an expr that is not before it");
  // The digest around these bytes is checked by the disk cache; without it,
  // nothing may crash, and what has been cut short is refused.
  std::vector<std::byte> whole = writeKernel("key", someCode());
  for (size_t size = 0; size < whole.size() / 2; ++size)
    EXPECT_FALSE(readKernel("key", std::span(whole).first(size)));
  for (size_t at = 0; at < whole.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> altered = whole;
      altered[at] ^= std::byte(1u << bit);
      if (auto code = readKernel("key", altered)) {
        EXPECT_LE(code->phases.size(), altered.size());
      }
    }
}

TEST_F(KernelCacheTest, KeepsWhatDependsOnTheTextAndTheMode) {
  std::string text = newText();
  auto code = std::make_shared<const KernelCode>(someCode());
  EXPECT_EQ(cache().find(text), nullptr);
  cache().insert(text, code);
  EXPECT_EQ(cache().find(text), code);
  EXPECT_EQ(cache().find(newText()), nullptr);
  EXPECT_EQ(cache(NumericsMode::exact).find(text), nullptr);
  auto level = makeTarget("cpu:scalar");
  ASSERT_TRUE(level);
  EXPECT_EQ(KernelCache(**level, {}).find(text), nullptr);
  runtime::Stats stats = runtime::readStats();
  EXPECT_EQ(stats.kernelsCompiled, 1u);
  EXPECT_EQ(stats.kernelMemoryHits, 1u);
  EXPECT_EQ(stats.kernelDiskHits, 0u);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(KernelCacheTest, FindsOnDiskWhatAnotherProcessKept) {
  std::string text = newText();
  pid_t child = fork();
  if (child == 0) {
    cache().insert(text, std::make_shared<const KernelCode>(someCode()));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  KernelCache::Code found = cache().find(text);
  ASSERT_TRUE(found);
  expectSame(*found, someCode());
  EXPECT_EQ(cache().find(text), found);
  EXPECT_EQ(runtime::readStats().kernelDiskHits, 1u);
  EXPECT_EQ(runtime::readStats().kernelMemoryHits, 1u);
  EXPECT_EQ(runtime::readStats().warnings, 0u);
}

TEST_F(KernelCacheTest, RemovesWhatIsNotTheKernel) {
  // The digest is right, the contents are of another text with the same key.
  std::string text = newText();
  pid_t child = fork();
  if (child == 0) {
    cache().insert(text, std::make_shared<const KernelCode>(someCode()));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(files().size(), 1u);
  std::string name = files()[0].stem();
  runtime::Key key{std::stoull(name.substr(0, 16), nullptr, 16),
                   std::stoull(name.substr(16), nullptr, 16)};
  runtime::DiskCache disk = runtime::DiskCache::fromEnvironment();
  EXPECT_EQ(disk.bytesPath(runtime::CacheKind::kernel, key),
            files()[0].string());
  ASSERT_TRUE(disk.storeBytes(runtime::CacheKind::kernel, key,
                              writeKernel("another", someCode())));
  EXPECT_EQ(cache().find(text), nullptr);
  EXPECT_EQ(runtime::readStats().warnings, 1u);
  EXPECT_TRUE(files().empty());
}

TEST_F(KernelCacheTest, OneCompilationClaimsAKernel) {
  std::string text = newText();
  KernelCache waiting = cache();
  {
    KernelCache failing = cache();
    EXPECT_TRUE(failing.claim(text));
    EXPECT_FALSE(waiting.claim(text));
    EXPECT_TRUE(waiting.claim(newText()));
  }
  KernelCache making = cache();
  EXPECT_TRUE(making.claim(text)) << "the failed one's claim has ended";
  std::atomic<bool> waits{false};
  std::thread waiter([&] {
    KernelCache other = cache();
    EXPECT_FALSE(other.claim(text));
    waits = true;
    waits.notify_one();
    other.await(text);
    EXPECT_NE(other.find(text), nullptr);
  });
  waits.wait(false);
  making.insert(text, std::make_shared<const KernelCode>(someCode()));
  waiter.join();
  EXPECT_TRUE(cache().claim(text)) << "nobody makes it any more";
}

TEST_F(KernelCacheTest, TextsAreNotKeptOnDisk) {
  KernelCache texts(*target, {.keepText = true});
  std::string text = newText();
  texts.insert(text, std::make_shared<const KernelCode>(someCode()));
  EXPECT_NE(texts.find(text), nullptr);
  EXPECT_EQ(cache().find(text), nullptr);
  EXPECT_TRUE(files().empty());
}

TEST_F(KernelCacheTest, AnUnusableDiskIsOneWarningForACompilation) {
  fs::permissions(folder, fs::perms::all);
  KernelCache kernels = cache();
  for (int i = 0; i < 5; ++i) {
    std::string text = newText();
    EXPECT_EQ(kernels.find(text), nullptr);
    kernels.insert(text, std::make_shared<const KernelCode>(someCode()));
    EXPECT_NE(kernels.find(text), nullptr);
  }
  EXPECT_EQ(runtime::readStats().warnings, 1u);
  EXPECT_TRUE(files().empty());
}

} // namespace
