/// Trains with one record of the whole run, which is written every few batches,
/// within epochs too. Ended in any way and started again, the run goes on from
/// there and ends with the same weights, bit for bit.
#include "examples/13_records/Iris.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

struct Flags {
  int64_t epochs = 20;
  int64_t every = 3; ///< batches between records
  std::string record = "iris-run.mpk";
  std::string weights; ///< a file for the final weights
  bool marks = false;  ///< `<` before each record is written, `>` after it
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
  while (run.loader.cursor().epoch < flags.epochs) {
    for (auto &[flowers, labels] : run.loader) {
      run.step(flowers, labels);
      if (run.progress.steps % flags.every != 0)
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

static Flags parse(int argc, char **argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    bool last = i + 1 == argc;
    if (flag == "--epochs" && !last)
      flags.epochs = std::max<int64_t>(1, std::strtoll(argv[++i], nullptr, 10));
    else if (flag == "--every" && !last)
      flags.every = std::max<int64_t>(1, std::strtoll(argv[++i], nullptr, 10));
    else if (flag == "--record" && !last)
      flags.record = argv[++i];
    else if (flag == "--weights" && !last)
      flags.weights = argv[++i];
    else if (flag == "--marks")
      flags.marks = true;
    else {
      std::printf("usage: train_with_checkpoint [--epochs N] [--every BATCHES] "
                  "[--record FILE] [--weights FILE] [--marks]\n");
      std::exit(flag == "--help" ? 0 : 2);
    }
  }
  return flags;
}

int main(int argc, char **argv) try {
  train(parse(argc, argv));
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
