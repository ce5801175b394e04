#include "runtime/support/LruCache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

using sinter::LruCache;

namespace {

using Value = std::shared_ptr<const int>;
using Cache = LruCache<std::string, Value>;

Value value(int number) { return std::make_shared<const int>(number); }

} // namespace

TEST(LruCache, DropsTheLeastRecentlyUsed) {
  Cache cache(100);
  cache.insert("a", value(1), 40);
  cache.insert("b", value(2), 40);
  EXPECT_EQ(*cache.find("a"), 1);
  cache.insert("c", value(3), 40);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(*cache.find("a"), 1);
  EXPECT_EQ(*cache.find("c"), 3);
}

TEST(LruCache, KeepsTheNewestWhateverItsSize) {
  Cache cache(100);
  cache.insert("a", value(1), 40);
  cache.insert("b", value(2), 400);
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("b"), 2);
  cache.insert("c", value(3), 1);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(*cache.find("c"), 3);
}

TEST(LruCache, KeepsWhatItHasOfAKey) {
  Cache cache(100);
  cache.insert("a", value(1), 90);
  cache.insert("a", value(2), 90);
  EXPECT_EQ(*cache.find("a"), 1);
  cache.clear();
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.insert("a", value(2), 90);
  EXPECT_EQ(*cache.find("a"), 2);
}

TEST(LruCache, ServesManyThreads) {
  Cache cache(1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        std::string key = std::to_string(i % 50);
        cache.insert(key, value(i % 50), 40);
        if (Value found = cache.find(key)) {
          ASSERT_EQ(*found, i % 50);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}
