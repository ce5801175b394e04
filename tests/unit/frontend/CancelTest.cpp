/// Work that another thread stops: the call ends in Cancelled, state is as it
/// was, and the next step works.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace sn = sinter;

namespace {

/// Cancels the token after a time.
class CancelsLater {
public:
  CancelsLater(const sn::CancelToken &token, std::chrono::microseconds delay)
      : thread([token, delay] {
          std::this_thread::sleep_for(delay);
          token.cancel();
        }) {}
  ~CancelsLater() { thread.join(); }

private:
  std::thread thread;
};

/// A loop of many kernels, each as fast as the next.
sn::Tensor longLoop(int64_t steps) {
  auto body = [](std::span<const sn::Tensor> carries,
                 std::span<const sn::Tensor>) {
    sn::Tensor next = carries[0] * 1.0001f + 0.5f;
    return sn::ScanStep{{next}, {}};
  };
  std::vector<sn::Tensor> init{sn::full({1000}, 1.0f)};
  return sn::scan(body, init, {}, {.length = sn::Dim(steps)}).carries[0];
}

} // namespace

TEST(Cancel, BeforeTheWork) {
  sn::CancelToken token;
  sn::Tensor x = sn::full({4}, 2.0f) + 1;
  token.cancel();
  EXPECT_TRUE(token.is_cancelled());
  {
    sn::cancel_scope scope(token);
    try {
      x.eval();
      FAIL() << "no error";
    } catch (const sn::Cancelled &error) {
      EXPECT_EQ(error.kind(), sn::ErrorKind::cancelled);
      EXPECT_EQ(error.op(), "cancel");
      EXPECT_NE(error.site().find("CancelTest.cpp"), std::string::npos);
    }
  }
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(4, 3));
}

TEST(Cancel, AgainAfterReset) {
  sn::CancelToken token, copy = token;
  sn::cancel_scope scope(token);
  copy.cancel();
  sn::Tensor x = sn::full({4}, 2.0f) * 2;
  EXPECT_THROW(x.eval(), sn::Cancelled);
  token.reset();
  EXPECT_FALSE(copy.is_cancelled());
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(4, 4));
}

TEST(Cancel, TheInnermostScopeCounts) {
  sn::CancelToken outer, inner;
  outer.cancel();
  sn::cancel_scope outerScope(outer);
  sn::Tensor x = sn::full({4}, 2.0f) * 3;
  {
    sn::cancel_scope innerScope(inner);
    EXPECT_EQ(x.to_vector<float>(), std::vector<float>(4, 6));
  }
  EXPECT_THROW((x + 1).eval(), sn::Cancelled);
}

TEST(Cancel, OtherThreadsGoOn) {
  sn::CancelToken token;
  token.cancel();
  sn::cancel_scope scope(token);
  std::vector<float> values;
  std::thread other(
      [&] { values = (sn::full({4}, 2.0f) * 5).to_vector<float>(); });
  other.join();
  EXPECT_EQ(values, std::vector<float>(4, 10));
}

TEST(Cancel, ARunningProgram) {
  constexpr int64_t steps = 4'000'000;
  sn::CancelToken token;
  auto begin = std::chrono::steady_clock::now();
  {
    sn::cancel_scope scope(token);
    sn::Tensor x = longLoop(steps);
    CancelsLater watch(token, std::chrono::milliseconds(300));
    EXPECT_THROW(x.eval(), sn::Cancelled);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(longLoop(1).to_vector<float>()[0], 1 * 1.0001f + 0.5f);
}

TEST(Cancel, StateKeepsItsValue) {
  sn::Param weight(sn::full({64}, 0.0f), "w");
  sn::optim::Sgd sgd({.lr = 0.5});
  auto step = [&] {
    sn::Tensor error = weight.tensor() - 1.0f;
    sgd.step(weight, (sn::sum(error * error) * 0.5f).backward());
    weight.tensor().eval();
  };
  step();
  sn::CancelToken token;
  token.cancel();
  {
    sn::cancel_scope scope(token);
    EXPECT_THROW(step(), sn::Cancelled);
  }
  // Nothing of it was begun: the step is still recorded.
  EXPECT_EQ(weight.tensor().to_vector<float>()[0], 0.75f);
  step();
  EXPECT_EQ(weight.tensor().to_vector<float>()[0], 0.875f);
}

/// Compilations, stopped at moments that come later and later.
TEST(Cancel, ACompilation) {
  if (sn::default_device().kind == sn::DeviceKind::null)
    GTEST_SKIP() << "nothing is compiled";
  int stopped = 0;
  uint64_t before = sn::stats().compiles;
  for (int i = 0; i < 12; ++i) {
    sn::Tensor x = sn::iota({100, 3}, 0, {sn::DType::f32});
    for (int chain = 0; chain <= i; ++chain)
      x = sn::sqrt(x + 1.0f);
    sn::Tensor y = sn::softmax(sn::matmul(x, sn::full({3, 7}, 0.25f)), 1);
    sn::CancelToken token;
    {
      sn::cancel_scope scope(token);
      CancelsLater watch(token, std::chrono::milliseconds(1 << (i / 2)));
      try {
        y.eval();
      } catch (const sn::Cancelled &) {
        ++stopped;
      }
    }
    EXPECT_NEAR(y.to_vector<float>()[0], 1.0f / 7, 1e-6);
  }
  // What is in the cache already is not compiled.
  if (sn::stats().compiles - before >= 10) {
    EXPECT_GT(stopped, 0);
  }
}
