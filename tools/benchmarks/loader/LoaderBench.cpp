/// loader-bench: how well a loader with workers feeds a step.
#include "tools/benchmarks/loader/Options.h"

#include "frontend/ElementwiseFunctions.h"
#include <sinter/data/DataLoader.h>
#include <sinter/data/Transforms.h>

#include <sinter/Basic.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using namespace sinter;
using bench::LoaderBenchOptions;
using Clock = std::chrono::steady_clock;

namespace {

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Pictures in memory: what is measured is not a disk.
data::InMemory<data::LabeledImage> pictures(int64_t count, int64_t size) {
  std::vector<data::LabeledImage> all;
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    data::Image image{size, size, 3, {}};
    image.pixels.resize(size_t(size * size * 3));
    for (uint8_t &sample : image.pixels)
      sample = uint8_t((state = state * 1664525 + 1013904223) >> 24);
    all.push_back({std::move(image), i % 10});
  }
  return data::InMemory(std::move(all));
}

/// What training on pictures of 32 x 32 does, or on larger ones.
auto training(const data::InMemory<data::LabeledImage> &from, int64_t size) {
  auto normalize = data::normalize({0.49, 0.48, 0.45}, {0.25, 0.24, 0.26});
  auto crop = size == 32 ? data::random_crop(32, {.padding = 4})
                         : data::random_resized_crop(224);
  return data::map(from, data::compose(crop, data::flip(), normalize));
}

data::LoaderOptions loaderOptions(const LoaderBenchOptions &options) {
  return {.batch_size = options.batch,
          .workers = options.workers,
          .prefetch = options.prefetch,
          .drop_last = true,
          .sampler = data::random_sampler(1),
          .keep_workers = true};
}

/// A step of training, repeated until it takes as long as it should.
class TrainingStep {
public:
  TrainingStep(const Tensor &images, const Tensor &labels, double seconds) {
    for (int i = 0; i < 10; ++i) // compiled, and its buffers are there
      run(images, labels);
    while (repeats < 4096 && least(images, labels) < seconds / 2)
      repeats *= 2;
    double each = least(images, labels) / double(repeats);
    repeats = std::max<int64_t>(1, std::llround(seconds / each));
  }

  void run(const Tensor &images, const Tensor &labels) {
    for (int64_t i = 0; i < repeats; ++i) {
      Tensor rows = reshape(
          images, {images.dim(0), images.numel() / images.dim(0).value});
      Tensor loss = cross_entropy(last(relu(first(rows))), labels);
      adam.step(*this, loss.backward());
    }
    synchronize();
  }

private:
  /// Seconds of the fastest of ten.
  double least(const Tensor &images, const Tensor &labels) {
    double found = 1e9;
    for (int i = 0; i < 10; ++i) {
      auto start = Clock::now();
      run(images, labels);
      found = std::min(found, secondsSince(start));
    }
    return found;
  }

  nn::Linear first{3 * 32 * 32, 16}, last{16, 10};
  optim::Adam adam{{.lr = 1e-3}};
  int64_t repeats = 1;
  SINTER_MODULE(TrainingStep, first, last)
};

/// Loops over `batches` batches with a step for each.
template <typename Loader, typename Step>
data::LoaderStats fed(Loader &loader, int64_t batches, Step step) {
  bool isWarm = false;
  while (loader.stats().batches < batches)
    for (auto &[images, labels] : loader) {
      step(images, labels);
      // What is measured is a loader at work; it begins within the first batch.
      if (!std::exchange(isWarm, true))
        loader.reset_stats();
      if (loader.stats().batches >= batches)
        break;
    }
  return loader.stats();
}

void printFed(const char *step, const LoaderBenchOptions &options, bool isAhead,
              const data::LoaderStats &stats) {
  std::printf("{\"what\":\"feed\",\"step\":\"%s\",\"device\":\"%s\","
              "\"workers\":%lld,\"prefetch_on_device\":%s,\"batches\":%lld,"
              "\"step_ms\":%.3f,\"wait_ms\":%.4f,\"stall\":%.5f}\n",
              step, options.device.c_str(), (long long)options.workers,
              isAhead ? "true" : "false", (long long)stats.batches,
              1e3 * stats.stepped / double(stats.batches),
              1e3 * stats.waited / double(stats.batches), stats.stall());
  std::fflush(stdout);
}

void measureFeeding(const LoaderBenchOptions &options) {
  auto from = training(pictures(options.items, 32), 32);
  double seconds = options.stepMilliseconds / 1e3;
  for (bool isAhead : {true, false}) {
    data::LoaderOptions loading = loaderOptions(options);
    loading.device_prefetch = isAhead;
    data::DataLoader sleeping(from, loading);
    printFed("sleep", options, isAhead,
             fed(sleeping, options.batches, [&](auto &, auto &) {
               std::this_thread::sleep_for(
                   std::chrono::duration<double>(seconds));
             }));
    data::DataLoader loader(from, loading);
    std::unique_ptr<TrainingStep> step;
    printFed("training", options, isAhead,
             fed(loader, options.batches,
                 [&](const Tensor &images, const Tensor &labels) {
                   if (!step)
                     step = std::make_unique<TrainingStep>(images, labels,
                                                           seconds);
                   step->run(images, labels);
                 }));
  }
}

/// Images a second of the peer's loader; 0 without one.
double askPeer(const LoaderBenchOptions &options, int64_t items,
               int64_t batches, int64_t size) {
  if (options.peer.empty())
    return 0;
  std::string command = options.peer;
  for (int64_t number : {options.workers, options.batch, items, batches, size})
    command += " " + std::to_string(number);
  // What is started is what the caller names.
  std::FILE *output =
      ::popen(command.c_str(), "r"); // NOLINT(bugprone-command-processor)
  char line[64] = "";
  double found = 0;
  if (output && std::fgets(line, sizeof(line), output))
    found = std::strtod(line, nullptr);
  if (found <= 0)
    std::fprintf(stderr, "loader-bench: no number from: %s\n", command.c_str());
  if (output)
    ::pclose(output);
  return found;
}

void measureThroughput(const LoaderBenchOptions &options, int64_t size) {
  bool isSmall = size == 32;
  int64_t items =
      isSmall ? options.items : std::min<int64_t>(options.items, 512);
  int64_t batches = isSmall ? options.batches : (options.batches + 19) / 20;
  data::DataLoader loader(training(pictures(items, size), size),
                          loaderOptions(options));
  Clock::time_point start;
  int64_t taken = -1; // the first is made before its time is taken
  while (taken < batches)
    for (auto &batch : loader) {
      (void)batch;
      if (taken < 0)
        start = Clock::now();
      if (++taken == batches)
        break;
    }
  synchronize();
  double rate = double(batches * options.batch) / secondsSince(start);
  double peer = askPeer(options, items, batches, size);
  std::printf("{\"what\":\"throughput\",\"pictures\":%lld,\"device\":\"%s\","
              "\"workers\":%lld,\"images_per_s\":%.0f",
              (long long)size, options.device.c_str(),
              (long long)options.workers, rate);
  if (peer > 0)
    std::printf(",\"peer_images_per_s\":%.0f,\"ratio\":%.2f", peer,
                rate / peer);
  std::puts("}");
  std::fflush(stdout);
}

/// What it takes to begin an epoch, and to give a batch that costs nothing.
void measureEpochs(const LoaderBenchOptions &options) {
  data::InMemory rows(
      std::vector<std::array<float, 4>>(size_t(4 * options.batch)));
  for (bool isKept : {false, true}) {
    data::LoaderOptions loading = loaderOptions(options);
    loading.keep_workers = isKept;
    data::DataLoader loader(rows, loading);
    constexpr int epochs = 300;
    int64_t batches = 0;
    auto start = Clock::now();
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (Tensor &batch : loader)
        batches += batch.rank() == 2;
    double seconds = secondsSince(start);
    std::printf("{\"what\":\"epochs\",\"keep_workers\":%s,"
                "\"batches_per_epoch\":%lld,\"us_per_epoch\":%.1f,"
                "\"us_per_batch\":%.1f}\n",
                isKept ? "true" : "false", (long long)batches / epochs,
                1e6 * seconds / epochs, 1e6 * seconds / double(batches));
  }
}

} // namespace

int main(int count, char **arguments) try {
  LoaderBenchOptions options = bench::readOptions(count, arguments);
  set_default_device(options.device);
  measureFeeding(options);
  measureThroughput(options, 32);
  measureThroughput(options, 256);
  measureEpochs(options);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "loader-bench: %s\n", error.what());
  return 1;
}
