/// TrainingFolder: a folder of a test's own, and events to fill it.
#pragma once

#include <sinter/train/Events.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sinter::train {

/// An empty folder that is removed at the end.
class TrainingFolder {
public:
  TrainingFolder() {
    std::string pattern = testing::TempDir() + "monitor-XXXXXX";
    name = ::mkdtemp(pattern.data());
  }
  TrainingFolder(const TrainingFolder &) = delete;
  ~TrainingFolder() {
    std::error_code code;
    std::filesystem::remove_all(name, code);
  }

  const std::string &path() const { return name; }
  std::string operator/(const std::string &file) const {
    return name + "/" + file;
  }
  std::string read(const std::string &file) const {
    std::ifstream input(*this / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
  }
  std::vector<std::string> lines(const std::string &file) const {
    std::ifstream input(*this / file);
    std::vector<std::string> read;
    for (std::string line; std::getline(input, line);)
      read.push_back(line);
    return read;
  }
  bool has(const std::string &file) const {
    return std::filesystem::exists(*this / file);
  }

private:
  std::string name;
};

/// A small training: `steps` of training and one of validation an epoch, with a
/// loss of 1/(step+1) and an accuracy of 10*epoch.
class SmallTraining {
public:
  static constexpr int64_t steps = 3;

  explicit SmallTraining(Listener &listener, std::string folder = {})
      : listener(listener) {
    run.name = "small";
    run.folder = std::move(folder);
    run.epochs = 4;
    run.train_steps = steps;
    run.valid_steps = 1;
    run.time = 1000;
    values.push_back(
        {.name = "Loss", .unit = {}, .better = Better::lower, .items = 8});
    values.push_back({.name = "Accuracy",
                      .unit = "%",
                      .better = Better::higher,
                      .items = 8});
  }

  void begin() { listener.on(run); }
  void resume(int64_t epoch, int64_t step = 0) {
    run.resume = Resume{epoch, epoch * steps + step, epoch};
    begin();
  }
  /// From that step of the epoch on, at most to that one.
  void train(int64_t epoch, int64_t from = 1, int64_t to = steps) {
    for (int64_t step = from; step <= to; ++step)
      emit(Split::train, epoch, step, (epoch - 1) * steps + step);
    if (to == steps)
      end(Split::train, epoch, steps, epoch * steps);
  }
  void valid(int64_t epoch) {
    emit(Split::valid, epoch, 1, epoch);
    end(Split::valid, epoch, 1, epoch);
  }
  void epochs(int64_t from, int64_t to) {
    for (int64_t epoch = from; epoch <= to; ++epoch) {
      train(epoch);
      valid(epoch);
    }
  }
  void finish() {
    RunEnd done;
    done.time = 2000;
    done.seconds = 1000;
    listener.on(done);
  }

  RunBegin run;
  std::vector<Value> values;

private:
  void compute(Split split, int64_t epoch, int64_t total) {
    values[0].value = 1.0 / double(total + 1);
    values[1].value = double(epoch) * 10 + (split == Split::valid ? 1 : 0);
  }
  void emit(Split split, int64_t epoch, int64_t step, int64_t total) {
    compute(split, epoch, total);
    listener.on(StepEnd{.split = split,
                        .epoch = epoch,
                        .step = step,
                        .steps = split == Split::train ? steps : 1,
                        .total_step = total,
                        .items = 8,
                        .values = values,
                        .time = 1000 + double(total)});
  }
  void end(Split split, int64_t epoch, int64_t count, int64_t total) {
    compute(split, epoch, total);
    listener.on(EpochEnd{.split = split,
                         .epoch = epoch,
                         .steps = count,
                         .total_step = total,
                         .items = uint64_t(count) * 8,
                         .seconds = double(count),
                         .values = values,
                         .time = 1000 + double(total)});
  }

  Listener &listener;
};

} // namespace sinter::train
