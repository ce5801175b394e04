/// Plans of steps beside what steps take, and budgets of devices.
#include "tests/unit/frontend/Counting.h"
#include "tests/unit/train/Models.h"

#include <sinter/MemoryBudget.h>

#include <gtest/gtest.h>

using namespace train_test;
namespace sn = sinter;

namespace {

struct Network {
  explicit Network(int64_t width)
      : fc1(64, width), fc2(width, width), fc3(width, 10) {}

  sn::nn::Linear fc1, fc2, fc3;
  sn::nn::Dropout dropout{0.5};

  sn::Tensor forward(const sn::Tensor &x) const {
    return fc3(dropout(sn::relu(fc2(sn::relu(fc1(x))))));
  }
  SINTER_MODULE(Network, fc1, fc2, fc3, dropout)
};

/// One step of the loop that is planned, and of the one that runs.
template <typename Optimizer>
sn::Tensor step(Network &model, Optimizer &optimizer, const sn::Tensor &x,
                const sn::Tensor &y) {
  sn::Tensor loss = sn::cross_entropy(model(x), y);
  optimizer.step(model, loss.backward());
  return loss;
}

template <typename Optimizer>
sn::StepMemory planOf(Network &model, Optimizer &optimizer, int64_t batch) {
  return sn::plan_step([&] {
    sn::Tensor x = sn::stand_in({batch, 64});
    sn::Tensor y = sn::stand_in({batch}, {.dtype = sn::DType::i64});
    return step(model, optimizer, x.dynamic(0), y.dynamic(0));
  });
}

/// Of an open size, as a loader's batches are.
std::pair<sn::Tensor, sn::Tensor> batchOfSize(int64_t batch) {
  std::vector<float> x(static_cast<size_t>(batch * 64), 0.5f);
  std::vector<int64_t> y(static_cast<size_t>(batch), 3);
  sn::Tensor images = sn::tensor(x, {batch, 64}),
             labels = sn::tensor(y, {batch});
  return {images.dynamic(0), labels.dynamic(0)};
}

/// Sizes of tensors as they are given out are these or up to an eighth more.
void expectNear(uint64_t measured, uint64_t planned, const char *what = "") {
  EXPECT_GE(measured + measured / 8, planned) << what;
  EXPECT_LE(measured, planned + planned / 8) << what;
}

template <typename Optimizer> void expectPlanned(int64_t width, int64_t batch) {
  Network model(width);
  Optimizer optimizer;
  uint64_t before = sn::memory().in_use;
  sn::StepMemory plan = planOf(model, optimizer, batch);
  EXPECT_EQ(sn::memory().in_use, before) << "planning takes nothing";
  EXPECT_EQ(plan.present, 0u);
  EXPECT_EQ(plan.to_allocate(), plan.peak());
  for (int i = 0; i < 3; ++i) {
    auto [x, y] = batchOfSize(batch);
    step(model, optimizer, x, y).eval();
  }
  auto [x, y] = batchOfSize(batch);
  uint64_t resting = sn::memory().in_use - before;
  SCOPED_TRACE(sn::to_string(plan));
  expectNear(resting, plan.parameters + plan.state + plan.batch, "at rest");
  sn::reset_peak();
  step(model, optimizer, x, y).eval();
  expectNear(sn::memory().peak - before - resting,
             plan.results + plan.temporaries, "in a step");
  expectNear(sn::memory().peak - before, plan.peak(), "at the peak");
}

TEST(MemoryBudgetTest, theMeasuredPeakIsThePlannedOne) {
  expectPlanned<sn::optim::Sgd>(64, 32);
  expectPlanned<sn::optim::Adam>(256, 16);
  expectPlanned<sn::optim::Adam>(128, 512);
}

TEST(MemoryBudgetTest, partsOfAStepAreCounted) {
  Network model(256);
  sn::optim::Adam adam;
  sn::StepMemory plan = planOf(model, adam, 128);
  uint64_t parameters = 4 * static_cast<uint64_t>(model.num_params());
  expectNear(plan.parameters, parameters);
  expectNear(plan.state, 2 * parameters);
  expectNear(plan.batch, 128 * 64 * 4 + 128 * 8);
  // Weights and moments are written over the old ones.
  EXPECT_LE(plan.results, 1024u);
  // A hidden layer's values at least.
  EXPECT_GE(plan.temporaries, 128u * 256 * 4);
  EXPECT_NE(sn::to_string(plan).find("of temporaries"), std::string::npos);
}

TEST(MemoryBudgetTest, planningChangesNothingAndRunsNothing) {
  sn::manual_seed(5);
  Network model(64);
  sn::optim::Adam adam;
  auto [x, y] = batchOfSize(8);
  step(model, adam, x, y).eval();
  auto weights = model.fc1.weight.tensor().to_vector<float>();
  sn::reset_stats();
  sn::StepMemory plan = planOf(model, adam, 8);
  EXPECT_EQ(sn::stats().programs_run, 0u);
  EXPECT_EQ(sn::stats().launches, 0u);
  EXPECT_EQ(model.fc1.weight.tensor().to_vector<float>(), weights);
  EXPECT_GE(plan.present, plan.parameters + plan.state);
  // The next step is what it would have been without it.
  float loss = step(model, adam, x, y).item<float>();
  sn::manual_seed(5);
  Network other(64);
  sn::optim::Adam own;
  step(other, own, x, y).eval();
  EXPECT_EQ(step(other, own, x, y).item<float>(), loss);
}

TEST(MemoryBudgetTest, aPlannedStepRunsTheProgramThatWasPlanned) {
  Network model(48);
  sn::optim::Sgd sgd;
  auto [x, y] = batchOfSize(24);
  sn::eval({model.fc1.weight.tensor(), model.fc1.bias.tensor(),
            model.fc2.weight.tensor(), model.fc2.bias.tensor(),
            model.fc3.weight.tensor(), model.fc3.bias.tensor()});
  planOf(model, sgd, 24);
  sn::reset_stats();
  step(model, sgd, x, y).eval();
  EXPECT_EQ(programsMade(), 0u) << reasonsText();
}

TEST(MemoryBudgetTest, stepsThatReadOrEvaluateNothingAreErrors) {
  Network model(16);
  auto x = [] { return sn::stand_in({4, 64}); };
  EXPECT_THROW(sn::plan_step([&] { return sn::sum(model(x())).item<float>(); }),
               sn::Error);
  EXPECT_THROW(sn::plan_step([] {}), sn::Error);
  EXPECT_THROW(sn::stand_in({-1}), sn::Error);
  // The thread records as before.
  EXPECT_EQ(sn::sum(sn::ones({3})).item<float>(), 3);
}

TEST(MemoryBudgetTest, aStandInHasNoValue) {
  sn::Tensor x = sn::stand_in({4, 64});
  EXPECT_EQ(x.dim(0).value, 4);
  EXPECT_THROW(sn::sum(x).item<float>(), sn::Error);
  EXPECT_THROW(x.to_vector<float>(), sn::Error);
}

//===- Budgets ------------------------------------------------------------===//

TEST(MemoryBudgetTest, aDeviceSaysWhatIsLeft) {
  sn::MemoryBudget budget = sn::MemoryBudget::detect("cpu");
  EXPECT_EQ(budget.reserve, 500'000'000u);
  EXPECT_GT(budget.total, 0u);
  EXPECT_EQ(budget.in_use + budget.free, budget.total);
  EXPECT_LE(budget.safe() + budget.reserve,
            std::max(budget.free, budget.reserve));
  EXPECT_NE(sn::to_string(budget).find("cpu: "), std::string::npos);
  EXPECT_EQ(sn::MemoryBudget::detect("cpu", 1).reserve, 1u);
  EXPECT_THROW(sn::MemoryBudget::detect("cuda:99"), sn::Error);
}

TEST(MemoryBudgetTest, theReserveAndTheLimitAreKept) {
  sn::MemoryBudget budget;
  budget.total = 16'000'000'000;
  budget.in_use = 950'000'000;
  budget.free = budget.total - budget.in_use;
  budget.limit = UINT64_MAX;
  EXPECT_EQ(budget.safe(), 16'000'000'000u - 950'000'000u - 500'000'000u);
  budget.reserve = budget.free + 1;
  EXPECT_EQ(budget.safe(), 0u);
  budget.reserve = 0;
  budget.limit = 7;
  EXPECT_EQ(budget.safe(), 7u);
}

/// A budget of that many bytes.
sn::MemoryBudget budgetOf(uint64_t bytes) {
  sn::MemoryBudget budget;
  budget.total = budget.free = budget.limit = bytes;
  budget.reserve = 0;
  return budget;
}

TEST(MemoryBudgetTest, theLargestBatchFitsAndTheNextDoesNot) {
  Network model(128);
  sn::optim::Adam adam;
  auto one = [&](int64_t batch) {
    sn::Tensor x = sn::stand_in({batch, 64});
    sn::Tensor y = sn::stand_in({batch}, {.dtype = sn::DType::i64});
    return step(model, adam, x.dynamic(0), y.dynamic(0));
  };
  sn::MemoryBudget budget = budgetOf(4'000'000);
  sn::reset_stats();
  sn::BatchMemory best = budget.largest_batch(one);
  EXPECT_LE(sn::stats().compiles + sn::stats().disk_hits, 2u);
  EXPECT_EQ(sn::stats().programs_run, 0u);
  ASSERT_TRUE(best.fits);
  EXPECT_LE(best.memory.peak(), 4'000'000u);
  EXPECT_GE(best.memory.peak(), 3'000'000u);
  std::vector<int64_t> sizes = {best.batch, best.batch + 1};
  auto around = budget.recommend(one, sizes);
  EXPECT_TRUE(around[0].fits);
  EXPECT_FALSE(around[1].fits);
  sn::BatchMemory even = budget.largest_batch(one, {.multiple_of = 32});
  EXPECT_EQ(even.batch, best.batch / 32 * 32);
  EXPECT_EQ(budget.largest_batch(one, {.most = 8}).batch, 8);
  sn::BatchMemory none = budgetOf(1000).largest_batch(one);
  EXPECT_FALSE(none.fits);
  EXPECT_EQ(none.batch, 0);
  EXPECT_GT(none.memory.peak(), 1000u);
}

TEST(MemoryBudgetTest, searchesWithoutSizesAreErrors) {
  sn::MemoryBudget budget = budgetOf(1000);
  auto step = [](int64_t batch) { return sn::sum(sn::stand_in({batch})); };
  for (const sn::BatchSearch &wrong :
       {sn::BatchSearch{.least = 0}, sn::BatchSearch{.least = 9, .most = 8},
        sn::BatchSearch{.least = 9, .most = 15, .multiple_of = 8},
        sn::BatchSearch{.multiple_of = 0}})
    EXPECT_THROW(budget.largest_batch(step, wrong), sn::Error);
}

} // namespace
