/// Which plain numbers are constants of programs.
#include "tests/unit/frontend/Counting.h"

#include "frontend/SiteMemory.h"

#include <limits>

namespace sn = sinter;

static sn::Tensor times(const sn::Tensor &x, double factor) {
  return x * factor;
}

TEST(Scalars, AFewNumbersAreStaticUntilTheyChange) {
  auto here = std::source_location::current();
  EXPECT_TRUE(sn::detail::isStaticNumber(here, 0, 0.5));
  EXPECT_TRUE(sn::detail::isStaticNumber(here, 0, 0.5));
  EXPECT_TRUE(sn::detail::isStaticNumber(here, 1, -1));
  EXPECT_TRUE(sn::detail::isStaticNumber(
      here, 2, -std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(sn::detail::isStaticNumber(here, 0, 1.0));
  EXPECT_FALSE(sn::detail::isStaticNumber(here, 0, 0.5)); // for good
  EXPECT_FALSE(sn::detail::isStaticNumber(here, 0, 0.5));
  auto other = std::source_location::current();
  EXPECT_FALSE(sn::detail::isStaticNumber(other, 0, 3.7));
  EXPECT_FALSE(sn::detail::isStaticNumber(other, 0, 1.0));
  EXPECT_FALSE(sn::detail::isStaticNumber(other, 1, -0.0));
}

TEST(Scalars, AChangingNumberCompilesTwice) {
  sn::Tensor x = sn::tensor({1.f, 2.f, 3.f});
  uint64_t before = programsMade();
  for (double factor : {1.0, 0.9, 0.5, 0.0, 7.0, 1.0})
    EXPECT_EQ(times(x, factor).to_vector<float>()[1],
              static_cast<float>(2 * factor));
  EXPECT_LE(programsMade() - before, 2u);
}

TEST(Scalars, ARateThroughScalarCompilesOnce) {
  sn::Tensor x = sn::tensor({1.f, 2.f, 3.f, 4.f});
  uint64_t before = programsMade();
  for (int i = 0; i <= 1000; ++i) {
    double rate = i / 1000.0;
    EXPECT_EQ((x * sn::scalar(rate)).to_vector<float>()[3],
              4 * static_cast<float>(rate));
  }
  EXPECT_EQ(programsMade() - before, 1u);
}

TEST(Scalars, TwoNumbersInOneLineAreTwo) {
  sn::Tensor x = sn::tensor({2.f, 4.f});
  uint64_t before = programsMade();
  for (int i = 0; i < 3; ++i) {
    sn::Tensor y = x * 2.0 + x * 0.5; // a macro would hide the columns
    EXPECT_EQ(y.to_vector<float>()[0], 5.f);
  }
  EXPECT_EQ(programsMade() - before, 1u);
}

TEST(Scalars, IntegersKeepTheirBits) {
  sn::Tensor x = sn::tensor(std::vector<int64_t>{1, 2});
  EXPECT_EQ((x * 1234567890123).to_vector<int64_t>(),
            (std::vector<int64_t>{1234567890123, 2469135780246}));
  EXPECT_EQ((x - 5).to_vector<int64_t>(), (std::vector<int64_t>{-4, -3}));
}
