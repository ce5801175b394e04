/// Trains with one record of the whole run, which is written every few batches,
/// within epochs too. Ended in any way and started again, the run goes on from
/// there and ends with the same weights, bit for bit.
#include "examples/13_records/Iris.h"

#include <sinter/Config.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

struct Flags {
  int64_t epochs = 20, every = 3;
  std::string record = "iris-run.mpk", weights;
  bool marks = false;
  SINTER_DOC(every, "batches between records")
  SINTER_DOC(weights, "a file for the final weights")
  SINTER_DOC(marks, "prints `<` before each record is written, `>` after it")
  SINTER_CONFIG(Flags, epochs, every, record, weights, marks)
};

static void mark(const Flags &flags, char letter) {
  if (!flags.marks)
    return;
  std::putchar(letter);
  std::fflush(stdout);
}

static void train(const Flags &flags) {
  sn::manual_seed(1);
  Run run(IRIS_CSV);
  if (std::filesystem::exists(flags.record)) {
    run.load(sn::Record::load(flags.record));
    std::printf("going on from step %lld\n",
                static_cast<long long>(run.progress.steps));
  }
  const int64_t every = std::max<int64_t>(1, flags.every);
  while (run.loader.cursor().epoch < flags.epochs) {
    for (auto &[flowers, labels] : run.loader) {
      run.step(flowers, labels);
      if (run.progress.steps % every != 0)
        continue;
      mark(flags, '<');
      run.record().save(flags.record);
      mark(flags, '>');
    }
    run.progress.losses.push_back(run.progress.loss);
  }
  run.record().save(flags.record);
  if (!flags.weights.empty())
    run.model.save(flags.weights);
  std::printf("%lld steps, loss %.4f, accuracy %.1f %%\n",
              static_cast<long long>(run.progress.steps),
              run.progress.losses.back(), 100 * accuracy(run.model, IRIS_CSV));
}

int main(int argc, char **argv) try {
  train(sn::parse_config<Flags>(argc, argv));
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
