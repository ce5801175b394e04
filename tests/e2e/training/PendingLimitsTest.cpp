/// A small GPT under limits of a quarter of what its step records: the step is
/// never cut, and memory stays flat.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <unordered_set>

using namespace training;

namespace {

constexpr int64_t words = 32, width = 8, positions = 16, batch = 4;

struct Gpt {
  sn::nn::Embedding tokens{words, width};
  sn::nn::TransformerEncoder blocks{width,
                                    2,
                                    12,
                                    {.dim_feedforward = 4 * width,
                                     .activation = sn::nn::Activation::gelu,
                                     .norm_first = true},
                                    true};
  sn::nn::Linear out{width, words};
  sn::Tensor forward(const sn::Tensor &x) const {
    sn::AttentionOptions causal{.causal = true};
    return out(blocks(tokens(x), causal));
  }
  SINTER_MODULE(Gpt, tokens, blocks, out)
};

sn::Tensor wordsFrom(int64_t first) {
  std::vector<int64_t> values(batch * positions);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (first + int64_t(i)) * 7 % words;
  return sn::tensor(values, {batch, positions});
}

sn::Tensor record(Gpt &model, sn::optim::Adam &adam, int64_t number) {
  sn::Tensor scores = model.forward(wordsFrom(number));
  sn::Tensor loss =
      sn::cross_entropy(sn::reshape(scores, {batch * positions, words}),
                        sn::reshape(wordsFrom(number + 1), {-1}));
  sn::Gradients gradients = loss.backward();
  adam.step(model, std::move(gradients));
  return loss;
}

/// What is pending below the loss and the new values of the parameters.
std::vector<sn::Tensor> pendingOf(Gpt &model, const sn::Tensor &loss) {
  std::vector<sn::Tensor> results{loss};
  model.visit([&](std::string_view, const sn::Param &param) {
    if (sn::graph::NodeRef next = param.cell()->pending())
      results.emplace_back(std::move(next));
  });
  return results;
}

/// Of every op, as if none were fused.
size_t unfusedBytes(const std::vector<sn::Tensor> &results) {
  std::unordered_set<const sn::graph::Node *> seen;
  std::vector<const sn::graph::Node *> stack;
  size_t bytes = 0;
  for (const sn::Tensor &result : results)
    stack.push_back(result.node().get());
  while (!stack.empty()) {
    const sn::graph::Node *node = stack.back();
    stack.pop_back();
    if (node->isLeaf() || node->isReady() || !seen.insert(node).second)
      continue;
    bytes += node->elements() * sn::byteWidth(node->dtype());
    for (const sn::graph::NodeRef &operand : node->operands())
      stack.push_back(operand.get());
  }
  return bytes;
}

uint64_t limitFlushes() {
  uint64_t count = 0;
  for (const sn::Stats::Flush &flush : sn::stats().flushes)
    if (flush.reason == "limit")
      count += flush.count;
  return count;
}

/// Restores the limits.
struct LimitScope {
  sn::PendingLimits usual = sn::pending_limits();
  ~LimitScope() { sn::set_pending_limits(usual); }
};

} // namespace

TEST(PendingLimits, AStepIsNeverCutAndMemoryIsFlat) {
  const char *asked = std::getenv("SINTER_TEST_STEPS");
  int64_t steps = asked ? std::atoll(asked) : 200;
  LimitScope scope;
  sn::manual_seed(3);
  Gpt model;
  sn::optim::Adam adam{{.lr = 0.001}};
  sn::Stats before = sn::stats();
  uint64_t flushesBefore = limitFlushes();

  sn::Tensor first = record(model, adam, 0);
  std::vector<sn::Tensor> results = pendingOf(model, first);
  size_t unfused = unfusedBytes(results);
  size_t peak = sn::inspect_memory(results).bytes;
  ASSERT_LT(peak, unfused / 4) << "the limit is above the plan's peak";
  results.clear();
  sn::set_pending_limits({.bytes = unfused / 4, .look_every = 500});

  float firstLoss = first.item<float>(), lastLoss = 0;
  size_t heapAtHalf = 0, bytesAtHalf = 0;
  for (int64_t i = 1; i < steps; ++i) {
    lastLoss = record(model, adam, i).item<float>();
    if (i == steps / 2) {
      heapAtHalf = heapInUse();
      bytesAtHalf = bytesInUse();
    }
  }
  sn::Stats after = sn::stats();
  EXPECT_LE(
      after.compiles + after.disk_hits - before.compiles - before.disk_hits, 3u)
      << missesText();
  EXPECT_EQ(limitFlushes(), flushesBefore);
  EXPECT_LE(heapInUse(), heapAtHalf + (1 << 20));
  EXPECT_LE(bytesInUse(), bytesAtHalf);
  EXPECT_LT(lastLoss, firstLoss);
}
