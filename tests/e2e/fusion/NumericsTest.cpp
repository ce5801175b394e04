/// SINTER_NUMERICS, or what the thread has set, decides how programs round, and
/// is part of their key.
#include "runtime/support/Flags.h"

#include <sinter/Basic.h>

#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

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

/// What a thread sets is its own, and goes before SINTER_NUMERICS.
TEST_F(NumericsTest, ThreadsChooseModes) {
  EXPECT_EQ(sn::numerics(), sn::Numerics::standard);
  setMode("fast");
  EXPECT_EQ(sn::numerics(), sn::Numerics::fast);
  {
    sn::numerics_scope exact(sn::Numerics::exact);
    EXPECT_EQ(sn::numerics(), sn::Numerics::exact);
    std::thread([] {
      EXPECT_EQ(sn::numerics(), sn::Numerics::fast);
      sn::set_numerics(sn::Numerics::standard);
      EXPECT_EQ(sn::numerics(), sn::Numerics::standard);
    }).join();
    sn::numerics_scope inner(sn::Numerics::standard);
    EXPECT_EQ(sn::numerics(), sn::Numerics::standard);
  }
  EXPECT_EQ(sn::numerics(), sn::Numerics::fast);
  setMode("exact");
  EXPECT_EQ(sn::numerics(), sn::Numerics::exact);
}

/// The mode counts when values are asked for: what is recorded before is
/// evaluated in it, and each mode has a program.
TEST_F(NumericsTest, TheModeIsThatOfTheEvaluation) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the null device does not compile";
  sn::Tensor x = sn::tensor({1 + 0x1p-12F, 1.0F});
  sn::Tensor y = sn::tensor({1 + 0x1p-12F, 1.0F});
  sn::Tensor z = sn::tensor({1 + 0x1p-11F, 1.0F});
  sn::Tensor recorded = x * y - z;
  auto misses = [] { return sn::stats().compiles + sn::stats().disk_hits; };
  uint64_t before = misses();
  {
    sn::numerics_scope exact(sn::Numerics::exact);
    EXPECT_EQ(recorded.to_vector<float>()[0], 0.0F);
  }
  for (sn::Numerics mode : {sn::Numerics::standard, sn::Numerics::fast}) {
    sn::numerics_scope scope(mode);
    float contracted = (x * y - z).to_vector<float>()[0];
    EXPECT_TRUE(contracted == 0x1p-24F || contracted == 0.0F) << contracted;
  }
  EXPECT_EQ(misses(), before + 3);
  sn::numerics_scope fast(sn::Numerics::fast);
  (void)(x * y - z).to_vector<float>();
  EXPECT_EQ(misses(), before + 3);
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
