/// searchsorted and histc as a user calls them.
#include "tests/unit/frontend/Counting.h"

namespace sn = sinter;
using Positions = std::vector<int64_t>;

TEST(Search, CountsWhatComesBefore) {
  sn::Tensor sorted = sn::tensor({1.f, 2.f, 2.f, 5.f, 9.f});
  sn::Tensor values = sn::tensor({{0.f, 1.f, 2.f}, {3.f, 9.f, 10.f}});
  EXPECT_EQ(sn::searchsorted(sorted, values).to_vector<int64_t>(),
            (Positions{0, 0, 1, 3, 4, 5}));
  EXPECT_EQ(sn::searchsorted(sorted, values, true).to_vector<int64_t>(),
            (Positions{0, 1, 3, 3, 5, 5}));
  for (int64_t length : {0, 1, 2, 3, 4, 7, 8, 9}) {
    sn::Tensor numbers = sn::arange(length);
    Positions found =
        sn::searchsorted(numbers, sn::arange(length + 1)).to_vector<int64_t>();
    for (int64_t i = 0; i <= length; ++i)
      EXPECT_EQ(found[size_t(i)], i) << length;
  }
}

TEST(Search, RowsOfTheirOwn) {
  sn::Tensor sorted = sn::tensor({{1, 3, 5}, {2, 4, 6}});
  sn::Tensor values = sn::tensor({{3, 6}, {3, 6}});
  EXPECT_EQ(sn::searchsorted(sorted, values).to_vector<int64_t>(),
            (Positions{1, 3, 1, 2}));
  expectError(sn::ErrorKind::invalid_argument, "searchsorted: the sequence",
              [&] { sn::searchsorted(sorted, sn::arange(3)); });
}

TEST(Search, Histogram) {
  sn::Tensor x = sn::tensor({-1.f, 0.f, 0.5f, 1.f, 2.5f, 4.f, 4.5f});
  EXPECT_EQ(sn::histc(x, 4, 0, 4).to_vector<float>(),
            (std::vector<float>{2, 1, 1, 1}));
  expectError(sn::ErrorKind::invalid_argument, "histc: 0 bins",
              [&] { sn::histc(x, 0, 0, 1); });
}
