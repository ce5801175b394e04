/// Times the wrapper beside the bare loop.
#include "examples/12_hybrid_trainer/Images.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

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

} // namespace

void printOverhead(const std::vector<Image> &images, int64_t batchSize,
                   int64_t hidden, int64_t pairs) {
  ImageLoader loader(Images(images), {.batch_size = batchSize});
  std::vector<Batch> batches;
  for (Batch &batch : loader)
    batches.push_back(std::move(batch));
  auto pixels = static_cast<int64_t>(images.front().pixels.size());

  Mlp bare(pixels, hidden);
  sn::optim::Sgd sgd({.lr = 0.05});
  auto bareLoop = [&] {
    for (const Batch &batch : batches) {
      sn::Tensor loss = lossOf(bare, batch);
      sgd.step(bare, loss.backward());
      loss.item<float>();
    }
  };
  sn::train::HybridModel model(Mlp(pixels, hidden), lossOf);
  auto optimizer = sn::train::HybridOptimizer::of<sn::optim::Sgd>(
      sn::optim::SgdOptions{.lr = 0.05});
  auto wrappedLoop = [&] {
    for (const Batch &batch : batches) {
      sn::Tensor loss = model.forward(batch);
      optimizer.step(model, model.backward());
      loss.item<float>();
    }
  };

  for (int i = 0; i < 3; ++i) { // what is compiled is compiled
    bareLoop();
    wrappedLoop();
  }
  // What comes second in a pair is now the one, now the other.
  std::vector<double> ratios, bareSeconds;
  for (int64_t i = 0; i < pairs; ++i) {
    double first = secondsOf([&] { i % 2 ? wrappedLoop() : bareLoop(); });
    double second = secondsOf([&] { i % 2 ? bareLoop() : wrappedLoop(); });
    double plain = i % 2 ? second : first, wrapped = i % 2 ? first : second;
    ratios.push_back(wrapped / plain);
    bareSeconds.push_back(plain);
  }
  Counts plain = countsOf(bareLoop), wrapped = countsOf(wrappedLoop);
  std::printf("bare step %.1f us; wrapper: median %+.2f %% of %lld pairs; "
              "programs %llu and %llu, launches %llu and %llu\n",
              1e6 * median(bareSeconds) / static_cast<double>(batches.size()),
              100 * (median(ratios) - 1), static_cast<long long>(pairs),
              static_cast<unsigned long long>(plain.programs),
              static_cast<unsigned long long>(wrapped.programs),
              static_cast<unsigned long long>(plain.launches),
              static_cast<unsigned long long>(wrapped.launches));
}
