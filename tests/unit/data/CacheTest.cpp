/// The cache: made once, by whichever thread comes first.
#include <sinter/data/Cache.h>

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>
#include <thread>

using namespace sinter;

namespace {

/// Squares; how often each was made.
struct Squares {
  int64_t count;
  std::function<void(int64_t)> before = [](int64_t) {};
  std::shared_ptr<std::vector<std::atomic<int>>> calls =
      std::make_shared<std::vector<std::atomic<int>>>(
          static_cast<size_t>(count));
  int64_t size() const { return count; }
  int64_t get(int64_t index) const {
    ++(*calls)[static_cast<size_t>(index)];
    before(index);
    return index * index;
  }
};

} // namespace

TEST(Cache, AsksForAnItemOnce) {
  Squares squares{5};
  auto cached = data::cache(squares);
  auto copy = cached;
  EXPECT_EQ(cached.kept_items(), 0) << "it is filled when items are asked for";
  for (int round = 0; round < 3; ++round)
    for (int64_t i : {0, 2, 4}) {
      EXPECT_EQ(cached.get(i), i * i);
      EXPECT_EQ(copy.get(i), i * i);
    }
  EXPECT_EQ((*squares.calls)[2], 1);
  EXPECT_EQ((*squares.calls)[1], 0);
  EXPECT_EQ(cached.kept_items(), 3);
  EXPECT_EQ(cached.size(), 5);
  EXPECT_THROW(cached.get(5), Error);
}

TEST(Cache, ThreadsShareOneMaking) {
  Squares squares{64};
  auto cached = data::cache(squares);
  std::barrier start(4);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, cached] {
      start.arrive_and_wait();
      for (int64_t i = 0; i < 64; ++i)
        wrong += cached.get(i) != i * i;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  for (auto &calls : *squares.calls)
    EXPECT_EQ(calls, 1);
}

TEST(Cache, ItemsAreMadeAtTheSameTime) {
  std::barrier meeting(2); // neither goes on until both are being made
  Squares squares{2, [&](int64_t) { meeting.arrive_and_wait(); }};
  auto cached = data::cache(squares);
  std::thread other([&] { cached.get(0); });
  EXPECT_EQ(cached.get(1), 1);
  other.join();
}

TEST(Cache, OfMoreItemsThanFitTheFirstAreKept) {
  Squares squares{4};
  auto cached = data::cache(squares, 2);
  for (int round = 0; round < 3; ++round)
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(cached.get(i), i * i);
  EXPECT_EQ(cached.kept_items(), 2);
  EXPECT_EQ((*squares.calls)[0], 1);
  EXPECT_EQ((*squares.calls)[1], 1);
  EXPECT_EQ((*squares.calls)[2], 3);
}

TEST(Cache, WhatThrewIsMadeAgain) {
  bool broken = true;
  Squares squares{1, [&](int64_t) {
                    if (broken)
                      throw std::runtime_error("for now");
                  }};
  auto cached = data::cache(squares, 1);
  EXPECT_THROW(cached.get(0), std::runtime_error);
  EXPECT_EQ(cached.kept_items(), 0);
  broken = false;
  EXPECT_EQ(cached.get(0), 0);
  EXPECT_EQ(cached.get(0), 0);
  EXPECT_EQ((*squares.calls)[0], 2);
}
