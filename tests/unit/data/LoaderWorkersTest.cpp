/// What becomes of a loader's workers, and what it knows of their work.
#include <sinter/data/DataLoader.h>

#include <sinter/SourceScope.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace sinter;
using data::Cursor;

namespace {

struct Numbers {
  int64_t count;
  std::function<int64_t(int64_t)> function = [](int64_t i) { return i; };
  int64_t size() const { return count; }
  int64_t get(int64_t index) const { return function(index); }
};

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

/// Until `condition` holds, for some seconds at most.
template <typename F> bool soon(F condition) {
  for (int i = 0; i < 5000 && !condition(); ++i)
    sleepFor(1000);
  return condition();
}

data::LoaderOptions kept(int64_t batch, int64_t workers = 2) {
  return {.batch_size = batch,
          .workers = workers,
          .sampler = data::random_sampler(3),
          .keep_workers = true};
}

} // namespace

//===- Workers that are kept ----------------------------------------------===//

TEST(KeptWorkers, GiveTheSameEpochs) {
  data::LoaderOptions without = kept(3);
  without.keep_workers = false;
  Loader plain({10}, without);
  for (int64_t workers : {0, 1, 2, 4}) {
    plain.seek({0, 0});
    Loader loader({10}, kept(3, workers));
    for (int epoch = 0; epoch < 5; ++epoch) {
      EXPECT_EQ(loader.cursor(), (Cursor{epoch, 0}));
      EXPECT_EQ(loader.size(), 4);
      EXPECT_EQ(epochOf(loader), epochOf(plain)) << workers << " " << epoch;
    }
  }
}

TEST(KeptWorkers, AreTheSameThreadsInEveryEpoch) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  Loader loader({8,
                 [&](int64_t i) {
                   std::lock_guard lock(mutex);
                   threads.insert(std::this_thread::get_id());
                   return i;
                 }},
                kept(2));
  for (int epoch = 0; epoch < 10; ++epoch)
    epochOf(loader);
  EXPECT_LE(threads.size(), 2u);
}

TEST(KeptWorkers, BeginTheNextEpochBeforeItIsAskedFor) {
  std::atomic<int64_t> made = 0;
  Loader loader({4,
                 [&](int64_t i) {
                   ++made;
                   return i;
                 }},
                kept(1, 1));
  epochOf(loader);
  EXPECT_TRUE(soon([&] { return made == 6; })) << "two may wait";
  Loader plain({4,
                [&](int64_t i) {
                  ++made;
                  return i;
                }},
               {.batch_size = 1, .workers = 1});
  made = 0;
  epochOf(plain);
  sleepFor(20000);
  EXPECT_EQ(made, 4) << "an epoch was begun that nobody asked for";
}

TEST(KeptWorkers, EndWhereALoopIsLeftOrMoved) {
  Loader loader({6}, kept(2));
  Batches first = epochOf(loader), second = epochOf(loader);
  loader.seek({0, 1});
  EXPECT_EQ(epochOf(loader), Batches(first.begin() + 1, first.end()));
  EXPECT_EQ(epochOf(loader), second);
  loader.seek({1, 0});
  for (auto &batch : loader)
    if (batch == second[0])
      break;
  EXPECT_EQ(loader.cursor(), (Cursor{1, 1}));
  EXPECT_EQ(epochOf(loader), Batches(second.begin() + 1, second.end()));
}

TEST(KeptWorkers, EpochsMayBeEmptyOrOfAnySize) {
  data::LoaderOptions options = kept(2);
  options.sampler = [](int64_t, int64_t epoch) {
    return std::vector<int64_t>(size_t(epoch % 3) * 3, epoch % 5);
  };
  Loader loader({5}, options);
  for (int64_t epoch = 0; epoch < 9; ++epoch) {
    Batches batches = epochOf(loader);
    ASSERT_EQ(int64_t(batches.size()), epoch % 3 * 3 / 2 + epoch % 3 % 2);
    for (auto &batch : batches)
      EXPECT_EQ(batch[0], epoch % 5);
  }
}

TEST(KeptWorkers, AnErrorOfALaterEpochComesThere) {
  data::LoaderOptions options = kept(2);
  options.sampler = [](int64_t, int64_t epoch) {
    if (epoch == 1)
      throw std::runtime_error("no second epoch");
    return std::vector<int64_t>{0, 1, 2};
  };
  Loader loader({3}, options);
  EXPECT_EQ(epochOf(loader).size(), 2u);
  EXPECT_THROW(epochOf(loader), std::runtime_error);
  loader.seek({2, 0});
  EXPECT_EQ(epochOf(loader), (Batches{{0, 1}, {2}}));
}

//===- Errors -------------------------------------------------------------===//

TEST(WorkersErrors, ReachTheLoopWithTheItemAndTheUsersLine) {
  for (int64_t workers : {0, 2}) {
    int line = 0;
    auto squares = data::map(Numbers{8}, [](int64_t i) { return i; });
    auto roots = data::map(squares, [](int64_t i) -> int64_t { //
      if (i == 5)
        throw std::domain_error("no root of 5");
      return i;
    });
    line = __LINE__ - 5;
    auto outer = data::map(roots, [](int64_t i) { return i + 1; });
    data::DataLoader loader(outer, {.batch_size = 2, .workers = workers},
                            AsIs());
    try {
      for (auto &batch : loader)
        (void)batch;
      FAIL() << "nothing was thrown";
    } catch (const data::LoaderError &error) {
      const std::string &message = error.message();
      EXPECT_TRUE(message.starts_with(
          "data loader: item 5 (batch 2 of epoch 0), map of "))
          << message;
      EXPECT_TRUE(message.ends_with(
          "LoaderWorkersTest.cpp:" + std::to_string(line) + ": no root of 5"))
          << message;
      EXPECT_NE(error.site().find("LoaderWorkersTest.cpp"), std::string::npos);
      EXPECT_THROW(std::rethrow_if_nested(error), std::domain_error);
    }
  }
}

TEST(WorkersErrors, ALineThatWasCaughtIsForgotten) {
  auto risky = data::map(Numbers{4}, [](int64_t i) -> int64_t {
    if (i == 0)
      throw std::runtime_error("caught");
    return i;
  });
  Numbers careful{4, [risky](int64_t i) {
                    try {
                      return risky.get(i);
                    } catch (const std::runtime_error &) {
                      return int64_t(-1);
                    }
                  }};
  EXPECT_EQ(careful.get(0), -1);
  Loader loader({1, [](int64_t) -> int64_t { throw std::runtime_error("x"); }},
                {});
  try {
    loader.begin();
    FAIL() << "nothing was thrown";
  } catch (const data::LoaderError &error) {
    EXPECT_EQ(error.message(), "data loader: item 0 (batch 0 of epoch 0): x");
  }
}

TEST(WorkersErrors, AreFollowedByAnyPlace) {
  for (bool isKept : {false, true}) {
    data::LoaderOptions options = kept(2);
    options.keep_workers = isKept;
    options.sampler = data::sequential_sampler();
    Loader loader({9,
                   [](int64_t i) {
                     if (i == 4)
                       throw std::runtime_error("no four");
                     return i;
                   }},
                  options);
    EXPECT_THROW(epochOf(loader), data::LoaderError);
    EXPECT_EQ(loader.cursor(), (Cursor{0, 2}));
    EXPECT_THROW(epochOf(loader), data::LoaderError) << "it is next again";
    loader.seek({0, 3});
    EXPECT_EQ(epochOf(loader), (Batches{{6, 7}, {8}}));
    loader.seek({3, 0});
    EXPECT_THROW(epochOf(loader), data::LoaderError);
  }
}

//===- Ends ---------------------------------------------------------------===//

TEST(WorkersEnd, TheLoaderWaitsForAnItemThatBlocks) {
  for (bool isKept : {false, true}) {
    std::atomic<bool> mayGo = false, gone = false;
    std::latch inside(1);
    std::thread opener;
    {
      data::LoaderOptions options = kept(1, 1);
      options.keep_workers = isKept;
      options.sampler = data::sequential_sampler();
      Loader loader({2,
                     [&](int64_t i) {
                       if (i == 1) {
                         inside.count_down();
                         while (!mayGo)
                           sleepFor(100);
                         gone = true;
                       }
                       return i;
                     }},
                    options);
      auto batch = loader.begin();
      inside.wait();
      opener = std::thread([&] {
        sleepFor(10000);
        mayGo = true;
      });
    }
    EXPECT_TRUE(gone) << "the loader ended before its worker";
    opener.join();
  }
}

TEST(WorkersEnd, AChildOfTheProcessBeginsItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
#endif
  for (bool isKept : {false, true}) {
    data::LoaderOptions options = kept(2);
    options.keep_workers = isKept;
    Loader loader({20}, options);
    Batches first = epochOf(loader), second = epochOf(loader);
    loader.seek({0, 0});
    epochOf(loader); // workers may be at the second epoch
    pid_t child = ::fork();
    if (child == 0) {
      bool isRight = loader.size() == 10 && epochOf(loader) == second;
      ::_exit(isRight ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(epochOf(loader), second) << "the parent goes on";
  }
}

//===- Statistics ---------------------------------------------------------===//

TEST(LoaderStats, SayWhatALoopWaitedFor) {
  Loader loader({6, [](int64_t i) { return sleepFor(3000), i; }},
                {.batch_size = 2});
  EXPECT_EQ(loader.stats().stall(), 0);
  for (auto &batch : loader) {
    (void)batch;
    sleepFor(1000);
  }
  data::LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.batches, 3);
  EXPECT_GE(stats.waited, 6 * 0.003);
  EXPECT_GE(stats.stepped, 3 * 0.001);
  EXPECT_EQ(stats.stall(), stats.waited / (stats.waited + stats.stepped));
  loader.reset_stats();
  EXPECT_EQ(loader.stats().batches, 0);
  EXPECT_EQ(loader.stats().waited, 0);
}

TEST(LoaderStats, TimeBetweenLoopsIsNobodys) {
  Loader loader({2}, {.batch_size = 1});
  auto expectNoneOfThis = [&] {
    double before = loader.stats().stepped;
    sleepFor(2000);
    loader.begin();
    EXPECT_EQ(loader.stats().stepped, before);
  };
  epochOf(loader);
  expectNoneOfThis();
  for (auto &batch : loader) {
    (void)batch;
    break;
  }
  expectNoneOfThis();
  EXPECT_EQ(loader.stats().batches, 4) << "the last loop had none left";
}
