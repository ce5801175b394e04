/// squeeze, unsqueeze, flip and the ops that pick rows, as users call them.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

using namespace sinter;

static Tensor counted(const Dims &shape) {
  int64_t count = 1;
  for (Dim dim : shape)
    count *= dim.value;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float(i));
  return tensor(values, shape);
}

static std::vector<int64_t> sizes(const Tensor &x) {
  std::vector<int64_t> result;
  for (Dim dim : x.shape())
    result.push_back(dim.value);
  return result;
}

using Sizes = std::vector<int64_t>;
using Floats = std::vector<float>;

TEST(Layout, SqueezeTakesWhatHasSizeOne) {
  Tensor x = counted({1, 3, 1, 2});
  EXPECT_EQ(sizes(x.squeeze()), (Sizes{3, 2}));
  EXPECT_EQ(sizes(x.squeeze(0)), (Sizes{3, 1, 2}));
  EXPECT_EQ(sizes(x.squeeze(-2)), (Sizes{1, 3, 2}));
  EXPECT_EQ(sizes(x.squeeze(1)), (Sizes{1, 3, 1, 2}));
  EXPECT_EQ(sizes(squeeze(x, {0, 1, 2})), (Sizes{3, 2}));
  EXPECT_EQ(x.squeeze().to_vector<float>(), x.to_vector<float>());
}

TEST(Layout, SqueezeNamesAxesOutOfRange) {
  try {
    counted({1, 3}).squeeze(2);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.op(), "squeeze");
    EXPECT_NE(error.site().find("LayoutTest.cpp"), std::string::npos);
  }
}

TEST(Layout, UnsqueezeCountsInTheResult) {
  Tensor x = counted({2, 3});
  EXPECT_EQ(sizes(x.unsqueeze(0)), (Sizes{1, 2, 3}));
  EXPECT_EQ(sizes(x.unsqueeze(2)), (Sizes{2, 3, 1}));
  EXPECT_EQ(sizes(x.unsqueeze(-1)), (Sizes{2, 3, 1}));
  EXPECT_EQ(sizes(x.unsqueeze(-3)), (Sizes{1, 2, 3}));
  EXPECT_THROW(x.unsqueeze(3), Error);
  EXPECT_THROW(x.unsqueeze(-4), Error);
}

TEST(Layout, FlipReverses) {
  Tensor x = counted({2, 3});
  EXPECT_EQ(flip(x, 1).to_vector<float>(), (Floats{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(flip(x, {0, -1}).to_vector<float>(), (Floats{5, 4, 3, 2, 1, 0}));
}

TEST(Layout, EmbeddingPicksRows) {
  Tensor table = counted({4, 2}).require_grad();
  Tensor indices = tensor(std::vector<int64_t>{3, 0, 3, 1}, {2, 2});
  Tensor rows = embedding(table, indices);
  EXPECT_EQ(sizes(rows), (Sizes{2, 2, 2}));
  EXPECT_EQ(rows.to_vector<float>(), (Floats{6, 7, 0, 1, 6, 7, 2, 3}));
  Gradients grads = sum(rows).backward();
  EXPECT_EQ(grads(table).to_vector<float>(), (Floats{1, 1, 1, 1, 0, 0, 2, 2}));
}

TEST(Layout, PositionsOutOfRangeAreErrorsAtTheirLine) {
  Tensor picked =
      index_select(counted({3}), tensor(std::vector<int64_t>{3}), 0);
  try {
    picked.eval();
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(error.site().find("LayoutTest.cpp"), std::string::npos);
  }
}

TEST(Dropout, KeepsAndScales) {
  Tensor x = full({1000}, 3.0);
  Generator generator(5), same(5);
  Tensor y = dropout(x, 0.25, generator);
  int kept = 0;
  for (float value : y.to_vector<float>()) {
    EXPECT_TRUE(value == 0 || value == 4) << value;
    kept += value != 0;
  }
  EXPECT_NEAR(kept, 750, 60);
  EXPECT_EQ(dropout(x, 0.25, same).to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(generator.counter(), 250u);
  EXPECT_NE(dropout(x, 0.25, generator).to_vector<float>(),
            y.to_vector<float>());
}

TEST(Dropout, OfNothingAndOfAll) {
  Tensor x = counted({100});
  EXPECT_EQ(dropout(x, 0).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(dropout(x, 1).to_vector<float>(), Floats(100, 0.0f));
  EXPECT_THROW(dropout(x, 1.5), Error);
}

TEST(Dropout, GradientKeepsTheSameElements) {
  Tensor x = full({64}, 1.0).require_grad();
  Tensor y = dropout(x, 0.5);
  Gradients grads = sum(y).backward();
  EXPECT_EQ(grads(x).to_vector<float>(), y.to_vector<float>());
}
