/// Data sets made of several others, and of parts of one.
#include <sinter/data/Combine.h>

#include <sinter/Error.h>
#include <sinter/data/Compose.h>
#include <sinter/data/DataLoader.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>

using namespace sinter;

namespace {

data::InMemory<int> tens(int count, int first = 0) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i)
    items.push_back(10 * (first + i));
  return data::InMemory(items);
}

template <typename D> auto itemsOf(const D &dataset) {
  std::vector<data::ItemOf<D>> items;
  for (int64_t i = 0; i < dataset.size(); ++i)
    items.push_back(dataset.get(i));
  return items;
}

template <typename F> std::string messageOf(F function) {
  try {
    function();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.message();
  }
  return "accepted";
}

/// Counts how often each index is asked for; it makes items when asked.
struct Counting {
  int64_t count;
  std::shared_ptr<std::atomic<int>> calls =
      std::make_shared<std::atomic<int>>(0);
  int64_t size() const { return count; }
  int64_t get(int64_t index) const {
    ++*calls;
    return index * index;
  }
};

} // namespace

//===- What a data set is -------------------------------------------------===//

TEST(DatasetAlgebra, TheLengthIsKnownAndItemsAreMadeWhenAskedFor) {
  Counting squares{1000000000};
  auto some = data::windows(
      data::partial(data::concat(squares, data::map(squares, std::negate<>())),
                    999999999, 1000000003),
      2);
  EXPECT_EQ(some.size(), 3);
  EXPECT_EQ(*squares.calls, 0) << "an item was made that nobody asked for";
  EXPECT_EQ(some.get(1), (std::vector<int64_t>{0, -1}));
  EXPECT_EQ(*squares.calls, 2);
}

TEST(DatasetAlgebra, AnItemMayBeAnotherOneEachTime) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  auto changing =
      data::map(tens(2), [calls](int item) { return item + (*calls)++; });
  EXPECT_EQ(changing.get(0), 0);
  EXPECT_EQ(changing.get(0), 1);
  data::DataLoader loader(changing, {.batch_size = 2},
                          [](std::vector<int> items) { return items; });
  std::vector<int> all;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (std::vector<int> &batch : loader)
      all.insert(all.end(), batch.begin(), batch.end());
  EXPECT_EQ(all, (std::vector<int>{2, 13, 4, 15}));
}

//===- Of several ---------------------------------------------------------===//

TEST(DatasetAlgebra, ConcatGivesTheItemsOfOneAfterTheOther) {
  auto all = data::concat(tens(2), tens(0), tens(3, 5));
  EXPECT_EQ(itemsOf(all), (std::vector<int>{0, 10, 50, 60, 70}));
  EXPECT_EQ(messageOf([&] { all.get(5); }), "dataset: there is no item 5 of 5");
  EXPECT_EQ(messageOf([&] { all.get(-1); }),
            "dataset: there is no item -1 of 5");
  auto mixed = data::concat(tens(1), Counting{3});
  static_assert(std::is_same_v<data::ItemOf<decltype(mixed)>, int64_t>);
  EXPECT_EQ(itemsOf(mixed), (std::vector<int64_t>{0, 0, 1, 4}));
}

TEST(DatasetAlgebra, ZipGivesItemsSideBySide) {
  auto pairs = data::zip(tens(2), Counting{2});
  EXPECT_EQ(pairs.get(1), (std::pair<int, int64_t>(10, 1)));
  auto triples = data::zip(tens(2), tens(2, 4), Counting{2});
  EXPECT_EQ(triples.get(1), (std::tuple<int, int, int64_t>(10, 50, 1)));
  EXPECT_EQ(messageOf([] { data::zip(tens(2), tens(2), tens(3)); }),
            "zip: data set 2 has 3 items, the first has 2");
}

//===- Parts --------------------------------------------------------------===//

TEST(DatasetAlgebra, WindowsAreNeighbours) {
  auto two = data::windows(tens(4), 2);
  EXPECT_EQ(itemsOf(two),
            (std::vector<std::vector<int>>{{0, 10}, {10, 20}, {20, 30}}));
  auto apart = data::windows(tens(8), 3, 2);
  EXPECT_EQ(itemsOf(apart), (std::vector<std::vector<int>>{
                                {0, 10, 20}, {20, 30, 40}, {40, 50, 60}}));
  EXPECT_EQ(data::windows(tens(2), 3).size(), 0);
  EXPECT_EQ(messageOf([] { data::windows(tens(2), 0); }),
            "windows: length is 0, not 1 or more");
  EXPECT_EQ(messageOf([] { data::windows(tens(2), 1, 0); }),
            "windows: step is 0, not 1 or more");
  EXPECT_EQ(messageOf([&] { two.get(3); }), "dataset: there is no item 3 of 3");
}

TEST(DatasetAlgebra, PartialIsARange) {
  auto all = tens(10);
  auto train = data::partial(all, 0, 8), valid = data::partial(all, 8, 10);
  EXPECT_EQ(train.size(), 8);
  EXPECT_EQ(itemsOf(valid), (std::vector<int>{80, 90}));
  EXPECT_EQ(data::partial(all, 3, 3).size(), 0);
  EXPECT_EQ(messageOf([&] { valid.get(2); }),
            "dataset: there is no item 2 of 2");
  EXPECT_EQ(messageOf([&] { data::partial(all, 4, 11); }),
            "partial: there are no items 4 to 11 of 10");
  EXPECT_EQ(messageOf([&] { data::partial(all, 4, 3); }),
            "partial: there are no items 4 to 3 of 10");
}

TEST(DatasetAlgebra, FilterKeepsWhatAFunctionSays) {
  auto even = data::filter(tens(5), [](int item) { return item % 20 == 0; });
  EXPECT_EQ(itemsOf(even), (std::vector<int>{0, 20, 40}));
}

//===- Samples ------------------------------------------------------------===//

TEST(DatasetAlgebra, SamplesWithReplacementHaveAnySize) {
  auto many =
      data::sample(tens(10), {.count = 10000, .seed = 1, .replacement = true});
  std::map<int, int> times;
  for (int item : itemsOf(many))
    ++times[item];
  EXPECT_EQ(many.size(), 10000);
  ASSERT_EQ(times.size(), 10u);
  for (auto [item, count] : times)
    EXPECT_NEAR(count, 1000, 5 * 30) << item;
  EXPECT_EQ(data::sample(tens(10), {.replacement = true}).size(), 10);
  EXPECT_EQ(data::sample(tens(10), {.count = 3, .replacement = true}).size(),
            3);
}

TEST(DatasetAlgebra, SamplesWithoutReplacementTakeAllBeforeOneComesAgain) {
  for (int64_t count : {1, 4, 5, 12}) {
    auto some = data::sample(tens(5), {.count = count, .seed = 3});
    ASSERT_EQ(some.size(), count);
    std::vector<int> all = itemsOf(some);
    for (size_t round = 0; round < all.size(); round += 5) {
      std::vector<int> part(all.begin() + round,
                            all.begin() + std::min(round + 5, all.size()));
      std::ranges::sort(part);
      EXPECT_EQ(std::ranges::adjacent_find(part), part.end());
    }
  }
  auto seeded = [](uint64_t seed) {
    return itemsOf(data::sample(tens(50), {.seed = seed}));
  };
  EXPECT_EQ(seeded(1), seeded(1));
  EXPECT_NE(seeded(1), seeded(2));
}

TEST(DatasetAlgebra, SamplesFollowWeights) {
  std::vector<double> weights = {1, 0, 3};
  auto drawn = itemsOf(data::sample(
      tens(3),
      {.count = 10000, .seed = 2, .replacement = true, .weights = weights}));
  EXPECT_EQ(std::ranges::count(drawn, 10), 0);
  EXPECT_NEAR(std::ranges::count(drawn, 0), 2500, 5 * 43);
  // Without replacement: how often the heavier one is the first of two.
  int first = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    auto two = itemsOf(
        data::sample(tens(3), {.count = 2, .seed = seed, .weights = weights}));
    EXPECT_NE(two[0], two[1]);
    first += two[0] == 20;
  }
  EXPECT_NEAR(first, 1500, 5 * 19);
  EXPECT_EQ(messageOf([&] {
              data::sample(tens(3), {.count = 3, .weights = weights});
            }),
            "sampler: 3 items without replacement, of which 2 have a weight "
            "above 0");
  EXPECT_EQ(messageOf([&] { data::sample(tens(4), {.weights = weights}); }),
            "sampler: 3 weights for 4 items");
  EXPECT_EQ(messageOf([&] { data::sample(tens(0), {.count = 1}); }),
            "sample: 1 of no items");
  EXPECT_EQ(messageOf([&] { data::sample(tens(1), {.count = -1}); }),
            "sample: a count of -1");
}

//===- Functions ----------------------------------------------------------===//

TEST(Compose, CallsOneFunctionAfterTheOther) {
  auto all = data::compose([](int item) { return item / 10; },
                           [](int item) { return std::to_string(item); },
                           [](const std::string &item) { return item + "!"; });
  EXPECT_EQ(itemsOf(data::map(tens(2), all)),
            (std::vector<std::string>{"0!", "1!"}));
}

TEST(Compose, OfAPairTheFirstIsChanged) {
  auto all = data::compose([](int item) { return item + 0.5; });
  EXPECT_EQ(all(std::pair(1, std::string("one"))),
            (std::pair(1.5, std::string("one"))));
  struct Labeled {
    int image;
    int64_t label;
  };
  EXPECT_EQ(all(Labeled{2, 7}), (std::pair(2.5, int64_t(7))));
  auto sum = data::compose(
      [](std::pair<int, int> item) { return item.first + item.second; });
  EXPECT_EQ(sum(std::pair(1, 2)), 3) << "it takes pairs itself";
}
