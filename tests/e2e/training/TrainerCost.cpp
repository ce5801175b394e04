/// What a Learner costs: it beside the bare loop of the guide's network, in
/// pairs whose order changes.
///
///     trainer-cost --pairs 15 --steps 200
///
/// Prints medians. Programs and launches of both have to be the same, or it
/// fails; so do those of a loop with metrics and a Learner with all of its
/// monitors but the dashboard.
#include "frontend/ElementwiseFunctions.h"
#include <sinter/Config.h>
#include <sinter/Train.h>

#include <sinter/Basic.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>

namespace sn = sinter;

namespace {

struct Flags {
  int64_t pairs = 9, steps = 100, batch = 64, hidden = 512;
  std::string folder = "trainer-cost";
  SINTER_DOC(steps, "batches of one run")
  SINTER_DOC(hidden, "of the first linear layer: few, and a step is the host's")
  SINTER_DOC(folder, "for what monitors write; it is removed")
  SINTER_CONFIG(Flags, pairs, steps, batch, hidden, folder)
};

struct Guide {
  sn::nn::Conv2d conv1{1, 8, 3}, conv2{8, 16, 3};
  sn::nn::AdaptiveAvgPool2d pool{8};
  sn::nn::Dropout dropout{0.5};
  sn::nn::Linear linear1, linear2;

  explicit Guide(int64_t hidden = 512)
      : linear1(16 * 8 * 8, hidden), linear2(hidden, 10) {}

  sn::Tensor forward(const sn::Tensor &images) const {
    sn::Tensor x = dropout(conv2(dropout(conv1(images))));
    x = sn::reshape(pool(sn::relu(x)), {images.dim(0), 16 * 8 * 8});
    return linear2(sn::relu(dropout(linear1(x))));
  }
  SINTER_MODULE(Guide, conv1, conv2, pool, dropout, linear1, linear2)
};

using Batch = std::pair<sn::Tensor, sn::Tensor>;
using Output = sn::metrics::ClassificationOutput;

std::vector<Batch> batches(int64_t count, int64_t size) {
  std::vector<Batch> all;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<float> pixels(static_cast<size_t>(size * 28 * 28));
    for (size_t at = 0; at < pixels.size(); ++at)
      pixels[at] = std::sin(0.01F * float(at) + float(i));
    std::vector<int64_t> labels;
    for (int64_t at = 0; at < size; ++at)
      labels.push_back((at * 7 + i) % 10);
    all.emplace_back(sn::tensor(pixels, {size, 1, 28, 28}).eval(),
                     sn::tensor(labels).eval());
  }
  return all;
}

Output step(const Guide &model, const Batch &batch) {
  sn::Tensor logits = model.forward(batch.first);
  return {sn::cross_entropy(logits, batch.second), logits, batch.second};
}

/// A model and its optimizer.
struct Run {
  explicit Run(int64_t hidden) : model(hidden) {}
  Guide model;
  sn::optim::Adam adam;
};

struct Measure {
  uint64_t programs = 0, launches = 0;
  std::vector<double> seconds;   ///< by the clock
  std::vector<double> processor; ///< of all threads
};

void take(Measure &measure, const std::function<void()> &run) {
  sn::Stats before = sn::stats();
  auto begin = std::chrono::steady_clock::now();
  std::clock_t ticks = std::clock();
  run();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  measure.processor.push_back(double(std::clock() - ticks) / CLOCKS_PER_SEC);
  sn::Stats after = sn::stats();
  measure.seconds.push_back(took.count());
  measure.programs = after.programs_run - before.programs_run;
  measure.launches = after.launches - before.launches;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

/// Whether both do the same.
bool compare(const char *what, const Flags &flags,
             const std::function<void()> &loop,
             const std::function<void()> &learner) {
  loop();
  learner();
  Measure bare, trained;
  std::vector<double> parts, busy;
  for (int64_t i = 0; i < flags.pairs; ++i) {
    if (i % 2 == 0)
      take(bare, loop);
    take(trained, learner);
    if (i % 2)
      take(bare, loop);
    parts.push_back(trained.seconds.back() / bare.seconds.back() - 1);
    busy.push_back(trained.processor.back() / bare.processor.back() - 1);
  }
  double count = double(flags.steps);
  std::printf("%s: loop %.1f us a step, learner %.1f us, %+.2f %% by the "
              "clock, %+.2f %% of processors' time (medians of %lld pairs of "
              "%lld steps); programs a step %.2f and %.2f, "
              "launches %.2f and %.2f\n",
              what, 1e6 * median(bare.seconds) / count,
              1e6 * median(trained.seconds) / count, 100 * median(parts),
              100 * median(busy), static_cast<long long>(flags.pairs),
              static_cast<long long>(flags.steps),
              double(bare.programs) / count, double(trained.programs) / count,
              double(bare.launches) / count, double(trained.launches) / count);
  return bare.programs == trained.programs && bare.launches == trained.launches;
}

bool measure(const Flags &flags) {
  std::vector<Batch> data = batches(flags.steps, flags.batch);
  Run bare(flags.hidden), trained(flags.hidden), measured(flags.hidden),
      shown(flags.hidden);
  auto loop = [&] {
    for (Batch &batch : data) {
      sn::Tensor loss = step(bare.model, batch).loss;
      bare.adam.step(bare.model, loss.backward());
      loss.eval();
    }
  };
  auto fit = [&] {
    sn::train::Learner learner(trained.model, trained.adam, step);
    learner.fit(data);
  };
  bool isSame = compare("alone", flags, loop, fit);

  auto loopWithMetrics = [&] {
    sn::metrics::MetricSet<Output> metrics;
    metrics.add(sn::metrics::MeanLoss())
        .add(sn::metrics::Accuracy({.classes = 10}));
    for (Batch &batch : data) {
      Output output = step(measured.model, batch);
      measured.adam.step(measured.model, output.loss.backward());
      metrics.update(output);
      output.loss.eval();
    }
    metrics.values();
  };
  auto fitWithMonitors = [&] {
    sn::train::Learner learner(shown.model, shown.adam, step,
                               {.folder = flags.folder,
                                .resume = false,
                                .checkpoints = {.every_epochs = 0}});
    learner.metric(sn::metrics::MeanLoss())
        .metric(sn::metrics::Accuracy({.classes = 10}))
        .monitors({.dashboard = false});
    learner.fit(data);
    std::filesystem::remove_all(flags.folder);
  };
  return compare("with metrics, logs and a last checkpoint", flags,
                 loopWithMetrics, fitWithMonitors) &&
         isSame;
}

} // namespace

int main(int argc, char **argv) try {
  bool isSame = measure(sn::parse_config<Flags>(argc, argv));
  if (!isSame)
    std::fprintf(stderr, "error: programs or launches differ\n");
  return isSame ? 0 : 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
