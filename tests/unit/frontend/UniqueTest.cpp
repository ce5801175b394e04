/// unique: different elements, and where they stand.
#include "tests/unit/frontend/Counting.h"
#include "tests/unit/frontend/Sizes.h"

#include <cmath>

namespace sn = sinter;
using Values = std::vector<float>;

using Positions = std::vector<int64_t>;

TEST(Unique, ElementsInOrder) {
  sn::Tensor x = sn::tensor<float>({{2, 1, 1}, {3, 4, 3}});
  sn::UniqueElements found = sn::unique(x);
  EXPECT_EQ(found.values.to_vector<float>(), (Values{1, 2, 3, 4}));
  EXPECT_EQ(found.indices.to_vector<int64_t>(), (Positions{1, 0, 3, 4}));
  EXPECT_EQ(sizesOf(found.inverse), (Sizes{2, 3}));
  EXPECT_EQ(found.inverse.to_vector<int64_t>(), (Positions{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(found.counts.to_vector<int64_t>(), (Positions{2, 1, 2, 1}));
}

TEST(Unique, ElementsAsTheyAreMet) {
  sn::Tensor x = sn::tensor<int32_t>({2, 1, 1, 3, 4, 3});
  sn::UniqueElements found = sn::unique(x, {}, /*sorted=*/false);
  EXPECT_EQ(found.values.to_vector<int32_t>(),
            (std::vector<int32_t>{2, 1, 3, 4}));
  EXPECT_EQ(found.indices.to_vector<int64_t>(), (Positions{0, 1, 3, 4}));
  EXPECT_EQ(found.inverse.to_vector<int64_t>(), (Positions{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(found.counts.to_vector<int64_t>(), (Positions{1, 2, 2, 1}));
}

TEST(Unique, SlicesAlongAnAxis) {
  sn::Tensor x = sn::tensor<float>({{1, 0, 0}, {1, 0, 0}, {0, 5, 4}});
  sn::UniqueElements rows = sn::unique(x, 0);
  EXPECT_EQ(rows.values.to_vector<float>(), (Values{0, 5, 4, 1, 0, 0}));
  EXPECT_EQ(rows.inverse.to_vector<int64_t>(), (Positions{1, 1, 0}));
  sn::UniqueElements columns = sn::unique(x * 2, -1);
  EXPECT_EQ(sizesOf(columns.values), (Sizes{3, 3}));
  EXPECT_EQ(columns.values.to_vector<float>(),
            (Values{0, 0, 2, 0, 0, 2, 8, 10, 0}));
}

TEST(Unique, OfComputedElementsWithAGradient) {
  sn::Tensor x = sn::tensor({3.F, -1.F, 3.F});
  x.require_grad();
  sn::UniqueElements found = sn::unique(x + 1);
  EXPECT_EQ(found.values.to_vector<float>(), (Values{0, 4}));
  sn::Tensor gradient = sn::sum(found.values * 2).backward()(x);
  EXPECT_EQ(gradient.to_vector<float>(), (Values{2, 2, 0}));
}

TEST(Unique, OfFewElements) {
  EXPECT_EQ(sn::unique(sn::zeros({0})).values.numel(), 0);
  EXPECT_EQ(sn::unique(sn::full({}, 7.F)).counts.to_vector<int64_t>(),
            (Positions{1}));
  EXPECT_EQ(sn::unique(sn::zeros({3, 0}), 0).counts.to_vector<int64_t>(),
            (Positions{3}));
  sn::Tensor flags = sn::tensor<int32_t>({1, 0, 1}) != 0;
  EXPECT_EQ(sn::unique(flags).counts.to_vector<int64_t>(), (Positions{1, 2}));
  EXPECT_EQ(sn::unique(sn::tensor({NAN, NAN})).values.numel(), 2);
}

TEST(Unique, RefusesAnAxisThatIsNone) {
  expectError(sn::ErrorKind::invalid_argument,
              "unique: axis 2 is out of range: f32[3]",
              [] { sn::unique(sn::ones({3}), 2); });
}
