/// Times the wrapper beside the bare loop.
#include "examples/12_hybrid_trainer/Images.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>

namespace sn = sinter;

namespace {

using Clock = std::chrono::steady_clock;

template <typename F> double secondsOf(F &&run) {
  Clock::time_point begin = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

struct Counts {
  uint64_t programs = 0, launches = 0;
};

template <typename F> Counts countsOf(F &&run) {
  sn::Stats before = sn::stats();
  run();
  sn::Stats after = sn::stats();
  return {after.programs_run - before.programs_run,
          after.launches - before.launches};
}

/// Two ways to train, each with a model of its own.
class Steps {
public:
  Steps(int64_t pixels, int64_t hidden)
      : bare(pixels, hidden), model(Mlp(pixels, hidden), lossOf) {}

  void plain(const Batch &batch) {
    sn::Tensor loss = lossOf(bare, batch);
    sgd.step(bare, loss.backward());
    loss.item<float>();
  }
  void wrapped(const Batch &batch) {
    sn::Tensor loss = model.forward(batch);
    optimizer.step(model, model.backward());
    loss.item<float>();
  }

private:
  Mlp bare;
  sn::optim::Sgd sgd{{.lr = 0.05}};
  sn::train::HybridModel<Mlp, decltype(&lossOf)> model;
  sn::train::HybridOptimizer optimizer =
      sn::train::HybridOptimizer::of<sn::optim::Sgd>(
          sn::optim::SgdOptions{.lr = 0.05});
};

} // namespace

void printOverhead(const std::vector<Image> &images, int64_t batchSize,
                   int64_t hidden, int64_t pairs) {
  ImageLoader loader(Images(images), {.batch_size = batchSize});
  std::vector<Batch> batches;
  for (Batch &batch : loader)
    batches.push_back(std::move(batch));
  auto pixels = static_cast<int64_t>(images.front().pixels.size());

  // Where a model happens to lie makes some percent. There are many, at places
  // of their own, and the one and the other begins.
  constexpr int64_t pairsOfAModel = 100;
  std::deque<Steps> models;
  std::vector<double> bareSeconds, differences;
  Counts bareCounts, wrappedCounts;
  for (int64_t i = 0; i < pairs; i += pairsOfAModel) {
    Steps &steps = models.emplace_back(pixels, hidden);
    for (int64_t j = 0; j < std::min(pairsOfAModel, pairs - i); ++j) {
      const Batch &batch = batches[static_cast<size_t>(i + j) % batches.size()];
      auto plainRun = [&] { steps.plain(batch); };
      auto wrappedRun = [&] { steps.wrapped(batch); };
      if (j == 0) { // what is compiled is compiled, and buffers are there
        if (models.size() % 2)
          plainRun();
        wrappedRun();
        plainRun();
        bareCounts = countsOf(plainRun), wrappedCounts = countsOf(wrappedRun);
      }
      // What comes second in a pair is now the one, now the other.
      double plain = j % 2 ? 0 : secondsOf(plainRun);
      double wrapped = secondsOf(wrappedRun);
      if (j % 2)
        plain = secondsOf(plainRun);
      bareSeconds.push_back(plain);
      differences.push_back(wrapped - plain);
    }
  }
  double step = median(bareSeconds);
  std::printf("bare step %.1f us; wrapper: %+.2f us, %+.2f %%, the median of "
              "%lld pairs; programs %llu and %llu, launches %llu and %llu\n",
              1e6 * step, 1e6 * median(differences),
              100 * median(differences) / step, static_cast<long long>(pairs),
              static_cast<unsigned long long>(bareCounts.programs),
              static_cast<unsigned long long>(wrappedCounts.programs),
              static_cast<unsigned long long>(bareCounts.launches),
              static_cast<unsigned long long>(wrappedCounts.launches));
}
