/// What the training tests share: a small model, its data, and counters.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <malloc.h>

namespace training {

size_t heapInUse() { return ::mallinfo2().uordblks; }

std::string missesText() {
  std::string text;
  for (const sn::Stats::Miss &miss : sn::stats().misses)
    text += miss.reason + " at " + miss.site + " read at " + miss.flush + "\n";
  return text;
}

} // namespace training

namespace {

/// Every run of the tests starts with an empty cache of its own.
class EmptyCache : public testing::Environment {
public:
  void SetUp() override {
    char name[] = "/tmp/sinter-cache-XXXXXX";
    folder = ::mkdtemp(name);
    ::setenv("SINTER_CACHE_DIR", folder.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

private:
  std::filesystem::path folder;
};

auto *const emptyCache = testing::AddGlobalTestEnvironment(new EmptyCache);

} // namespace
