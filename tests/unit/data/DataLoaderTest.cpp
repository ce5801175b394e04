/// The loader: order, threads, errors, its cursor.
#include <sinter/data/DataLoader.h>

#include <sinter/Random.h>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <unistd.h>

using namespace sinter;
using data::Cursor;

namespace {

/// The numbers 0 to count - 1, by a function that tests choose.
struct Numbers {
  int64_t count;
  std::function<int64_t(int64_t)> function = [](int64_t i) { return i; };
  int64_t size() const { return count; }
  int64_t get(int64_t index) const { return function(index); }
};

/// A batch is the items themselves.
struct AsIs {
  std::vector<int64_t> operator()(std::vector<int64_t> items) const {
    return items;
  }
};

using Batches = std::vector<std::vector<int64_t>>;
using Loader = data::DataLoader<Numbers, AsIs>;

Batches epochOf(Loader &loader) {
  Batches batches;
  for (std::vector<int64_t> &batch : loader)
    batches.push_back(batch);
  return batches;
}

void sleepFor(int64_t microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

class Cursors : public testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(file); }
  std::string file =
      std::filesystem::temp_directory_path() /
      ("sinter-cursor-" + std::to_string(::getpid()) + ".safetensors");
};

} // namespace

//===- Order --------------------------------------------------------------===//

TEST(DataLoader, GivesAllItemsInBatches) {
  Loader loader({7}, {.batch_size = 3});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(epochOf(loader), (Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
}

TEST(DataLoader, DropLastLeavesOutAShortBatch) {
  Loader loader({7}, {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(loader.size(), 2);
  EXPECT_EQ(epochOf(loader), (Batches{{0, 1, 2}, {3, 4, 5}}));
  Loader full({6}, {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(full.size(), 2);
}

TEST(DataLoader, NothingHasNoBatches) {
  for (int64_t workers : {0, 2}) {
    Loader loader({0}, {.workers = workers});
    EXPECT_EQ(loader.size(), 0);
    EXPECT_TRUE(epochOf(loader).empty());
  }
}

TEST(DataLoader, OrderDoesNotDependOnTheWorkers) {
  auto slow = [](int64_t i) {
    sleepFor((i * 7919) % 300); // early items are often ready last
    return i * i;
  };
  auto run = [&](int64_t workers) {
    Loader loader({50, slow}, {.batch_size = 4,
                               .workers = workers,
                               .sampler = data::random_sampler(3)});
    return std::pair(epochOf(loader), epochOf(loader));
  };
  auto expected = run(0);
  EXPECT_NE(expected.first, expected.second) << "epochs have one order";
  for (int64_t workers : {1, 2, 5})
    EXPECT_EQ(run(workers), expected) << workers;
}

TEST(DataLoader, RandomNumbersDoNotDependOnTheWorkers) {
  auto draw = [](int64_t) {
    Generator &generator = default_generator();
    generator.take(1);
    return static_cast<int64_t>(generator.key_low() + generator.counter());
  };
  auto run = [&](int64_t workers, uint64_t seed) {
    Loader loader({20, draw},
                  {.batch_size = 3, .workers = workers, .seed = seed});
    Batches all = epochOf(loader);
    Batches second = epochOf(loader);
    all.insert(all.end(), second.begin(), second.end());
    return all;
  };
  Batches expected = run(0, 1);
  EXPECT_EQ(run(3, 1), expected);
  EXPECT_NE(run(0, 2), expected);
  std::set<int64_t> distinct;
  for (auto &batch : expected)
    distinct.insert(batch.begin(), batch.end());
  EXPECT_EQ(distinct.size(), 40u) << "items or epochs share numbers";
}

TEST(DataLoader, TheLoopsOwnRandomNumbersAreLeftAlone) {
  manual_seed(5);
  uint64_t key = default_generator().key_low();
  Loader loader({4, [](int64_t i) {
                   default_generator().take(3);
                   return i;
                 }});
  epochOf(loader);
  EXPECT_EQ(default_generator().key_low(), key);
  EXPECT_EQ(default_generator().counter(), 0u);
}

TEST(DataLoader, SamplersMayTakeItemsOftenOrNever) {
  Loader loader(
      {4}, {.batch_size = 2, .workers = 1, .sampler = [](int64_t, int64_t) {
              return std::vector<int64_t>{3, 3, 1};
            }});
  EXPECT_EQ(epochOf(loader), (Batches{{3, 3}, {1}}));
}

TEST(DataLoader, ASamplerBeyondTheItemsIsAnError) {
  Loader loader({4}, {.sampler = [](int64_t, int64_t) {
                  return std::vector<int64_t>{4};
                }});
  try {
    loader.begin();
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "data loader: the sampler gives item 4 of 4");
  }
}

TEST(DataLoader, BadOptionsAreErrors) {
  EXPECT_THROW(Loader({4}, {.batch_size = 0}), Error);
  EXPECT_THROW(Loader({4}, {.workers = -1}), Error);
  EXPECT_THROW(Loader({4}, {.prefetch = 0}), Error);
  EXPECT_THROW(Loader({4}, {.sampler = nullptr}), Error);
}

//===- Threads ------------------------------------------------------------===//

TEST(DataLoader, WorkersWorkAtTheSameTime) {
  std::barrier meeting(3); // nobody goes on until three are there
  Loader loader({3,
                 [&](int64_t i) {
                   meeting.arrive_and_wait();
                   return i;
                 }},
                {.batch_size = 1, .workers = 3});
  EXPECT_EQ(epochOf(loader), (Batches{{0}, {1}, {2}}));
}

TEST(DataLoader, WithoutWorkersTheLoopMakesBatches) {
  std::thread::id self = std::this_thread::get_id();
  Loader loader({3, [&](int64_t i) {
                   EXPECT_EQ(std::this_thread::get_id(), self);
                   return i;
                 }});
  epochOf(loader);
}

TEST(DataLoader, WorkersAreAheadAsFarAsTheyMay) {
  std::atomic<int64_t> made = 0;
  Loader loader({100,
                 [&](int64_t i) {
                   ++made;
                   return i;
                 }},
                {.batch_size = 1, .workers = 2, .prefetch = 3});
  auto batch = loader.begin();
  for (int i = 0; i < 2000 && made < 7; ++i)
    sleepFor(1000);
  sleepFor(20000);
  EXPECT_EQ(made, 7) << "one was taken, six may wait";
}

TEST(DataLoader, LeavingTheLoopStopsTheWorkers) {
  std::atomic<int64_t> inside = 0, made = 0;
  Loader loader({1000000,
                 [&](int64_t i) {
                   ++inside;
                   sleepFor(50);
                   ++made;
                   --inside;
                   return i;
                 }},
                {.batch_size = 1000, .workers = 4});
  for (int round = 0; round < 3; ++round) {
    for (auto &batch : loader) {
      (void)batch;
      break;
    }
    EXPECT_EQ(inside, 0) << "a worker is still there";
  }
  // Workers stop between items, not between batches.
  EXPECT_LT(made, 3 * 9000);
}

TEST(DataLoader, ALoaderMayDieInTheMiddle) {
  for (int round = 0; round < 50; ++round) {
    Loader loader({100,
                   [](int64_t i) {
                     sleepFor(10);
                     return i;
                   }},
                  {.batch_size = 2, .workers = 3});
    auto at = loader.begin();
    for (int steps = round % 7; steps > 0; --steps)
      ++at;
  }
}

//===- Errors -------------------------------------------------------------===//

TEST(DataLoader, AnExceptionOfGetNamesItsItem) {
  for (int64_t workers : {0, 3}) {
    Loader loader({20,
                   [](int64_t i) {
                     if (i == 13)
                       throw std::out_of_range("no thirteen");
                     return i;
                   }},
                  {.batch_size = 4, .workers = workers});
    Batches before;
    try {
      for (auto &batch : loader)
        before.push_back(batch);
      FAIL() << "nothing was thrown";
    } catch (const data::LoaderError &error) {
      EXPECT_EQ(error.item(), 13);
      EXPECT_EQ(error.cursor(), (Cursor{0, 3}));
      EXPECT_EQ(error.message(),
                "data loader: item 13 (batch 3 of epoch 0): no thirteen");
      EXPECT_NE(error.site().find("DataLoaderTest.cpp"), std::string::npos);
      EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
    }
    EXPECT_EQ(before.size(), 3u) << "batches before it were lost";
  }
}

TEST(DataLoader, AnErrorKeepsItsKind) {
  Loader loader({1, [](int64_t) -> int64_t {
                   throw Error(
                       makeError(ErrorKind::io, "file.png: cannot open"));
                 }});
  try {
    loader.begin();
    FAIL() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(error.message().find("file.png: cannot open"), std::string::npos);
  }
}

TEST(DataLoader, WhatIsNoStdExceptionIsReportedToo) {
  Loader loader({1, [](int64_t) -> int64_t { throw 7; }});
  try {
    loader.begin();
    FAIL() << "nothing was thrown";
  } catch (const data::LoaderError &error) {
    EXPECT_EQ(error.item(), 0);
    EXPECT_THROW(std::rethrow_if_nested(error), int);
  }
}

TEST(DataLoader, AnExceptionOfTheBatcherNamesTheBatch) {
  data::DataLoader loader(Numbers{20}, {.batch_size = 4, .workers = 2},
                          [](std::vector<int64_t> items) {
                            if (items[0] == 8)
                              throw std::runtime_error("no room");
                            return items;
                          });
  try {
    for (auto &batch : loader)
      (void)batch;
    FAIL() << "nothing was thrown";
  } catch (const data::LoaderError &error) {
    EXPECT_FALSE(error.item());
    EXPECT_EQ(error.message(), "data loader: batch 2 of epoch 0: no room");
  }
}

TEST(DataLoader, AfterAnExceptionTheSameBatchIsNext) {
  for (int64_t workers : {0, 2}) {
    std::atomic<bool> broken = true;
    Loader loader({6,
                   [&](int64_t i) {
                     if (i == 2 && broken)
                       throw std::runtime_error("for now");
                     return i;
                   }},
                  {.batch_size = 2, .workers = workers});
    EXPECT_THROW(epochOf(loader), data::LoaderError);
    EXPECT_EQ(loader.cursor(), (Cursor{0, 1}));
    broken = false;
    EXPECT_EQ(epochOf(loader), (Batches{{2, 3}, {4, 5}}));
  }
}

//===- Cursor -------------------------------------------------------------===//

TEST_F(Cursors, StandAfterTheBatchThatWasGiven) {
  Loader loader({5}, {.batch_size = 2, .workers = 1});
  EXPECT_EQ(loader.cursor(), (Cursor{0, 0}));
  int64_t number = 0;
  for (auto &batch : loader) {
    (void)batch;
    EXPECT_EQ(loader.cursor(), (Cursor{0, ++number}));
  }
  EXPECT_EQ(loader.cursor(), (Cursor{1, 0}));
}

TEST_F(Cursors, ALoopGoesOnWhereTheLastOneWasLeft) {
  Loader loader({6}, {.batch_size = 2, .workers = 2});
  for (auto &batch : loader)
    if (batch[0] == 2)
      break;
  EXPECT_EQ(epochOf(loader), (Batches{{4, 5}}));
  EXPECT_EQ(loader.cursor(), (Cursor{1, 0}));
}

TEST_F(Cursors, SeekMovesAnywhere) {
  Loader loader({6}, {.batch_size = 2, .sampler = data::random_sampler(1)});
  Batches first = epochOf(loader), second = epochOf(loader);
  loader.seek({0, 1});
  EXPECT_EQ(epochOf(loader), Batches(first.begin() + 1, first.end()));
  EXPECT_EQ(epochOf(loader), second);
  loader.seek({0, 3});
  EXPECT_TRUE(epochOf(loader).empty());
  EXPECT_EQ(loader.cursor(), (Cursor{1, 0}));
  EXPECT_THROW(loader.seek({-1, 0}), Error);
  loader.seek({0, 4});
  EXPECT_THROW(loader.begin(), Error);
}

TEST_F(Cursors, AnotherLoaderGoesOnFromAFile) {
  data::LoaderOptions options{.batch_size = 3,
                              .workers = 2,
                              .sampler = data::random_sampler(9),
                              .seed = 4};
  Loader whole({20}, options);
  Batches expected = epochOf(whole);
  for (auto &batch : epochOf(whole))
    expected.push_back(batch);

  Batches parts;
  int64_t stop = 0;
  do { // four batches at a time, each time by a new loader
    Loader loader({20}, options);
    if (std::filesystem::exists(file))
      loader.load(file);
    stop = std::min<int64_t>(parts.size() + 4, expected.size());
    while (static_cast<int64_t>(parts.size()) < stop)
      for (auto &batch : loader) {
        parts.push_back(batch);
        loader.save(file);
        if (static_cast<int64_t>(parts.size()) == stop)
          break;
      }
  } while (parts.size() < expected.size());
  EXPECT_EQ(parts, expected);
}

TEST_F(Cursors, OfAnotherLoaderAreRefused) {
  Loader({20}, {.batch_size = 4}).save(file);
  Loader other({21}, {.batch_size = 4});
  try {
    other.load(file);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(),
              "load: " + file +
                  " is a cursor for 20 items in batches of 4, seed 0; this "
                  "loader has 21 items in batches of 4, seed 0");
  }
  EXPECT_THROW(Loader({20}, {.batch_size = 5}).load(file), Error);
  EXPECT_THROW(Loader({20}, {.batch_size = 4, .drop_last = true}).load(file),
               Error);
  EXPECT_THROW(Loader({20}, {.batch_size = 4, .seed = 1}).load(file), Error);
  EXPECT_NO_THROW(Loader({20}, {.batch_size = 4, .workers = 3}).load(file));
}
