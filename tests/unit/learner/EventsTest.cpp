/// What a Learner tells of the run, the machine and the library, and the files
/// that come of it.
#include "tests/unit/learner/Folder.h"
#include "tests/unit/learner/Spirals.h"

#include <sinter/Log.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

using namespace spirals;
using namespace testing;
namespace train = sinter::train;
namespace fs = std::filesystem;

namespace {

class Events : public FolderTest {
protected:
  std::string textOf(const std::string &file) const {
    std::ifstream stream(folder + "/" + file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

const train::MonitorOptions files = {.dashboard = false};

} // namespace

TEST_F(Events, TheBeginningTellsOfModelDevicesAndMachine) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step,
                         {.epochs = 1, .config = R"({"seed": 5})"});
  train::RunBegin begin;
  learner.on([&](const train::RunBegin &told) { begin = told; });
  learner.fit(run.loader, run.valid);
  EXPECT_EQ(begin.config, R"({"seed": 5})");
  EXPECT_EQ(begin.parameters, 2 * 16 + 16 + 16 * 2 + 2);
  EXPECT_THAT(begin.model, HasSubstr("fc1"));
  EXPECT_THAT(begin.model, HasSubstr("Linear"));
  EXPECT_THAT(begin.devices, StartsWith("cpu: "));
  EXPECT_THAT(begin.devices, HasSubstr("GiB"));
  EXPECT_THAT(begin.hardware, HasSubstr(" processors, "));
  EXPECT_EQ(begin.train_steps, 6);
  EXPECT_EQ(begin.valid_steps, 2);
}

TEST_F(Events, TheEndTellsOfProgramsKernelsAndMemory) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 2});
  learner.fit(run.loader);
  train::RunEnd end;
  std::vector<train::DeviceUse> during;
  learner.on([&](const train::RunEnd &told) { end = told; });
  learner.fit(run.loader);
  // The second fit compiles nothing: all is of this run alone.
  EXPECT_EQ(end.programs, 0U);
  EXPECT_EQ(end.cached, 12U);
  EXPECT_THAT(end.fusion, HasSubstr("0 programs compiled, 0 read from disk"));
  EXPECT_THAT(end.fusion, HasSubstr("12 runs of programs"));
  EXPECT_THAT(end.fusion, HasSubstr("a training step: 1.00 programs, "));
  ASSERT_EQ(end.devices.size(), 1U);
  EXPECT_EQ(end.devices[0].device, "cpu");
  EXPECT_GT(end.devices[0].in_use, 0U);
  EXPECT_GE(end.devices[0].peak, end.devices[0].in_use);
  EXPECT_GT(end.devices[0].total, end.devices[0].peak);
}

TEST_F(Events, DevicesAreReportedWithReadings) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step,
                         {.epochs = 1, .log_every = 2});
  int reports = 0;
  auto began = std::chrono::steady_clock::now();
  learner.on([&](const train::DeviceReport &report) {
    ASSERT_EQ(report.devices.size(), 1U);
    EXPECT_GT(report.devices[0].in_use, 0U);
    ++reports;
  });
  learner.fit(run.loader);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(reports, 1);
  EXPECT_LE(reports, std::min(3.0, 1 + took.count())); // of three logged steps
}

TEST_F(Events, TheLogAndThePageShowThem) {
  Training run = begun();
  train::Learner learner(
      run.net, run.adam, step,
      {.folder = folder, .epochs = 1, .config = R"({"batch": 16})"});
  learner.metric(sn::metrics::MeanLoss()).monitors(files);
  learner.fit(run.loader, run.valid);
  for (const char *file : {"experiment.log", "report.html"}) {
    std::string text = textOf(file);
    for (const char *part : {"batch", "fc1", "cpu: ", " processors, ",
                             "runs of programs", "a training step: "})
      EXPECT_THAT(text, HasSubstr(part)) << file;
  }
}

TEST_F(Events, TheFolderIsLaidOut) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step,
                         {.folder = folder,
                          .epochs = 5,
                          .log_every = 3,
                          .config = R"({"batch": 16})",
                          .checkpoints = {.keep_last = 2}});
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = 2}))
      .monitors(files);
  learner.fit(run.loader, run.valid);
  std::vector<std::string> found;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      found.push_back(fs::relative(entry.path(), folder));
  std::vector<std::string> wanted = {"config.json", "experiment.log",
                                     "metrics.csv", "events.jsonl",
                                     "report.html"};
  // Of five epochs of 6 batches; older checkpoints were removed.
  for (const char *part : {"model", "optim", "scheduler", "state"})
    for (int number : {24, 30})
      wanted.push_back("checkpoint/" + std::string(part) + "-" +
                       std::to_string(number) + ".safetensors");
  for (int epoch = 1; epoch <= 5; ++epoch)
    for (const char *split : {"train", "valid"})
      for (const char *metric : {"loss", "accuracy"})
        wanted.push_back(std::string(split) + "/epoch-" +
                         std::to_string(epoch) + "/" + metric + ".log");
  for (const std::string &file : wanted)
    EXPECT_THAT(found, Contains(file));
  for (const std::string &file : found)
    if (file.starts_with("checkpoint/")) {
      EXPECT_THAT(wanted, Contains(file));
    }
  EXPECT_EQ(textOf("config.json"), R"({"batch": 16})");
}

TEST_F(Events, TheFolderIsEnoughToPredict) {
  Training run = begun();
  train::Learner learner(
      run.net, run.adam, step,
      {.folder = folder, .epochs = 2, .config = R"({"hidden": 16})"});
  train::Outcome outcome = learner.fit(run.loader);
  EXPECT_THAT(textOf("config.json"), HasSubstr("\"hidden\": 16"));
  sn::manual_seed(99);
  Net net;
  std::string last = folder + "/checkpoint/model-" +
                     std::to_string(outcome.steps) + ".safetensors";
  sn::load_record(net, sn::Record::load(last).at("model"));
  EXPECT_EQ(numbersOf(net), numbersOf(run.net));
}

//===- Messages of the library --------------------------------------------===//

TEST_F(Events, MessagesOfTheLibraryAreLinesOfTheLog) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step,
                         {.folder = folder, .epochs = 1});
  learner.metric(sn::metrics::MeanLoss()).monitors(files);
  std::vector<std::string> told;
  learner.on([&](const train::Message &message) {
    told.push_back(std::string(to_string(message.level)) + " " + message.text);
  });
  learner.on([&](const train::StepEnd &step) {
    if (step.total_step == 2)
      std::thread([] { sn::log(sn::LogLevel::warning, "of a thread"); }).join();
    if (step.total_step == 3)
      sn::log(sn::LogLevel::info, "of the loop");
  });
  internal::CaptureStderr();
  learner.fit(run.loader);
  EXPECT_EQ(internal::GetCapturedStderr(), "");
  EXPECT_THAT(told, Contains("warning of a thread"));
  EXPECT_THAT(told, Contains("info of the loop"));
  EXPECT_THAT(textOf("experiment.log"), HasSubstr("warning of a thread"));
  // Behind the run they are printed again.
  internal::CaptureStderr();
  sn::log(sn::LogLevel::warning, "afterwards");
  EXPECT_THAT(internal::GetCapturedStderr(), HasSubstr("afterwards"));
}

TEST_F(Events, WhoTookMessagesStillDoes) {
  std::vector<std::string> taken;
  sn::set_log(
      [&](sn::LogLevel, std::string_view text) { taken.emplace_back(text); });
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 1});
  learner.monitors(files);
  std::vector<std::string> told;
  learner.on(
      [&](const train::Message &message) { told.push_back(message.text); });
  learner.on([](const train::StepEnd &step) {
    if (step.total_step == 2)
      sn::log(sn::LogLevel::warning, "for both");
  });
  learner.fit(run.loader);
  sn::set_log({});
  EXPECT_THAT(taken, Contains("for both"));
  EXPECT_THAT(told, Contains("for both"));
}

TEST_F(Events, WithoutMonitorsMessagesGoWhereTheyGo) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 1});
  learner.on([](const train::StepEnd &step) {
    if (step.total_step == 2)
      sn::log(sn::LogLevel::warning, "to the terminal");
  });
  internal::CaptureStderr();
  learner.fit(run.loader);
  EXPECT_THAT(internal::GetCapturedStderr(), HasSubstr("to the terminal"));
}

TEST_F(Events, WarningsOfAResumeComeBehindTheBeginning) {
  auto fit = [&](std::string &told) {
    Training run = begun();
    train::Learner learner(
        run.net, run.adam, step,
        {.folder = folder, .epochs = 2, .checkpoints = {.background = false}});
    learner.metric(sn::metrics::MeanLoss()).monitors(files);
    learner.on([&](const train::Event &event) {
      if (std::holds_alternative<train::RunBegin>(event))
        told += "begin ";
      if (const auto *said = std::get_if<train::Message>(&event))
        told += said->text.substr(0, 25) + " ";
    });
    learner.fit(run.loader);
  };
  std::string told;
  fit(told);
  std::string file = folder + "/checkpoint/optim-12.safetensors";
  fs::resize_file(file, fs::file_size(file) - 9);
  told.clear();
  fit(told);
  EXPECT_EQ(told, "begin checkpoint 12 is left out ");
  EXPECT_THAT(textOf("experiment.log"), HasSubstr("checkpoint 12 is left out"));
}

TEST_F(Events, ACheckpointIsToldOfSoonAfterItIsDurable) {
  Training run = begun();
  // More than a disk takes time for.
  constexpr int64_t most = 100'000;
  train::LearnerOptions options{
      .folder = folder, .epochs = most, .max_steps = most};
  options.checkpoints.every_epochs = 0;
  options.checkpoints.when = [](const train::StepEnd &step) {
    return step.total_step == 2;
  };
  train::Learner learner(run.net, run.adam, step, options);
  std::vector<int64_t> written;
  learner.on([&](const train::CheckpointWritten &event) {
    written.push_back(event.train_steps);
    learner.stop("it is there");
  });
  // Without another checkpoint, and not only at the end of the run.
  train::Outcome outcome = learner.fit(run.loader);
  EXPECT_EQ(outcome.why, "it is there");
  EXPECT_LT(outcome.steps, most);
  EXPECT_EQ(written.front(), 2);
}
