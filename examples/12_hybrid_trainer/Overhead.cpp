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
  auto bareStep = [&](const Batch &batch) {
    sn::Tensor loss = lossOf(bare, batch);
    sgd.step(bare, loss.backward());
    loss.item<float>();
  };
  sn::train::HybridModel model(Mlp(pixels, hidden), lossOf);
  auto optimizer = sn::train::HybridOptimizer::of<sn::optim::Sgd>(
      sn::optim::SgdOptions{.lr = 0.05});
  auto wrappedStep = [&](const Batch &batch) {
    sn::Tensor loss = model.forward(batch);
    optimizer.step(model, model.backward());
    loss.item<float>();
  };

  for (const Batch &batch : batches) { // what is compiled is compiled
    bareStep(batch);
    wrappedStep(batch);
  }
  // What comes second in a pair is now the one, now the other.
  std::vector<double> bareSeconds, differences;
  for (int64_t i = 0; i < pairs; ++i) {
    const Batch &batch = batches[static_cast<size_t>(i) % batches.size()];
    auto plainRun = [&] { bareStep(batch); };
    auto wrappedRun = [&] { wrappedStep(batch); };
    double plain = i % 2 ? 0 : secondsOf(plainRun);
    double wrapped = secondsOf(wrappedRun);
    if (i % 2)
      plain = secondsOf(plainRun);
    bareSeconds.push_back(plain);
    differences.push_back(wrapped - plain);
  }
  Counts plain = countsOf([&] { bareStep(batches[0]); });
  Counts wrapped = countsOf([&] { wrappedStep(batches[0]); });
  double step = median(bareSeconds);
  std::printf("bare step %.1f us; wrapper: %+.2f us, %+.2f %%, the median of "
              "%lld pairs; programs %llu and %llu, launches %llu and %llu\n",
              1e6 * step, 1e6 * median(differences),
              100 * median(differences) / step, static_cast<long long>(pairs),
              static_cast<unsigned long long>(plain.programs),
              static_cast<unsigned long long>(wrapped.programs),
              static_cast<unsigned long long>(plain.launches),
              static_cast<unsigned long long>(wrapped.launches));
}
