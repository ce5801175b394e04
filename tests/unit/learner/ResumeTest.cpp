/// Runs that end and go on: always to the same weights.
#include "tests/unit/learner/Folder.h"
#include "tests/unit/learner/Spirals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace spirals;
using namespace testing;
namespace train = sinter::train;
namespace fs = std::filesystem;

namespace {

class Resume : public FolderTest {
protected:
  train::LearnerOptions options(int64_t epochs) const {
    return {.folder = folder,
            .epochs = epochs,
            .checkpoints = {.every_steps = 4, .background = false}};
  }

  /// One more process of a run.
  train::Outcome goOn(Training &run, train::LearnerOptions options) {
    train::Learner learner(run.net, run.adam, step, std::move(options));
    learner.metric(sn::metrics::MeanLoss());
    learner.schedule(sn::optim::step_lr({.step_size = 5}));
    return learner.fit(run.loader, run.valid);
  }
};

} // namespace

TEST_F(Resume, GoesOnToTheSameWeights) {
  Training whole = begun();
  train::LearnerOptions plain = options(4);
  plain.folder.clear();
  train::Outcome wanted = goOn(whole, plain);
  for (int64_t at : {1, 3, 5, 7, 11, 17, 23}) {
    fs::remove_all(folder);
    {
      Training run = begun();
      train::LearnerOptions until = options(4);
      until.max_steps = at;
      goOn(run, until);
    }
    // What was drawn since then is no part of the run.
    sn::manual_seed(99);
    Training run;
    train::Outcome outcome = goOn(run, options(4));
    EXPECT_EQ(outcome.resumed_from, at);
    EXPECT_EQ(numbersOf(run.net), numbersOf(whole.net)) << at;
    EXPECT_EQ(outcome("loss"), wanted("loss"));
    EXPECT_EQ(outcome("loss", train::Split::train),
              wanted("loss", train::Split::train));
  }
}

TEST_F(Resume, ByWorkersAndOnAThreadToo) {
  Training whole = begun(2);
  train::LearnerOptions plain = options(3);
  plain.folder.clear();
  goOn(whole, plain);
  {
    Training run = begun(2);
    train::LearnerOptions until = options(3);
    until.checkpoints.background = true;
    until.max_steps = 10;
    goOn(run, until);
  }
  Training run(1);
  goOn(run, options(3));
  EXPECT_EQ(numbersOf(run.net), numbersOf(whole.net));
}

TEST_F(Resume, KeepsTheLastTheBestAndWhatIsAsked) {
  Training run = begun();
  train::LearnerOptions all = options(6);
  all.checkpoints.every_steps = 0;
  all.checkpoints.keep_every_epochs = 3;
  all.checkpoints.keep = [](int64_t number) { return number == 6; };
  goOn(run, all);
  EXPECT_THAT(numbers(), ElementsAre(6, 18, 30, 36));
}

TEST_F(Resume, LeavesABrokenCheckpointOut) {
  Training run = begun();
  goOn(run, options(2));
  ASSERT_THAT(numbers(), ElementsAre(8, 12));
  std::string file = folder + "/checkpoint/model-12.safetensors";
  fs::resize_file(file, fs::file_size(file) / 2);
  Training again = begun();
  train::Learner learner(again.net, again.adam, step, options(2));
  learner.metric(sn::metrics::MeanLoss());
  learner.schedule(sn::optim::step_lr({.step_size = 5}));
  std::string warning;
  learner.on([&](const train::Message &message) { warning += message.text; });
  EXPECT_EQ(learner.fit(again.loader, again.valid).resumed_from, 8);
  EXPECT_THAT(warning, HasSubstr("checkpoint 12 is left out"));
  EXPECT_EQ(numbersOf(again.net), numbersOf(run.net));
}

TEST_F(Resume, ControlCEndsAtABorder) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, options(4));
  learner.on([](const train::StepEnd &step) {
    if (step.total_step == 7)
      std::raise(SIGINT);
  });
  struct sigaction before;
  sigaction(SIGINT, nullptr, &before);
  train::Outcome outcome = learner.fit(run.loader);
  EXPECT_EQ(outcome.status, train::Status::interrupted);
  EXPECT_THAT(numbers(), Contains(7));
  struct sigaction now;
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, before.sa_handler);
}

TEST_F(Resume, ControlCIsTheTrainingsWhateverTookItBefore) {
  // As code generators do, which remove their files.
  auto *before = std::signal(SIGINT, [](int) { _exit(3); });
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 4});
  learner.on([](const train::StepEnd &step) {
    if (step.total_step == 3)
      std::raise(SIGINT);
  });
  EXPECT_EQ(learner.fit(run.loader).steps, 3);
  std::signal(SIGINT, before);
}

TEST_F(Resume, AFolderOfAnotherRunIsNotTouched) {
  Training run = begun();
  goOn(run, options(1));
  Training other = begun();
  train::LearnerOptions fresh = options(1);
  fresh.resume = false;
  EXPECT_THROW(goOn(other, fresh), sn::Error);
  EXPECT_FALSE(numbers().empty());
}

TEST_F(Resume, PartsThatAKillLeftAreRemoved) {
  Training run = begun();
  goOn(run, options(1));
  std::string folder = this->folder + "/checkpoint/";
  ASSERT_THAT(numbers(), ElementsAre(4, 6));
  for (const char *left : {"model-9.safetensors", "optim-9.safetensors"})
    fs::copy_file(folder + "model-4.safetensors", folder + left);
  std::ofstream(folder + "notes-9.txt") << "of a person";
  Training again = begun();
  EXPECT_EQ(goOn(again, options(1)).resumed_from, 6);
  EXPECT_FALSE(fs::exists(folder + "model-9.safetensors"));
  EXPECT_FALSE(fs::exists(folder + "optim-9.safetensors"));
  EXPECT_TRUE(fs::exists(folder + "notes-9.txt"));
  EXPECT_THAT(numbers(), ElementsAre(4, 6));
}

TEST_F(Resume, ALoaderWithoutACursorBeginsItsEpochAgain) {
  Training run = begun();
  std::vector<Batch> batches;
  for (Batch &batch : run.loader)
    batches.push_back(batch);
  train::LearnerOptions until = options(3);
  until.max_steps = 8; // two of the second epoch
  {
    train::Learner learner(run.net, run.adam, step, until);
    EXPECT_EQ(learner.fit(batches).steps, 8);
  }
  Training again = begun();
  train::Learner learner(again.net, again.adam, step, options(3));
  std::string warning;
  std::vector<int64_t> steps;
  learner.on([&](const train::Message &message) { warning += message.text; });
  learner.on([&](const train::StepEnd &step) {
    if (step.epoch == 2)
      steps.push_back(step.step);
  });
  train::Outcome outcome = learner.fit(batches);
  EXPECT_EQ(outcome.resumed_from, 8);
  EXPECT_EQ(outcome.epochs, 3);
  EXPECT_THAT(steps, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(warning, HasSubstr("epoch 2 begins again"));
}

TEST_F(Resume, WhatStoppedEarlyStaysAsItWas) {
  train::LearnerOptions patient = options(50);
  patient.early_stopping = {{.metric = "loss", .patience = 1, .min_delta = 10}};
  Training run = begun();
  train::Outcome first = goOn(run, patient);
  ASSERT_EQ(first.status, train::Status::stopped);
  Training again = begun();
  train::Outcome second = goOn(again, patient);
  EXPECT_EQ(second.status, train::Status::stopped);
  EXPECT_EQ(second.why, first.why);
  EXPECT_EQ(second.steps, first.steps);
  EXPECT_EQ(numbersOf(again.net), numbersOf(run.net));
  // With more patience it goes on.
  patient.early_stopping[0].patience = 2;
  EXPECT_EQ(goOn(again, patient).epochs, first.epochs + 1);
}
