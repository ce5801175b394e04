/// A file for each metric, split and epoch.
#include "frontend/monitor/AppendFile.h"
#include "frontend/monitor/Figures.h"
#include "frontend/monitor/Kept.h"

#include <sinter/train/Logs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace sinter::train {

namespace fs = std::filesystem;

/// A name that is a file's on every system.
static std::string fileNameOf(std::string_view name) {
  std::string made;
  for (char letter : name.substr(0, 100)) {
    bool isPlain = (letter >= 'a' && letter <= 'z') ||
                   (letter >= 'A' && letter <= 'Z') ||
                   (letter >= '0' && letter <= '9') || letter == '-' ||
                   letter == '+' || (letter == '.' && !made.empty());
    made += isPlain ? letter : '_';
  }
  return made.empty() ? "_" : made;
}

/// What follows `epoch-`, or -1.
static int64_t epochOf(std::string_view folder) {
  constexpr std::string_view head = "epoch-";
  int64_t epoch = -1;
  if (!folder.starts_with(head))
    return -1;
  auto [end, error] = std::from_chars(folder.data() + head.size(),
                                      folder.data() + folder.size(), epoch);
  return error == std::errc() && end == folder.data() + folder.size() ? epoch
                                                                      : -1;
}

static bool isKeptLine(const Resume &resume, Split split,
                       std::string_view line) {
  LinePlace place;
  place.split = split;
  size_t comma = line.rfind(',');
  if (comma == line.npos)
    return false;
  const char *end = line.data() + line.size();
  return std::from_chars(line.data() + comma + 1, end, place.totalStep).ptr ==
             end &&
         isKept(resume, place);
}

/// Cuts what lies behind the point; files and folders without anything go.
static void cut(const std::string &folder, const Resume &resume) {
  std::error_code code;
  for (Split split : {Split::train, Split::valid}) {
    for (const fs::directory_entry &epoch :
         fs::directory_iterator(fs::path(folder) / to_string(split), code)) {
      int64_t number = epochOf(epoch.path().filename().string());
      if (number < 0 || number <= resume.epoch)
        continue;
      std::error_code inner;
      for (const auto &file : fs::directory_iterator(epoch.path(), inner))
        if (file.path().extension() == ".log" &&
            cutLines(file.path().string(), [&](std::string_view line) {
              return isKeptLine(resume, split, line);
            }) == 0)
          fs::remove(file.path(), inner);
      if (fs::is_empty(epoch.path(), inner))
        fs::remove(epoch.path(), inner);
    }
  }
}

struct MetricLogs::State {
  struct Log {
    std::string name; ///< of the metric
    std::string base; ///< of the file, without its end
    AppendFile output;
  };
  /// The files of a split, of the epoch that it is in.
  struct Open {
    int64_t epoch = -1;
    std::vector<Log> logs; ///< in the order of values
  };

  std::string folder;
  std::array<Open, 2> open;
  std::string line;

  template <typename E> Log &logOf(const E &event, size_t index);
  /// A line for each value of a step, or of an epoch.
  template <typename E> void add(const E &event);
  void addWhereNone(const EpochEnd &epoch);
};

template <typename E>
MetricLogs::State::Log &MetricLogs::State::logOf(const E &event, size_t index) {
  const std::string &name = event.values[index].name;
  std::vector<Log> &logs = open[size_t(event.split)].logs;
  if (index < logs.size() && logs[index].name == name) [[likely]]
    return logs[index];
  auto known = std::ranges::find(logs, name, &Log::name);
  if (known != logs.end())
    return *known;
  std::string base = fileNameOf(name), taken = base;
  for (int number = 2; std::ranges::count(logs, taken, &Log::base) > 0;
       ++number)
    taken = base + "-" + std::to_string(number);
  std::string path = "epoch-" + std::to_string(event.epoch);
  path = (fs::path(folder) / to_string(event.split) / path / taken).string();
  return logs.emplace_back(
      Log{name, std::move(taken), AppendFile(path + ".log")});
}

template <typename E> void MetricLogs::State::add(const E &event) {
  if (folder.empty() || event.values.empty())
    return;
  Open &now = open[size_t(event.split)];
  if (now.epoch != event.epoch) {
    now = {};
    now.epoch = event.epoch;
  }
  for (size_t index = 0; index < event.values.size(); ++index) {
    const Value &value = event.values[index];
    line.clear();
    addExact(line, value.value);
    line += ',';
    addWhole(line, int64_t(value.items));
    line += ',';
    addWhole(line, event.total_step);
    line += '\n';
    logOf(event, index).output.add(line);
  }
}

// An epoch in which nothing was read has its own values as its one line. What
// an earlier process left of it stays as it is.
void MetricLogs::State::addWhereNone(const EpochEnd &epoch) {
  if (open[size_t(epoch.split)].epoch == epoch.epoch)
    return;
  std::error_code code;
  std::string name = "epoch-" + std::to_string(epoch.epoch);
  if (!fs::exists(fs::path(folder) / to_string(epoch.split) / name, code))
    add(epoch);
}

MetricLogs::MetricLogs() : state(std::make_unique<State>()) {}

MetricLogs::~MetricLogs() = default;

void MetricLogs::on(const Event &event) {
  if (const auto *step = std::get_if<StepEnd>(&event)) {
    state->add(*step);
  } else if (const auto *run = std::get_if<RunBegin>(&event)) {
    state->open = {};
    state->folder = run->folder;
    if (!run->folder.empty())
      cut(run->folder, run->resume.value_or(Resume{}));
  } else if (const auto *epoch = std::get_if<EpochEnd>(&event)) {
    state->addWhereNone(*epoch);
    flush();
    state->open[size_t(epoch->split)] = {};
  } else if (std::holds_alternative<RunEnd>(event)) {
    flush();
  }
}

void MetricLogs::flush() {
  for (State::Open &each : state->open)
    for (State::Log &log : each.logs)
      log.output.flush();
}

void MetricLogs::tick() { flush(); }

} // namespace sinter::train
