/// Data sets and what is made of them.
#include <sinter/data/Dataset.h>

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace sinter;

namespace {

data::InMemory<int> tens(int count) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i)
    items.push_back(10 * i);
  return data::InMemory(items);
}

template <typename D> std::vector<int> itemsOf(const D &dataset) {
  std::vector<int> items;
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

} // namespace

TEST(Dataset, InMemoryGivesItsItems) {
  EXPECT_EQ(itemsOf(tens(3)), (std::vector<int>{0, 10, 20}));
  EXPECT_EQ(tens(0).size(), 0);
}

TEST(Dataset, CopiesShareTheItems) {
  data::InMemory<std::string> one({"a"});
  data::InMemory<std::string> copy = one;
  EXPECT_EQ(&one.get(0), &copy.get(0));
}

TEST(Dataset, AnItemThatIsNotThereIsAnError) {
  for (int64_t index : {-1, 3, 99})
    EXPECT_EQ(messageOf([&] { tens(3).get(index); }),
              "dataset: there is no item " + std::to_string(index) + " of 3");
  EXPECT_EQ(messageOf([&] { data::subset(tens(3), {0, 1}).get(2); }),
            "dataset: there is no item 2 of 2");
}

TEST(Dataset, MapIsAppliedWhenAnItemIsAskedFor) {
  int calls = 0;
  auto mapped = data::map(tens(4), [&](int item) {
    ++calls;
    return item + 1;
  });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(mapped.get(2), 21);
  EXPECT_EQ(mapped.get(2), 21);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(mapped.size(), 4);
}

TEST(Dataset, MapMayChangeTheType) {
  auto texts =
      data::map(tens(2), [](int item) { return std::to_string(item); });
  static_assert(std::is_same_v<data::ItemOf<decltype(texts)>, std::string>);
  EXPECT_EQ(texts.get(1), "10");
}

TEST(Dataset, SubsetTakesItemsInItsOwnOrder) {
  auto some = data::subset(tens(5), {4, 0, 4});
  EXPECT_EQ(itemsOf(some), (std::vector<int>{40, 0, 40}));
  EXPECT_EQ(some.indices(), (std::vector<int64_t>{4, 0, 4}));
  EXPECT_EQ(messageOf([] { data::subset(tens(5), {5}); }),
            "dataset: there is no item 5 of 5");
}

TEST(Dataset, ShuffleIsAPermutationThatTheSeedDecides) {
  std::vector<int> one = itemsOf(data::shuffle(tens(100), 1));
  EXPECT_EQ(one, itemsOf(data::shuffle(tens(100), 1)));
  EXPECT_NE(one, itemsOf(data::shuffle(tens(100), 2)));
  std::ranges::sort(one);
  EXPECT_EQ(one, itemsOf(tens(100)));
}

TEST(Dataset, SplitTakesTheLastItemsForValidation) {
  auto parts = data::split(tens(5), 0.4);
  EXPECT_EQ(itemsOf(parts.train), (std::vector<int>{0, 10, 20}));
  EXPECT_EQ(itemsOf(parts.valid), (std::vector<int>{30, 40}));
}

TEST(Dataset, SplitWithASeedHasEveryItemOnce) {
  auto parts = data::split(tens(101), 0.25, 7);
  EXPECT_EQ(parts.valid.size(), 25);
  std::vector<int> all = itemsOf(parts.train), valid = itemsOf(parts.valid);
  EXPECT_FALSE(std::ranges::is_sorted(all));
  EXPECT_EQ(valid, itemsOf(data::split(tens(101), 0.25, 7).valid));
  all.insert(all.end(), valid.begin(), valid.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, itemsOf(tens(101)));
}

TEST(Dataset, SplitTakesSharesFromNothingToAll) {
  EXPECT_EQ(data::split(tens(5), 0).valid.size(), 0);
  EXPECT_EQ(data::split(tens(5), 1).train.size(), 0);
  EXPECT_EQ(messageOf([] { data::split(tens(5), 1.5); }),
            "split: a share of 1.5 is not between 0 and 1");
  EXPECT_NE(messageOf([] { data::split(tens(5), -0.1); }), "accepted");
}

TEST(Dataset, SplitEveryTakesTheNth) {
  auto parts = data::split_every(tens(7), 3);
  EXPECT_EQ(itemsOf(parts.valid), (std::vector<int>{20, 50}));
  EXPECT_EQ(itemsOf(parts.train), (std::vector<int>{0, 10, 30, 40, 60}));
  EXPECT_EQ(messageOf([] { data::split_every(tens(7), 0); }),
            "split_every: a step of 0");
}

TEST(Dataset, TheyNest) {
  auto parts = data::split_every(
      data::map(data::shuffle(tens(10), 3), [](int item) { return item / 10; }),
      5);
  EXPECT_EQ(parts.train.size() + parts.valid.size(), 10);
}
