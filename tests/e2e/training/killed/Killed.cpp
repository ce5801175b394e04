/// Trains until it is done, or killed.
#include "tests/e2e/training/killed/Killed.h"

#include <cstdio>
#include <exception>

namespace killed {

void mark(const Flags &flags, char letter) {
  if (!flags.marks)
    return;
  std::putchar(letter);
  std::fflush(stdout);
}

sn::train::LearnerOptions optionsOf(const Flags &flags) {
  sn::manual_seed(11);
  sn::train::LearnerOptions options{.name = *flags.training,
                                    .folder = flags.folder,
                                    .epochs = flags.epochs,
                                    .log_every = 2,
                                    .config = flags.to_json()};
  options.max_steps = flags.stop;
  options.checkpoints.every_epochs = 0;
  options.checkpoints.when = [&flags](const sn::train::StepEnd &step) {
    if (step.total_step % flags.every != 0)
      return false;
    mark(flags, '<');
    return true;
  };
  return options;
}

} // namespace killed

int main(int argc, char **argv) try {
  auto flags = sinter::parse_config<killed::Flags>(argc, argv);
  const std::string &training = flags.training;
  if (training == "cnn")
    killed::train_cnn(flags);
  else if (training == "gru")
    killed::train_gru(flags);
  else if (training == "gan")
    killed::train_gan(flags);
  else
    throw std::invalid_argument("there is no training '" + training + "'");
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
