/// What a flush evaluates, replaces, keeps and gives back.
#include "tests/unit/frontend/Counting.h"

#include "frontend/State.h"
#include "runtime/device/Device.h"

#include <sinter/Param.h>

#include <cstring>

namespace sn = sinter;
using Values = std::vector<float>;

static sn::Param makeParam(Values values) {
  return sn::Param(sn::tensor(values), "w");
}

/// One step of gradient descent on sum(w * w), by hand.
static sn::Tensor recordStep(sn::Param &w, double rate) {
  sn::Tensor loss = sn::sum(w * w);
  sn::Gradients grads = loss.backward();
  sn::no_grad guard;
  w.set(w - grads(w) * sn::scalar(rate));
  return loss;
}

TEST(Flush, ReadingTheLossRunsTheStepAsOneProgram) {
  sn::Param w = makeParam({1, 2});
  recordStep(w, 0.25).item<float>(); // warm
  uint64_t before = sn::stats().programs_run;
  sn::Tensor loss = recordStep(w, 0.25);
  EXPECT_EQ(loss.item<float>(), 0.25f + 1.f);
  EXPECT_EQ(sn::stats().programs_run, before + 1);
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0.25f, 0.5f}));
  EXPECT_EQ(sn::stats().programs_run, before + 1);
}

TEST(Flush, ReadingTheParameterFirstIsTheSameProgramSize) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor loss = recordStep(w, 0.5);
  uint64_t before = sn::stats().programs_run;
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0, 0}));
  EXPECT_EQ(sn::stats().programs_run, before + 1);
  EXPECT_EQ(loss.item<float>(), 5.f); // the old parameter's answer
  EXPECT_EQ(sn::stats().programs_run, before + 1);
}

TEST(Flush, PendingReadersSeeTheOldValue) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor twice = w * 2.0;
  recordStep(w, 0.5);
  w.tensor().eval();
  EXPECT_EQ(twice.to_vector<float>(), (Values{2, 4}));
}

TEST(Flush, UnrelatedStateStaysPending) {
  sn::Param a = makeParam({1}), b = makeParam({2});
  {
    sn::no_grad guard;
    a.set(a * sn::scalar(3.0));
    b.set(b * sn::scalar(3.0));
  }
  a.tensor();
  EXPECT_FALSE(a.cell()->pending());
  EXPECT_TRUE(b.cell()->pending());
  EXPECT_EQ(b.tensor().item<float>(), 6.f);
}

TEST(Flush, AnOldValueHeldByTheUserIsNeverOverwritten) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor old = w.tensor();
  uint64_t refused = sn::stats().donations_refused;
  recordStep(w, 0.25).item<float>();
  EXPECT_EQ(sn::stats().donations_refused, refused + 1);
  EXPECT_EQ(old.to_vector<float>(), (Values{1, 2}));
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0.5f, 1}));
}

TEST(Flush, ACopyKeepsTheOldValue) {
  sn::Param w = makeParam({1, 2});
  sn::Param best = w;
  recordStep(w, 0.25).item<float>();
  recordStep(w, 0.25).item<float>();
  EXPECT_EQ(best.tensor().to_vector<float>(), (Values{1, 2}));
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0.25f, 0.5f}));
}

TEST(Flush, ACopyOfAPendingUpdateGetsTheNewValue) {
  sn::Param w = makeParam({1, 2});
  recordStep(w, 0.25);
  sn::Param copy = w;
  recordStep(w, 0.25).item<float>();
  EXPECT_EQ(copy.tensor().to_vector<float>(), (Values{0.5f, 1}));
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0.25f, 0.5f}));
}

TEST(Flush, LazyStateIsInitializedByOneProgram) {
  sn::Param a("a", {2}, sn::init::ones()), b("b", {2}, sn::init::ones());
  sn::Param copy = a;
  uint64_t before = sn::stats().programs_run;
  EXPECT_EQ((a + b).to_vector<float>(), (Values{2, 2}));
  EXPECT_EQ(sn::stats().programs_run, before + 2); // init, add
  EXPECT_EQ(copy.tensor().to_vector<float>(), (Values{1, 1}));
  EXPECT_EQ(sn::stats().programs_run, before + 2);
}

TEST(Flush, ALazyParameterOutlivesItsCell) {
  sn::Tensor y;
  {
    sn::Param w("w", {2}, sn::init::ones());
    y = w * 3.0;
  }
  EXPECT_EQ(y.to_vector<float>(), (Values{3, 3}));
}

/// A step whose gather reads position `position` of w.
static sn::Tensor recordGather(sn::Param &w, int64_t position) {
  sn::Tensor picked =
      sn::gather(w, sn::tensor(std::vector<int64_t>{position}), 0);
  sn::no_grad guard;
  w.set(w + sn::sum(picked) * sn::scalar(1.0));
  return sn::sum(picked);
}

TEST(Flush, AFailedStepLeavesStateAsItWas) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor result = recordGather(w, 7);
  expectError(sn::ErrorKind::invalid_argument, "gather",
              [&] { result.item<float>(); });
  // The same error again: a failed value stays failed.
  expectError(sn::ErrorKind::invalid_argument, "gather",
              [&] { result.item<float>(); });
  expectError(sn::ErrorKind::invalid_argument, "gather",
              [&] { (result * 2.0).item<float>(); });
  EXPECT_FALSE(w.cell()->pending());
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{1, 2}));
  EXPECT_EQ(recordGather(w, 1).item<float>(), 2.f);
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{3, 4}));
}

TEST(Flush, HistoryEndsWithTheStepThatReplacesWhatItRead) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor loss = sn::sum(w * w);
  EXPECT_EQ(loss.item<float>(), 5.f);
  EXPECT_TRUE(loss.backward().contains(w)); // after the read: fine
  recordStep(w, 0.25).item<float>();
  expectError(sn::ErrorKind::invalid_argument, "retain_history",
              [&] { loss.backward(); });
}

/// Evaluated by the flush that replaces what it read, and by way of one operand
/// among others.
TEST(Flush, HistoryEndsWithTheFlushOfItsOwnStep) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor loss = recordStep(w, 0.25);
  EXPECT_EQ(loss.item<float>(), 5.f);
  expectError(sn::ErrorKind::invalid_argument, "retain_history",
              [&] { loss.backward(); });
  sn::Tensor before = sn::sum(w * w + sn::tensor({1.f, 1.f}));
  EXPECT_EQ(before.item<float>(), 3.25f);
  recordStep(w, 0.25).item<float>();
  expectError(sn::ErrorKind::invalid_argument, "retain_history",
              [&] { before.backward(); });
}

/// One that reads a value between, which the step has to itself otherwise.
TEST(Flush, PendingReadersOfValuesBetweenSeeTheOldState) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor other, loss;
  {
    sn::Tensor hidden = w * w;
    other = hidden + sn::tensor({1.f, 1.f});
    loss = sn::sum(hidden);
  }
  sn::Gradients grads = loss.backward();
  {
    sn::no_grad guard;
    w.set(w - grads(w) * sn::scalar(0.25));
  }
  grads = sn::Gradients();
  EXPECT_EQ(loss.item<float>(), 5.f);
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0.5f, 1}));
  EXPECT_EQ(other.to_vector<float>(), (Values{2, 5}));
}

TEST(Flush, RetainedHistorySurvivesTheStep) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor loss = sn::sum(w * w);
  loss.item<float>();
  loss.retain_history();
  uint64_t refused = sn::stats().donations_refused;
  recordStep(w, 0.25).item<float>();
  EXPECT_EQ(sn::stats().donations_refused, refused + 1);
  sn::Gradients grads = loss.backward();
  EXPECT_EQ(grads(w).to_vector<float>(), (Values{2, 4}));
}

/// State that the kept history reads is not overwritten by the flush that
/// evaluates it.
TEST(Flush, RetainedHistorySurvivesAFlushWithItsOwnStep) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor hidden = w * w;
  sn::Tensor loss = sn::sum(hidden);
  loss.retain_history();
  sn::Gradients step = loss.backward();
  {
    sn::no_grad guard;
    w.set(w - step(w) * sn::scalar(0.25));
  }
  EXPECT_EQ(loss.item<float>(), 5.f);
  EXPECT_EQ(w.tensor().to_vector<float>(), (Values{0.5f, 1}));
  EXPECT_EQ(loss.backward()(w).to_vector<float>(), (Values{2, 4}));
  EXPECT_EQ(hidden.to_vector<float>(), (Values{1, 4}));
}

/// Values between that are held, too, keep theirs as long.
TEST(Flush, RetainedHistoryGoesThroughHeldValues) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor hidden = w * w;
  hidden.eval();
  sn::Tensor loss = sn::sum(hidden);
  loss.item<float>();
  loss.retain_history();
  recordStep(w, 0.25).item<float>();
  EXPECT_EQ(loss.backward()(w).to_vector<float>(), (Values{2, 4}));
  recordStep(w, 0.25).item<float>();
  EXPECT_EQ(sn::sum(hidden).backward()(w).to_vector<float>(), (Values{2, 4}));
}

TEST(Flush, BackwardAfterReadingIsCountedAsRecomputed) {
  sn::Param w = makeParam({1, 2});
  sn::Tensor hidden = sn::exp(w * w);
  sn::Tensor loss = sn::sum(hidden);
  loss.item<float>();
  uint64_t before = sn::stats().recomputed;
  loss.backward();
  EXPECT_GT(sn::stats().recomputed, before);
}

TEST(Flush, ADeepGraphIsReleasedWithoutRecursion) {
  sn::Tensor x = sn::tensor({1.f});
  for (int i = 0; i < 20000; ++i)
    x = sn::neg(x);
  x = sn::Tensor();
}

TEST(Flush, EvalOfSeveralIsOneProgram) {
  sn::Tensor x = sn::tensor({1.f, 2.f});
  sn::Tensor a = x + x, b = x * x;
  uint64_t before = sn::stats().programs_run;
  sn::eval({a, b});
  EXPECT_EQ(sn::stats().programs_run, before + 1);
  EXPECT_EQ(a.to_vector<float>(), (Values{2, 4}));
  EXPECT_EQ(b.to_vector<float>(), (Values{1, 4}));
  EXPECT_EQ(sn::stats().programs_run, before + 1);
}

TEST(Flush, FlushesAndMissesNameTheirLines) {
  sn::reset_stats();
  sn::Tensor x = sn::tensor({1.f, 2.f, 3.f, 4.f, 5.f});
  sn::sum(x + x * x).item<float>();
  sn::Stats stats = sn::stats();
  ASSERT_EQ(stats.flushes.size(), 1u);
  EXPECT_EQ(stats.flushes[0].reason, "read");
  EXPECT_NE(stats.flushes[0].site.find("FlushTest.cpp"), std::string::npos);
  ASSERT_EQ(stats.misses.size(), 1u);
  EXPECT_EQ(stats.misses[0].flush, stats.flushes[0].site);
}

TEST(Flush, DonationReusesMemory) {
  sn::Param w("w", {4096}, sn::init::ones());
  for (int i = 0; i < 3; ++i)
    recordStep(w, 0.25).item<float>();
  uint64_t refused = sn::stats().donations_refused;
  for (int i = 0; i < 3; ++i)
    recordStep(w, 0.25).item<float>();
  EXPECT_EQ(sn::stats().donations_refused, refused);
}

TEST(Flush, OnlyNoPositionsReadAnEmptyTable) {
  sn::Tensor table = sn::tensor(Values{});
  auto lookUp = [](const sn::Tensor &from, std::vector<int64_t> positions) {
    sn::Tensor leaf = sn::tensor(positions);
    leaf.dynamic(0);
    return sn::gather(from, leaf, 0).to_vector<float>();
  };
  EXPECT_EQ(lookUp(table, {}), Values());
  expectError(sn::ErrorKind::invalid_argument,
              "gather: axis 0 is empty: f32[0] x i64[2]",
              [&] { lookUp(table, {0, 0}); });
  EXPECT_EQ(lookUp(table, {}), Values());
  EXPECT_EQ(lookUp(sn::tensor(Values{5, 6}), {1, 0, 1}), (Values{6, 5, 6}));
}
