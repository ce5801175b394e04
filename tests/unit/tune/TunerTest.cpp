#include "runtime/tune/Tuner.h"

#include "runtime/files/DiskCache.h"
#include "runtime/support/Flags.h"
#include "sinter/runtime/Log.h"
#include "tests/unit/tune/TwoTiles.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
namespace fs = std::filesystem;

namespace {

const std::vector<TileChoice> fast = {{"contraction_1", "fast"}};

class TunerTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tuner-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    setenv("SINTER_CACHE_DIR", folder.c_str(), 1);
    reloadFlags();
    forget();
  }
  void TearDown() override {
    fs::remove_all(folder);
    forget();
  }

  /// As if another process began.
  static void forget() {
    forgetTiles();
    clearMemoryCache();
    TwoTiles::asked() = {};
  }

  /// Where the program came from; its tiles are what was asked for.
  static CacheSource find(uint64_t key, const char *tuneOn = "cpu") {
    Tunable tunable;
    tunable.request.tuneOn = tuneOn;
    tunable.compile = TwoTiles::compile;
    tunable.inputs = {{1 << 18}, {1 << 18}};
    auto found = findOrTune({1, key}, **getDevice({}), tunable);
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->source : CacheSource::compiled;
  }

  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".tiles")
        found.push_back(entry.path());
    return found;
  }

  fs::path folder;
};

} // namespace

TEST_F(TunerTest, ChoicesAreCompiledIn) {
  TwoTiles compiler({"slow", "fast"});
  EXPECT_EQ(find(1), CacheSource::compiled);
  EXPECT_EQ(TwoTiles::asked().tiles, fast);
  EXPECT_EQ(TwoTiles::asked().programs, 2) << "unasked, then with the choice";
  EXPECT_EQ(TwoTiles::asked().kernels, 2);
  EXPECT_EQ(entries().size(), 2u) << "of the product, and of the program";
  EXPECT_EQ(find(1), CacheSource::memory);
}

TEST_F(TunerTest, AnotherProcessReadsThem) {
  TwoTiles compiler({"slow", "fast"});
  find(1);
  forget();
  EXPECT_EQ(find(1), CacheSource::disk);
  EXPECT_EQ(TwoTiles::asked().programs, 0);
  EXPECT_EQ(TwoTiles::asked().kernels, 0);
}

TEST_F(TunerTest, AnotherProgramTakesTheProductsTile) {
  TwoTiles compiler({"slow", "fast"});
  find(1);
  forget();
  EXPECT_EQ(find(2), CacheSource::compiled);
  EXPECT_EQ(TwoTiles::asked().tiles, fast);
  EXPECT_EQ(TwoTiles::asked().kernels, 0);
}

TEST_F(TunerTest, BrokenEntriesAreWrittenAnew) {
  TwoTiles compiler({"slow", "fast"});
  find(1);
  for (const fs::path &entry : entries())
    std::ofstream(entry, std::ios::binary) << "broken";
  // One whose digest is right, and which says no tiles.
  std::string other = "another text";
  ASSERT_TRUE(DiskCache::fromEnvironment().storeBytes(
      CacheKind::tiles, {7, 7}, std::as_bytes(std::span(other))));
  EXPECT_EQ(findTiles({7, 7}), std::nullopt);
  forget();
  uint64_t before = warningCount();
  find(1);
  EXPECT_EQ(TwoTiles::asked().kernels, 2);
  EXPECT_EQ(warningCount(), before + 2);
  forget();
  EXPECT_EQ(find(1), CacheSource::disk);
  EXPECT_EQ(TwoTiles::asked().kernels, 0);
}

TEST_F(TunerTest, ChoicesArePartOfTheKey) {
  TwoTiles compiler({"slow", "fast"});
  find(1);
  for (const fs::path &entry : entries())
    fs::remove(entry);
  forget();
  TwoTiles other({"fast", "slow"});
  EXPECT_EQ(find(1), CacheSource::compiled) << "the one with a choice is there";
  EXPECT_EQ(TwoTiles::asked().tiles, TileChoices());
}

TEST_F(TunerTest, NothingIsTimedUnasked) {
  TwoTiles compiler({"slow", "fast"});
  EXPECT_EQ(find(1, ""), CacheSource::compiled);
  EXPECT_EQ(TwoTiles::asked().programs, 1);
  EXPECT_EQ(TwoTiles::asked().kernels, 0);
  EXPECT_EQ(TwoTiles::asked().tiles, TileChoices());
  EXPECT_TRUE(fs::exists(DiskCache::fromEnvironment().programPath({1, 1})));
  EXPECT_TRUE(entries().empty());
  EXPECT_FALSE(findTuned({1, 1}, **getDevice({}), {.tuneOn = "cpu"}).program);
  EXPECT_TRUE(findTuned({1, 1}, **getDevice({}), {}).program);
}
