/// Logs: a training's lines and numbers, as files of its artifact folder.
///
/// Each of these writes below `RunBegin::folder`, and nothing where that is
/// empty. A run that begins anew replaces the files of an earlier one; one that
/// goes on (`RunBegin::resume`) cuts what lies behind the point where it does,
/// and appends. They write, so they belong into a `Background`. Errors are of
/// kind `io`.
#pragma once

#include <sinter/train/Events.h>

#include <memory>
#include <string>

namespace sinter::train {

/// `experiment.log`: what happened and when, for people. A line is
///
///     2026-01-31T12:34:56.789Z info    epoch 1 train: Loss 0.1234
///
/// with the time in UTC; lines that belong to the one before are indented. A
/// run that goes on appends, and cuts nothing: what led to the end before
/// stays.
class ExperimentLog final : public Listener {
public:
  explicit ExperimentLog(std::string file = "experiment.log");
  ~ExperimentLog() override;

  void on(const Event &event) override;
  void flush() override;
  void tick() override;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// `train/epoch-1/Loss.log`: a file for each metric, split and epoch. A line is
/// `value,items,total_step`: of each reading, its value, the items that it was
/// taken over, and the step over the whole run. In names, what is no letter,
/// digit, `-`, `.` or `+` becomes `_`.
class MetricLogs final : public Listener {
public:
  MetricLogs();
  ~MetricLogs() override;

  void on(const Event &event) override;
  void flush() override;
  void tick() override;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// `metrics.csv`: every value, a line each (RFC 4180, with a line of names
/// first):
///
///     event,split,epoch,step,total_step,items,time,name,value,unit,role,better
///
/// `event` is `step` or `epoch`, whose `step` is how many it had; `role` and
/// `better` are called as in Role and Better. Numbers have the digits that give
/// the same f64 when they are read; others are `nan`, `inf`, `-inf`.
class CsvFile final : public Listener {
public:
  explicit CsvFile(std::string file = "metrics.csv");
  ~CsvFile() override;

  void on(const Event &event) override;
  void flush() override;
  void tick() override;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// `events.jsonl`: every event, a JSON object a line. `event` is `run`,
/// `epoch_begin`, `step`, `epoch`, `devices`, `checkpoint`,
/// `checkpoint_removed`, `message`, `interrupted` or `end`. Values are an
/// object by name; JSON has no other numbers, so these are the strings "NaN",
/// "Infinity" and "-Infinity". Histograms are left out.
class JsonLines final : public Listener {
public:
  explicit JsonLines(std::string file = "events.jsonl");
  ~JsonLines() override;

  void on(const Event &event) override;
  void flush() override;
  void tick() override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sinter::train
