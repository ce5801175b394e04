/// The batcher that a loader has unless it is given another.
#include <sinter/data/Collate.h>

#include <gtest/gtest.h>

#include <array>

using namespace sinter;

namespace {

/// The extents of a tensor.
std::vector<int64_t> sizesOf(const Tensor &tensor) {
  std::vector<int64_t> sizes;
  for (Dim dim : tensor.shape())
    sizes.push_back(dim.value);
  return sizes;
}

} // namespace

TEST(Collate, NumbersBecomeAVector) {
  Tensor batch = data::Collate()(std::vector<int64_t>{4, 5});
  EXPECT_EQ(batch.dtype(), DType::i64);
  EXPECT_EQ(sizesOf(batch), (std::vector<int64_t>{2}));
  EXPECT_EQ(batch.to_vector<int>(), (std::vector<int>{4, 5}));
  EXPECT_EQ(data::Collate()(std::vector<bool>{true}).dtype(), DType::boolean);
}

TEST(Collate, RowsBecomeAMatrix) {
  std::vector<double> a = {1, 2, 3}, b = {4, 5, 6};
  std::vector<std::span<const double>> spans = {a, b};
  Tensor batch = data::Collate()(spans);
  EXPECT_EQ(batch.dtype(), DType::f64);
  EXPECT_EQ(sizesOf(batch), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(batch.to_vector<double>(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  std::vector<std::array<float, 2>> arrays = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(sizesOf(data::Collate()(arrays)), (std::vector<int64_t>{3, 2}));
}

TEST(Collate, PairsAndTuplesBecomeTuplesOfTensors) {
  std::vector<std::pair<std::vector<float>, int64_t>> pairs = {{{1, 2}, 7},
                                                               {{3, 4}, 8}};
  auto [rows, labels] = data::Collate()(pairs);
  EXPECT_EQ(sizesOf(rows), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(labels.to_vector<int>(), (std::vector<int>{7, 8}));
  std::vector<std::tuple<int, float, int>> triples = {{1, 2.f, 3}};
  auto [a, b, c] = data::Collate()(triples);
  EXPECT_EQ(b.dtype(), DType::f32);
  EXPECT_EQ(c.item<int>(), 3);
}

namespace {

/// An item that writes 2 x n numbers itself.
struct Grid {
  using Element = int32_t;
  int64_t n;
  std::array<int64_t, 2> shape() const { return {2, n}; }
  void write(std::span<int32_t> to) const {
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = int32_t(10 * n + int64_t(i));
  }
};

} // namespace

TEST(Collate, ItemsWithAShapeWriteTheirNumbers) {
  std::vector<std::pair<Grid, float>> items = {{{2}, 1.f}, {{2}, 2.f}};
  auto [grids, numbers] = data::Collate()(items);
  EXPECT_EQ(sizesOf(grids), (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(grids.dtype(), DType::i32);
  EXPECT_EQ(grids.to_vector<int>(),
            (std::vector<int>{20, 21, 22, 23, 20, 21, 22, 23}));
  EXPECT_EQ(numbers.to_vector<int>(), (std::vector<int>{1, 2}));
  std::vector<Grid> different = {{2}, {3}};
  try {
    data::Collate()(different);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(),
              "collate: item 1 of the batch is [2,3], the first is [2,2]");
  }
}

TEST(Collate, NoItemsAreAnEmptyTensor) {
  EXPECT_EQ(data::Collate()(std::vector<float>()).numel(), 0);
  EXPECT_EQ(data::Collate()(std::vector<std::vector<float>>()).numel(), 0);
}

TEST(Collate, RowsOfDifferentLengthsAreAnError) {
  std::vector<std::vector<float>> rows = {{1, 2}, {3}};
  try {
    data::Collate()(rows);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "collate: row 1 of the batch has 1 elements, "
                               "the first has 2");
  }
}
