/// Trainings that are killed at any moment and go on to the same weights.
#pragma once

#include <sinter/Basic.h>
#include <sinter/Config.h>
#include <sinter/Train.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <variant>

namespace killed {

namespace sn = sinter;

struct Flags {
  sn::Required<std::string> training, folder;
  std::string weights;
  int64_t epochs = 10, every = 3, stop = 0;
  bool marks = false;
  SINTER_DOC(training, "cnn, gru or gan")
  SINTER_DOC(folder, "the artifact folder")
  SINTER_DOC(weights, "a file for the final weights")
  SINTER_DOC(every, "batches between checkpoints")
  SINTER_DOC(stop, "ends behind so many batches, with a checkpoint")
  SINTER_DOC(marks, "prints `<` before a checkpoint is written, `>` when it is")
  SINTER_CONFIG(Flags, training, folder, weights, epochs, every, stop, marks)
};

/// A convolutional network of pictures that workers crop and flip, in f16 with
/// a loss scale that overflows and grows, beside its exponential average.
void train_cnn(const Flags &flags);
/// A GRU whose gradients are of two batches, and clipped.
void train_gru(const Flags &flags);
/// A generator and a discriminator with an optimizer each, and noise.
void train_gan(const Flags &flags);

/// The options of all of them.
sn::train::LearnerOptions optionsOf(const Flags &flags);
void mark(const Flags &flags, char letter);

/// Trains, and tells what it does on the standard output.
template <typename Learner, typename Loader>
void finish(const Flags &flags, Learner &learner, Loader &loader) {
  learner.on([&](const sn::train::Event &event) {
    if (const auto *run = std::get_if<sn::train::RunBegin>(&event)) {
      std::printf(run->resume ? "going on from step %lld\n" : "beginning\n",
                  run->resume ? static_cast<long long>(run->resume->train_steps)
                              : 0LL);
      std::fflush(stdout);
    } else if (std::holds_alternative<sn::train::CheckpointWritten>(event)) {
      mark(flags, '>');
    } else if (const auto *said = std::get_if<sn::train::Message>(&event)) {
      if (said->level >= sn::train::Level::warning)
        std::printf("warning: %s\n", said->text.c_str());
      std::fflush(stdout);
    }
  });
  learner.metric(sn::metrics::MeanLoss()).monitors({.dashboard = false});
  learner.fit(loader);
}

} // namespace killed
