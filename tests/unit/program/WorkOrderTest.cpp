#include "runtime/program/WorkOrder.h"

#include <gtest/gtest.h>
#include <random>

using namespace sinter::runtime;

namespace {

using Numbers = std::vector<uint32_t>;

/// Buffers are one byte each, by number.
WorkItem item(std::initializer_list<uintptr_t> reads,
              std::initializer_list<uintptr_t> writes) {
  WorkItem made;
  for (uintptr_t each : reads)
    made.reads.push_back({each, 1});
  for (uintptr_t each : writes)
    made.writes.push_back({each, 1});
  return made;
}

std::vector<Numbers> afterOf(std::span<const WorkItem> items,
                             uint32_t lanes = 4) {
  std::vector<Numbers> lists;
  for (const WorkPlace &place : orderWork(items, lanes))
    lists.push_back(place.after);
  return lists;
}

} // namespace

TEST(WorkOrder, keepsWhatDepends) {
  std::vector<WorkItem> chain = {item({1}, {2}), item({2}, {3}),
                                 item({3}, {4})};
  EXPECT_EQ(afterOf(chain), (std::vector<Numbers>{{}, {0}, {1}}));
  // Who only reads may run at once; who writes waits for all of them.
  std::vector<WorkItem> readers = {item({}, {1}), item({1}, {2}),
                                   item({1}, {3}), item({}, {1})};
  EXPECT_EQ(afterOf(readers), (std::vector<Numbers>{{}, {0}, {0}, {1, 2}}));
  std::vector<WorkItem> writers = {item({}, {1}), item({}, {1})};
  EXPECT_EQ(afterOf(writers), (std::vector<Numbers>{{}, {0}}));
}

TEST(WorkOrder, comparesRanges) {
  WorkItem low{{}, {{100, 50}}, false, false};
  WorkItem middle{{}, {{140, 20}}, false, false};
  WorkItem high{{}, {{160, 50}}, false, false};
  EXPECT_EQ(afterOf(std::vector{low, middle, high}),
            (std::vector<Numbers>{{}, {0}, {}}));
}

TEST(WorkOrder, saysNothingTwice) {
  std::vector<WorkItem> items = {item({}, {1}), item({1}, {2}),
                                 item({1, 2}, {3}), item({1, 2, 3}, {4})};
  EXPECT_EQ(afterOf(items), (std::vector<Numbers>{{}, {0}, {1}, {2}}));
}

TEST(WorkOrder, limitsLanes) {
  std::vector<WorkItem> items;
  for (uintptr_t i = 0; i < 8; ++i)
    items.push_back(item({}, {i}));
  EXPECT_EQ(afterOf(items, 2),
            (std::vector<Numbers>{{}, {}, {0}, {1}, {2}, {3}, {4}, {5}}));
  EXPECT_EQ(afterOf(items, 1),
            (std::vector<Numbers>{{}, {0}, {1}, {2}, {3}, {4}, {5}, {6}}));
}

TEST(WorkOrder, looksBeforeItOverwrites) {
  std::vector<WorkItem> items = {item({1}, {2}), item({2}, {3}),
                                 item({9}, {8}), item({8}, {9}),
                                 item({9}, {7}), item({1}, {6})};
  items[1].reports = true;
  items[3].overwrites = true; // the caller's 9
  std::vector<uint32_t> parts;
  for (const WorkPlace &place : orderWork(items, 4))
    parts.push_back(place.part);
  // What reads the new 9 comes later too; the last one need not.
  EXPECT_EQ(parts, (Numbers{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(afterOf(items), (std::vector<Numbers>{{}, {0}, {}, {}, {3}, {}}));
  items[3].overwrites = false;
  for (const WorkPlace &place : orderWork(items, 4))
    EXPECT_EQ(place.part, 0u);
}

TEST(WorkOrder, leavesWorkToRunBesideWhatOverwrites) {
  // A check, a chain of seven, what overwrites, and what follows from the
  // chain.
  std::vector<WorkItem> items = {item({100}, {101})};
  items[0].reports = true;
  for (uintptr_t i = 0; i < 7; ++i)
    items.push_back(item({i}, {i + 1}));
  items.push_back(item({7}, {50}));
  items.back().overwrites = true;
  items.push_back(item({7}, {60}));
  items.push_back(item({60}, {61}));
  auto partsOf = [&] {
    Numbers parts;
    for (const WorkPlace &place : orderWork(items, 4))
      parts.push_back(place.part);
    return parts;
  };
  EXPECT_EQ(partsOf(), (Numbers{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}));
  // What a check needs stays before it.
  items.back().reports = true;
  EXPECT_EQ(partsOf(), (Numbers{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}));
  items.back().reports = false;
  // Little work ends before the host has looked.
  items.erase(items.begin() + 7);
  items[7].reads = items[8].reads = {{6, 1}};
  EXPECT_EQ(partsOf(), (Numbers{0, 0, 0, 0, 0, 0, 0, 1, 0, 1}));
}

TEST(WorkOrder, countsEveryCheckOnce) {
  // Checks in each of two parts: the last one overwrites behind both.
  std::vector<WorkItem> items = {item({1}, {2}), item({2}, {5}), item({5}, {6}),
                                 item({6}, {7})};
  items[0].reports = items[2].reports = true;
  items[1].overwrites = items[3].overwrites = true;
  std::vector<uint32_t> parts;
  for (const WorkPlace &place : orderWork(items, 4))
    parts.push_back(place.part);
  EXPECT_EQ(parts, (Numbers{0, 1, 1, 2}));
}

// Two items of which one writes what the other touches are never unordered,
// and no more than the lanes may run at once.
TEST(WorkOrder, holdsForRandomWork) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    uint32_t count = 1 + random() % 60, lanes = 1 + random() % 4;
    std::vector<WorkItem> items;
    for (uint32_t i = 0; i < count; ++i) {
      items.push_back(item({random() % 20, random() % 20}, {random() % 20}));
      items.back().reports = random() % 10 == 0;
      items.back().overwrites = random() % 10 == 0;
    }
    std::vector<WorkPlace> places = orderWork(items, lanes);
    std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t other : places[i].after) {
        ASSERT_EQ(places[other].part, places[i].part);
        before[i][other] = true;
        for (uint32_t k = 0; k < other; ++k)
          before[i][k] = before[i][k] || before[other][k];
      }
      for (uint32_t k = 0; k < i; ++k) {
        bool touch = items[k].writes[0].overlaps(items[i].writes[0]);
        for (int r = 0; r < 2; ++r)
          touch |= items[k].writes[0].overlaps(items[i].reads[r]) ||
                   items[i].writes[0].overlaps(items[k].reads[r]);
        bool ordered = places[k].part < places[i].part ||
                       (places[k].part == places[i].part && before[i][k]);
        ASSERT_TRUE(!touch || ordered) << "seed " << seed;
        if (items[k].reports && items[i].overwrites) {
          ASSERT_LT(places[k].part, places[i].part) << "seed " << seed;
        }
      }
    }
    // Lanes: in no part are more than that many pairwise unordered.
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<uint32_t> together = {i};
      for (uint32_t k = i + 1; k < count; ++k) {
        bool all = places[k].part == places[i].part;
        for (uint32_t other : together)
          all = all && !before[k][other];
        if (all)
          together.push_back(k);
      }
      ASSERT_LE(together.size(), lanes) << "seed " << seed;
    }
  }
}
