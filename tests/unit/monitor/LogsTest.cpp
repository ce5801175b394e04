/// Files of the artifact folder.
#include "tests/unit/monitor/TrainingFolder.h"

#include <sinter/train/Logs.h>

#include <sinter/Error.h>

#include <cmath>
#include <limits>

namespace sinter::train {

TEST(ExperimentLog, ArtifactFolderHasTheExperimentsLog) {
  TrainingFolder folder;
  ExperimentLog log;
  SmallTraining training(log, folder.path());
  training.run.config = "{\n  \"seed\": 1\n}\n";
  training.begin();
  training.epochs(1, 1);
  log.on(CheckpointWritten{.path = "checkpoint/model-1",
                           .bytes = 1234,
                           .why = "last",
                           .time = 1003});
  log.on(
      Message{.level = Level::warning, .text = "one\ntwo\033[2J", .time = 1});
  training.finish();
  std::vector<std::string> lines = folder.lines("experiment.log");
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines[0], "1970-01-01T00:16:40.000Z info    small begins");
  EXPECT_EQ(lines[1], "    config:");
  EXPECT_EQ(lines[3], "        \"seed\": 1");
  EXPECT_EQ(lines[5], "1970-01-01T00:16:43.000Z info    epoch 1 train: 3 "
                      "steps, 0:03, Loss 0.2500, Accuracy 10 %");
  EXPECT_EQ(lines[7], "1970-01-01T00:16:43.000Z info    checkpoint "
                      "checkpoint/model-1 (1.2 kB, last)");
  EXPECT_EQ(lines[8], "1970-01-01T00:00:01.000Z warning one");
  EXPECT_EQ(lines[9], "    two\\x1b[2J");
  EXPECT_EQ(lines[10].substr(25, 30), "info    finished after 16:40; ");
}

TEST(ExperimentLog, WhatLedToTheEndBeforeStays) {
  TrainingFolder folder;
  {
    ExperimentLog log;
    SmallTraining training(log, folder.path());
    training.begin();
    training.epochs(1, 2);
  }
  size_t before = folder.lines("experiment.log").size();
  ExperimentLog log;
  SmallTraining training(log, folder.path());
  training.resume(1);
  log.flush();
  std::vector<std::string> lines = folder.lines("experiment.log");
  ASSERT_EQ(lines.size(), before + 1);
  EXPECT_NE(lines.back().find("goes on after epoch 1, at step 3"),
            std::string::npos);
  training.run.resume.reset();
  training.begin(); // anew
  log.flush();
  EXPECT_EQ(folder.lines("experiment.log").size(), 1u);
}

using Lines = std::vector<std::string>;

TEST(MetricLogs, ArtifactFolderHasALogForEachSplitEpochAndMetric) {
  TrainingFolder folder;
  MetricLogs logs;
  SmallTraining training(logs, folder.path());
  training.begin();
  training.epochs(1, 2);
  training.finish();
  EXPECT_EQ(folder.lines("train/epoch-1/Loss.log"),
            (Lines{"0.5,8,1", "0.3333333333333333,8,2", "0.25,8,3"}));
  EXPECT_EQ(folder.lines("train/epoch-2/Accuracy.log"),
            (Lines{"20,8,4", "20,8,5", "20,8,6"}));
  EXPECT_EQ(folder.lines("valid/epoch-1/Loss.log"), Lines{"0.5,8,1"});
  EXPECT_EQ(folder.lines("valid/epoch-2/Accuracy.log"), Lines{"21,8,2"});
}

TEST(MetricLogs, EpochWithoutReadingsHasItsOwnValues) {
  TrainingFolder folder;
  MetricLogs logs;
  SmallTraining training(logs, folder.path());
  training.begin();
  logs.on(StepEnd{.total_step = 1});
  logs.on(EpochEnd{.epoch = 1, .total_step = 3, .values = training.values});
  EXPECT_EQ(folder.lines("train/epoch-1/Loss.log"), Lines{"0,8,3"});
}

TEST(MetricLogs, NamesAreFilesOfTheFolder) {
  TrainingFolder folder;
  MetricLogs logs;
  SmallTraining training(logs, folder.path());
  training.values[0].name = "../../../escape";
  training.values[1].name = ".._.._.._escape";
  training.begin();
  training.train(1);
  EXPECT_TRUE(folder.has("train/epoch-1/_._.._.._escape.log"));
  EXPECT_TRUE(folder.has("train/epoch-1/_._.._.._escape-2.log"));
  training.values[0].name = std::string(5000, 'x');
  training.values[1].name = "";
  training.train(2);
  EXPECT_TRUE(folder.has("train/epoch-2/_.log"));
}

namespace {

/// What a listener's files are after all epochs at once, and after a run that
/// ended somewhere and went on before that. `times` are the same.
template <typename Log> void checkResume(const Lines &files) {
  TrainingFolder whole, parts;
  Log once;
  SmallTraining training(once, whole.path());
  training.begin();
  training.epochs(1, 4);
  once.flush();
  {
    Log before;
    SmallTraining first(before, parts.path());
    first.begin();
    first.epochs(1, 3);
    first.train(4, 1, 2); // killed in epoch 4, step 2
    before.flush();
  }
  {
    Log again; // from the middle of epoch 3
    SmallTraining second(again, parts.path());
    second.resume(2, 1);
    second.train(3, 2);
    again.flush();
  }
  Log last; // from the end of epoch 2
  SmallTraining third(last, parts.path());
  third.resume(2);
  third.epochs(3, 4);
  last.flush();
  for (const std::string &file : files) {
    Lines expected = whole.lines(file), found = parts.lines(file);
    std::erase_if(found, [](const std::string &line) {
      return line.find("\"resume\"") != line.npos;
    });
    ASSERT_FALSE(expected.empty()) << file;
    EXPECT_EQ(expected, found) << file;
  }
}

} // namespace

TEST(MetricLogs, RunThatGoesOnDoublesNothing) {
  checkResume<MetricLogs>({"train/epoch-2/Loss.log", "train/epoch-3/Loss.log",
                           "train/epoch-4/Accuracy.log",
                           "valid/epoch-3/Loss.log", "valid/epoch-4/Loss.log"});
}

TEST(CsvFile, RunThatGoesOnDoublesNothing) {
  checkResume<CsvFile>({"metrics.csv"});
}

TEST(JsonLines, RunThatGoesOnDoublesNothing) {
  checkResume<JsonLines>({"events.jsonl"});
}

TEST(MetricLogs, RunThatBeginsAnewRemovesTheOldOnesLogsAlone) {
  TrainingFolder folder;
  MetricLogs logs;
  SmallTraining training(logs, folder.path());
  training.begin();
  training.epochs(1, 3);
  std::ofstream(folder / "train/epoch-3/notes.txt") << "mine";
  std::filesystem::create_directory(folder / "train/epoch-x");
  std::ofstream(folder / "train/epoch-x/Loss.log") << "mine";
  training.begin();
  EXPECT_FALSE(folder.has("train/epoch-1"));
  EXPECT_FALSE(folder.has("valid/epoch-2"));
  EXPECT_FALSE(folder.has("train/epoch-3/Loss.log"));
  EXPECT_EQ(folder.read("train/epoch-3/notes.txt"), "mine");
  EXPECT_EQ(folder.read("train/epoch-x/Loss.log"), "mine");
}

TEST(CsvFile, EveryValueALine) {
  TrainingFolder folder;
  CsvFile csv;
  SmallTraining training(csv, folder.path());
  training.begin();
  training.values[0].name = "a \"b\", c\nd";
  training.train(1);
  training.finish();
  Lines lines = folder.lines("metrics.csv");
  ASSERT_EQ(lines.size(), 1u + 2 * 3 + 2);
  EXPECT_EQ(lines[0], "event,split,epoch,step,total_step,items,time,name,value,"
                      "unit,role,better");
  EXPECT_EQ(lines[3], "step,train,1,2,2,8,1002,\"a \"\"b\"\", c d\","
                      "0.3333333333333333,,metric,lower");
  EXPECT_EQ(lines[8], "epoch,train,1,3,3,8,1003,Accuracy,10,%,metric,higher");
}

TEST(CsvFile, NumbersThatAreNone) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  TrainingFolder folder;
  CsvFile csv;
  JsonLines json;
  RunBegin run;
  run.folder = folder.path();
  std::vector<Value> values(4);
  values[0] = {.name = "a", .value = std::nan("")};
  values[1] = {.name = "b", .value = infinity};
  values[2] = {.name = "c", .value = -infinity};
  values[3] = {.name = "d\"\xFF", .value = 5e-324};
  for (Listener *each : std::initializer_list<Listener *>{&csv, &json}) {
    each->on(run);
    each->on(StepEnd{.values = values, .time = 1});
    each->flush();
  }
  Lines lines = folder.lines("metrics.csv");
  for (auto [line, text] :
       {std::pair(1, ",nan,"), {2, ",inf,"}, {3, ",-inf,"}, {4, ",5e-324,"}})
    EXPECT_NE(lines.at(size_t(line)).find(text), std::string::npos) << text;
  EXPECT_NE(folder.lines("events.jsonl")
                .at(1)
                .find(R"("values":{"a":"NaN","b":"Infinity","c":"-Infinity",)"
                      "\"d\\\"\xEF\xBF\xBD\":5e-324}}"),
            std::string::npos);
}

TEST(JsonLines, EveryEventALine) {
  TrainingFolder folder;
  JsonLines json;
  SmallTraining training(json, folder.path());
  training.run.config = R"({"seed": 3})";
  training.begin();
  json.on(EpochBegin{.time = 1});
  training.train(1);
  json.on(DeviceReport{.devices = {{.device = "cpu", .in_use = 5}}, .time = 1});
  json.on(CheckpointWritten{.path = "p", .time = 1});
  json.on(CheckpointRemoved{.path = "p", .time = 1});
  json.on(Message{.text = "hello", .time = 1});
  json.on(Interrupted{.why = "SIGINT", .time = 1});
  training.finish();
  Lines lines = folder.lines("events.jsonl");
  ASSERT_EQ(lines.size(), 12u);
  EXPECT_NE(lines[0].find(R"("config":{"seed":3})"), std::string::npos);
  Lines kinds = {"run",     "epoch_begin", "step",
                 "step",    "step",        "epoch",
                 "devices", "checkpoint",  "checkpoint_removed",
                 "message", "interrupted", "end"};
  for (size_t at = 0; at < lines.size(); ++at)
    EXPECT_TRUE(lines[at].starts_with("{\"event\":\"" + kinds[at] + "\""))
        << lines[at];
  EXPECT_EQ(lines[2], R"({"event":"step","split":"train","epoch":1,"step":1,)"
                      R"("total_step":1,"items":8,"time":1001,)"
                      R"("values":{"Loss":0.5,"Accuracy":10}})");
}

TEST(Logs, DamagedFilesAreCutWhereTheyStop) {
  TrainingFolder folder;
  std::ofstream(folder / "metrics.csv")
      << "event,split,epoch,step,total_step,items,time,name,value,unit,role,"
         "better\nstep,train,1,1,1,8,1,Loss,0.5,,metric,lower\nstep,train,1,"
         "what\nstep,train,1,2,2,8,1,Loss,0.5,,metric,lower\n";
  std::ofstream(folder / "events.jsonl") << "{\"event\":\"run\"}\n{\"event\":"
                                            "\"step\",\"split\":\"tr";
  CsvFile csv;
  JsonLines json;
  RunBegin run;
  run.folder = folder.path();
  run.resume = Resume{1, 10, 1};
  csv.on(run);
  json.on(run);
  csv.flush();
  json.flush();
  EXPECT_EQ(folder.lines("metrics.csv").size(), 2u);
  Lines lines = folder.lines("events.jsonl");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "{\"event\":\"run\"}");
}

TEST(Logs, FolderThatCannotBeWrittenIsAnErrorWithItsName) {
  CsvFile csv;
  RunBegin run;
  run.folder = "/dev/null/artifacts";
  try {
    csv.on(run);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("/dev/null/artifacts/metrics.csv"),
              std::string::npos);
  }
}

TEST(Logs, FullDiskEndsTheLogAndNotTheTraining) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "there is no /dev/full";
  TrainingFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "metrics.csv");
  Listeners listeners;
  auto background = std::make_shared<Background>(std::make_shared<CsvFile>());
  background->add(std::make_shared<ExperimentLog>());
  listeners.add(background);
  SmallTraining training(listeners, folder.path());
  training.begin();
  training.epochs(1, 2);
  training.finish();
  ASSERT_EQ(listeners.failures().size(), 1u);
  EXPECT_NE(listeners.failures()[0].find("metrics.csv"), std::string::npos);
  listeners.flush();
  EXPECT_NE(folder.read("experiment.log").find("No space left"),
            std::string::npos);
}

TEST(Logs, NothingIsWrittenWithoutAFolder) {
  CsvFile csv;
  JsonLines json;
  MetricLogs metrics;
  ExperimentLog log;
  for (Listener *each :
       std::initializer_list<Listener *>{&csv, &json, &metrics, &log}) {
    SmallTraining training(*each);
    training.begin();
    training.epochs(1, 1);
    training.finish();
  }
  EXPECT_FALSE(std::filesystem::exists("metrics.csv"));
}

} // namespace sinter::train
