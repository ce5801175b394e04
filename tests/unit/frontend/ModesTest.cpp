/// SINTER_EAGER and SINTER_CHECK_NAN: the same numbers, found out earlier.
#include "tests/unit/frontend/Counting.h"

#include "runtime/support/Flags.h"

#include <sinter/Param.h>

namespace sn = sinter;
using Values = std::vector<float>;

TEST(Modes, TrainingGivesTheSameNumbers) {
  sn::Param w(sn::tensor({1.f, 2.f}), "w");
  for (int step = 0; step < 3; ++step) {
    sn::Tensor loss = sn::sum(w * w);
    sn::Gradients grads = loss.backward();
    sn::no_grad guard;
    w.set(w - grads(w) * sn::scalar(0.25));
    EXPECT_EQ(loss.item<float>(), step == 0 ? 5.f : step == 1 ? 1.25f : .3125f);
  }
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0.125f, 0.25f}));
}

TEST(Modes, LazyParametersWork) {
  sn::Param w("w", {3}, sn::init::ones());
  EXPECT_EQ((w + 1.0).to_vector<float>(), (Values{2, 2, 2}));
}

TEST(Modes, EagerEvaluatesWhenRecorded) {
  if (!sinter::flags().eager)
    GTEST_SKIP() << "not in this mode";
  uint64_t before = sn::stats().programs_run;
  sn::Tensor x = sn::tensor({1.f}) + sn::tensor({2.f});
  EXPECT_EQ(sn::stats().programs_run, before + 1);
  EXPECT_NE(x.explain().find("reason: eval"), std::string::npos);
}

TEST(Modes, TheFirstOpWithoutANumberIsNamed) {
  if (!sinter::flags().checkNan)
    GTEST_SKIP() << "not in this mode";
  sn::Tensor x = sn::tensor({1.f, -1.f});
  sn::Tensor bad = sn::log(x);
  sn::Tensor later = sn::exp(bad + x);
  expectError(sn::ErrorKind::invalid_argument, "log: result holds a NaN",
              [&] { later.eval(); });
  EXPECT_EQ((x + x).to_vector<float>(), (Values{2, -2}));
}

TEST(Modes, LoopsWork) {
  sn::Tensor w = sn::tensor({2.f, 3.f}).require_grad();
  auto [carries, ys] = sn::scan(
      [&](auto c, auto x) {
        sn::Tensor next = c[0] * w + x[0];
        return sn::ScanStep{{next}, {next}};
      },
      {sn::tensor({1.f, 1.f})}, {sn::tensor({{1.f, 0.f}, {0.f, 1.f}})});
  EXPECT_EQ(ys[0].to_vector<float>(), (Values{3, 3, 6, 10}));
  // (w + 1) w and w w + 1.
  EXPECT_EQ(sn::sum(carries[0]).backward()(w).to_vector<float>(),
            (Values{5, 6}));
}

TEST(Modes, ALoopWithoutANumberIsNamed) {
  if (!sinter::flags().checkNan)
    GTEST_SKIP() << "not in this mode";
  sn::Tensor last =
      sn::scan([](auto c, auto) { return sn::ScanStep{{sn::log(c[0])}, {}}; },
               {sn::tensor({1.f})}, {}, {.length = 2})
          .carries[0];
  expectError(sn::ErrorKind::invalid_argument,
              "scan_last: result holds a NaN or an infinity",
              [&] { last.eval(); });
}
