/// sort, argsort and topk as a user calls them.
#include "tests/unit/frontend/Counting.h"

#include <cmath>
#include <limits>

namespace sn = sinter;
using Values = std::vector<float>;
using Positions = std::vector<int64_t>;

TEST(Sort, GivesValuesAndPositions) {
  sn::Tensor x = sn::tensor({3.f, 1.f, 2.f, 1.f, 5.f, 5.f}).reshape({2, 3});
  auto [values, indices] = x.sort();
  EXPECT_EQ(values.to_vector<float>(), (Values{1, 2, 3, 1, 5, 5}));
  EXPECT_EQ(indices.to_vector<int64_t>(), (Positions{1, 2, 0, 0, 1, 2}));
  auto down = sn::sort(x, 0, /*descending=*/true);
  EXPECT_EQ(down.values.to_vector<float>(), (Values{3, 5, 5, 1, 1, 2}));
  EXPECT_EQ(down.indices.to_vector<int64_t>(), (Positions{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(x.argsort(1, true).to_vector<int64_t>(),
            (Positions{0, 2, 1, 1, 2, 0}));
}

TEST(Sort, TopOfAnAxis) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  sn::Tensor x = sn::tensor({1.f, nan, 4.f, 4.f, 0.f});
  auto [values, indices] = x.topk(3);
  EXPECT_TRUE(std::isnan(values.to_vector<float>()[0]));
  EXPECT_EQ(indices.to_vector<int64_t>(), (Positions{1, 2, 3}));
  auto least = sn::topk(x, 2, 0, /*largest=*/false);
  EXPECT_EQ(least.values.to_vector<float>(), (Values{0, 1}));
  EXPECT_EQ(least.indices.to_vector<int64_t>(), (Positions{4, 0}));
  EXPECT_TRUE(x.topk(0).values.to_vector<float>().empty());
}

TEST(Sort, Numbers) {
  auto [values, indices] = sn::sort(sn::tensor({2.f}).reshape({}));
  EXPECT_EQ(values.rank(), 0);
  EXPECT_EQ(values.item<float>(), 2);
  EXPECT_EQ(indices.item<int64_t>(), 0);
  auto top = sn::topk(sn::tensor({2.f}).reshape({}), 1);
  EXPECT_EQ(top.values.rank(), 0);
}

TEST(Sort, RefusesWhatIsNotThere) {
  sn::Tensor x = sn::zeros({2, 3});
  expectError(sn::ErrorKind::invalid_argument,
              "topk: k is 4, but the axis has 3 elements", [&] { x.topk(4); });
  expectError(sn::ErrorKind::invalid_argument, "topk: k is -1",
              [&] { x.topk(-1, 0); });
  expectError(sn::ErrorKind::invalid_argument, "sort: axis 2 is out of range",
              [&] { x.sort(2); });
  expectError(sn::ErrorKind::invalid_argument, "argsort: axis -3",
              [&] { x.argsort(-3); });
}

TEST(Sort, GradientsGoToTheElements) {
  sn::Tensor x = sn::tensor({3.f, 1.f, 2.f, 9.f}).require_grad();
  sn::Tensor weights = sn::tensor({10.f, 20.f});
  auto grads = sn::sum(x.topk(2).values * weights).backward();
  EXPECT_EQ(grads(x).to_vector<float>(), (Values{20, 0, 0, 10}));
  auto all =
      sn::sum(x.sort().values * sn::tensor({1.f, 2.f, 3.f, 4.f})).backward();
  EXPECT_EQ(all(x).to_vector<float>(), (Values{3, 1, 2, 4}));
}
