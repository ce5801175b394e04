/// SINTER_NUMERICS decides how programs round, and is part of their key.
#include "runtime/support/Flags.h"

#include <sinter/sinter.h>

#include <cstdlib>
#include <gtest/gtest.h>

namespace sn = sinter;

namespace {

class NumericsTest : public testing::Test {
protected:
  void TearDown() override { setMode(nullptr); }
  static void setMode(const char *mode) {
    if (mode)
      setenv("SINTER_NUMERICS", mode, 1);
    else
      unsetenv("SINTER_NUMERICS");
    sinter::reloadFlags();
  }
};

} // namespace

/// (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which a rounded product loses.
TEST_F(NumericsTest, ModesHaveProgramsOfTheirOwn) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the null device does not compile";
  sn::Tensor x = sn::tensor({1 + 0x1p-12F});
  sn::Tensor y = sn::tensor({1 + 0x1p-12F});
  sn::Tensor z = sn::tensor({1 + 0x1p-11F});
  auto compute = [&] { return (x * y - z).to_vector<float>()[0]; };
  setMode("exact");
  EXPECT_EQ(compute(), 0.0F);
  uint64_t hits = sn::stats().memory_hits;
  EXPECT_EQ(compute(), 0.0F);
  EXPECT_EQ(sn::stats().memory_hits, hits + 1);
  setMode("default");
  float contracted = compute();
  EXPECT_TRUE(contracted == 0x1p-24F || contracted == 0.0F) << contracted;
  EXPECT_EQ(sn::stats().memory_hits, hits + 1);
  setMode("exact");
  EXPECT_EQ(compute(), 0.0F);
  EXPECT_EQ(sn::stats().memory_hits, hits + 2);
}

TEST_F(NumericsTest, NamesWhatIsNoMode) {
  sn::Tensor x = sn::tensor({1.0F, 2.0F});
  sn::Tensor y = x + x;
  setMode("precise");
  try {
    y.eval();
    FAIL() << "evaluated";
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    EXPECT_NE(
        std::string(error.what())
            .find("SINTER_NUMERICS is exact, default or fast, not 'precise'"),
        std::string::npos)
        << error.what();
  }
  setMode(nullptr);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 4}));
}
