/// Trains, and writes the model alone: as it is, and as small as it gets.
#include "examples/13_records/Iris.h"

#include <cstdio>
#include <exception>

int main(int argc, char **argv) try {
  std::string file = argc > 1 ? argv[1] : "iris";
  constexpr int64_t epochs = 40;
  sn::manual_seed(1);
  Run run(IRIS_CSV);
  while (run.loader.cursor().epoch < epochs) {
    for (auto &[flowers, labels] : run.loader)
      run.step(flowers, labels);
    run.progress.losses.push_back(run.progress.loss);
  }
  double share = accuracy(run.model, IRIS_CSV);
  std::printf("loss %.4f, accuracy %.1f %%\n", run.progress.losses.back(),
              100 * share);
  std::printf("wrote %s\n", sn::save_model(run.model, file).c_str());
  std::printf(
      "wrote %s\n",
      sn::save_model(run.model, file + "-small", sn::compact_record()).c_str());
  return share > 0.9 ? 0 : 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
