/// Bars, curves, a table and messages as lines.
#include "frontend/monitor/terminal/DashboardPicture.h"

#include "frontend/monitor/Figures.h"
#include "frontend/monitor/terminal/Plot.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sinter::train {

namespace {

/// Makes the lines of one picture.
class Picture {
public:
  Picture(const Progress &progress, const Look &look)
      : progress(progress), look(look) {}

  std::vector<std::string> draw();

private:
  void addHead();
  void addBar(std::string_view label, double share, const std::string &text);
  void addBars();
  void addCurves(int height);
  void addTable(const std::vector<std::string> &names);
  void addRow(const std::string &name);
  void addSystem();
  void addDevice(const DeviceUse &use);
  void addMessages(int count);
  void addEnd();
  std::string bar(double share, int width) const;
  int room() const { return look.rows - 1 - int(lines.size()); }
  void put(ScreenLine &line) { lines.push_back(line.take()); }

  const Progress &progress;
  const Look &look;
  std::vector<std::string> lines;
};

} // namespace

std::string Picture::bar(double share, int width) const {
  static constexpr std::array<std::string_view, 8> parts = {"",  "▏", "▎", "▍",
                                                            "▌", "▋", "▊", "▉"};
  share = std::clamp(share, 0.0, 1.0);
  auto eighths = int(share * width * 8);
  std::string made;
  for (int cell = 0; cell < eighths / 8; ++cell)
    made += look.isUnicode ? "█" : "#";
  if (look.isUnicode)
    made += parts[size_t(eighths % 8)];
  made.append(size_t(std::max(width - columnsOf(made), 0)),
              look.isUnicode ? ' ' : '.');
  return look.isUnicode ? "▕" + made + "▏" : "[" + made + "]";
}

void Picture::addHead() {
  ScreenLine line(look);
  line.add(printableName(progress.run.name), Style::bold);
  std::string devices = progress.run.devices;
  devices.resize(std::min(devices.find('\n'), devices.size()));
  if (!devices.empty())
    line.add("  ").add(printableName(devices), Style::quiet);
  line.right(look.columns - 1, "  " + duration(progress.elapsed()));
  put(line);
}

void Picture::addBar(std::string_view label, double share,
                     const std::string &text) {
  ScreenLine line(look);
  int width = std::clamp(look.columns - 62, 10, 60);
  line.add(label).to(15).add(bar(share, width), Style::train);
  line.add(fmt::format(" {:3.0f} %  ", share * 100)).add(text);
  put(line);
}

static std::string leftText(const std::optional<double> &seconds) {
  return seconds ? "ETA " + duration(*seconds) : "";
}

void Picture::addBars() {
  const Progress &now = progress;
  std::string label =
      now.epoch == 0 ? "begins" : std::string(to_string(now.split));
  double share = now.steps > 0 ? double(now.step) / double(now.steps) : 0;
  std::string text = grouped(now.step);
  if (now.steps > 0)
    text += "/" + grouped(now.steps);
  if (now.rate() > 0)
    text += fmt::format("  {} it/s", shortNumber(now.rate()));
  addBar(label, share, text + "  " + leftText(now.epochLeft()));
  label = fmt::format("epoch {}", now.epoch);
  if (now.run.epochs > 0)
    label += fmt::format("/{}", now.run.epochs);
  addBar(label, now.share().value_or(0), leftText(now.runLeft()));
}

void Picture::addCurves(int height) {
  std::vector<std::string> names = progress.history.names(Role::metric);
  constexpr int narrowest = 38;
  int count = std::clamp(int(names.size()), 1, look.columns / narrowest);
  int width = (look.columns - 1) / std::max(count, 1);
  std::vector<Plot> plots;
  ScreenLine title(look);
  for (int index = 0; index < count; ++index) {
    Plot &plot = plots.emplace_back(width - 2, height - 1, look.isUnicode);
    if (size_t(index) >= names.size())
      continue;
    const History &history = progress.history;
    const std::string &name = names[size_t(index)];
    const Curve *train = history.find(name, Split::train, false);
    if (!train || train->points.size() < 2)
      train = history.find(name, Split::train, true);
    const Curve *valid = history.find(name, Split::valid, true);
    plot.draw(train, valid);
    title.to(index * width + 9).add(printableName(name), Style::bold);
    title.add(look.isUnicode ? "  ─ train" : "  * train", Style::train);
    if (valid)
      title.add(look.isUnicode ? "  ● valid" : "  o valid", Style::valid);
  }
  put(title);
  for (int row = 0; row < height - 1; ++row) {
    ScreenLine line(look);
    for (int index = 0; index < count; ++index) {
      line.to(index * width);
      plots[size_t(index)].addRow(row, line);
    }
    put(line);
  }
}

static std::string lastOf(const Curve *curve) {
  if (!curve || curve->readings == 0)
    return "-";
  Value value;
  value.value = curve->last;
  value.unit = curve->unit;
  return shortValue(value);
}

void Picture::addRow(const std::string &name) {
  const History &history = progress.history;
  const Curve *step = history.find(name, Split::train, false);
  const Curve *train = history.find(name, Split::train, true);
  const Curve *valid = history.find(name, Split::valid, true);
  const Curve *judge = valid ? valid : train;
  ScreenLine line(look);
  line.add(cutToColumns(printableName(name), 22)).to(23);
  line.right(37, lastOf(step), Style::train);
  line.right(50, lastOf(train), Style::train);
  line.right(63, lastOf(valid), Style::valid);
  if (judge && judge->bestEpoch > 0) {
    Value best;
    best.value = judge->best;
    best.unit = judge->unit;
    line.add("  " + shortValue(best))
        .add(fmt::format(" @{}", judge->bestEpoch), Style::quiet);
  }
  put(line);
}

void Picture::addTable(const std::vector<std::string> &names) {
  if (names.empty())
    return;
  ScreenLine head(look);
  head.right(37, "train now", Style::quiet);
  head.right(50, "train epoch", Style::quiet);
  head.right(63, "valid epoch", Style::quiet);
  head.add("  best @epoch", Style::quiet);
  put(head);
  for (const std::string &name : names)
    addRow(name);
}

void Picture::addSystem() {
  ScreenLine line(look);
  for (Role role : {Role::learning_rate, Role::system})
    for (const std::string &name : progress.history.names(role)) {
      const Curve *curve = progress.history.find(name, progress.split, false);
      if (!curve)
        curve = progress.history.find(name, Split::train, false);
      if (curve)
        line.add(line.width() > 0 ? "   " : "")
            .add(printableName(name) + " ", Style::quiet)
            .add(lastOf(curve));
    }
  if (line.width() > 0)
    put(line);
}

void Picture::addDevice(const DeviceUse &use) {
  ScreenLine line(look);
  line.add(cutToColumns(printableName(use.device), 13)).to(14).add(" ");
  if (use.total > 0)
    line.add(bar(double(use.in_use) / double(use.total), 8), Style::valid)
        .add(" ");
  line.add(shortBytes(double(use.in_use)));
  if (use.total > 0)
    line.add(" of " + shortBytes(double(use.total)));
  line.add(", peak " + shortBytes(double(use.peak)), Style::quiet);
  if (use.load >= 0)
    line.add(fmt::format("  load {:.0f} %", use.load * 100));
  if (use.temperature != 0)
    line.add(fmt::format("  {:.0f} {}", use.temperature,
                         look.isUnicode ? "°C" : "C"));
  put(line);
}

void Picture::addMessages(int count) {
  const auto &all = progress.messages;
  for (size_t at = all.size() - std::min(all.size(), size_t(count));
       at < all.size(); ++at) {
    ScreenLine line(look);
    std::string text = printable(all[at].text);
    std::ranges::replace(text, '\n', ' ');
    std::ranges::replace(text, '\t', ' ');
    line.add(timestamp(all[at].time).substr(11, 8) + "  ", Style::quiet);
    line.add(text, all[at].level >= Level::warning ? Style::bad : Style::plain);
    put(line);
  }
}

void Picture::addEnd() {
  if (!progress.end)
    return;
  const RunEnd &end = *progress.end;
  ScreenLine line(look);
  line.add(to_string(end.status),
           end.status == Status::failed ? Style::bad : Style::bold);
  if (!end.why.empty()) {
    std::string why = printable(end.why);
    std::ranges::replace(why, '\n', ' ');
    line.add(": " + why);
  }
  line.add(" after " + duration(end.seconds));
  put(line);
}

std::vector<std::string> Picture::draw() {
  std::vector<std::string> names = progress.history.names(Role::metric);
  addHead();
  addBars();
  // What is below the curves, and its least share of a low terminal.
  auto values = int(std::min<size_t>(names.size(), 8));
  auto devices = int(std::min<size_t>(progress.devices.size(), 8));
  int below =
      (values > 0 ? values + 1 : 0) + devices + 1 + (progress.end ? 1 : 0);
  auto said = int(std::min<size_t>(progress.messages.size(), 3));
  int height = room() - below - said;
  if (height >= 5) {
    addCurves(std::min(height, 30));
  } else if (values > 0) {
    values =
        std::clamp(room() - devices - 2 - (progress.end ? 1 : 0), 0, values);
  }
  names.resize(size_t(std::max(values, 0)));
  addTable(names);
  addSystem();
  for (int device = 0; device < devices; ++device)
    addDevice(progress.devices[size_t(device)]);
  addMessages(std::clamp(room() - (progress.end ? 1 : 0), 0, 10));
  addEnd();
  // A terminal of a few lines has the bars alone.
  lines.resize(std::min(lines.size(), size_t(std::max(look.rows - 1, 1))));
  return lines;
}

std::vector<std::string> pictureOf(const Progress &progress, const Look &look) {
  return Picture(progress, look).draw();
}

//===- Lines --------------------------------------------------------------===//

static std::string valuesText(std::span<const Value> values) {
  std::string text;
  for (const Value &value : values)
    text +=
        fmt::format("  {} {}", printableName(value.name), shortValue(value));
  return text;
}

static std::string epochText(const Progress &progress) {
  std::string text = fmt::format("epoch {}", progress.epoch);
  if (progress.run.epochs > 0)
    text += fmt::format("/{}", progress.run.epochs);
  return text;
}

std::string beginLine(const Progress &progress) {
  const RunBegin &run = progress.run;
  std::string text = printableName(run.name);
  if (run.epochs > 0)
    text += fmt::format(": {} epochs", run.epochs);
  if (run.train_steps > 0)
    text += fmt::format(" of {} steps", run.train_steps);
  if (!run.devices.empty())
    text += " on " + printableName(run.devices);
  if (run.resume)
    text += fmt::format(", goes on after epoch {}", run.resume->epoch);
  return text + "\n";
}

std::string stepLine(const Progress &progress, const StepEnd &step) {
  std::string text = fmt::format("{} {} {}", epochText(progress),
                                 to_string(step.split), step.step);
  if (step.steps > 0)
    text += fmt::format("/{} ({:.0f} %)", step.steps,
                        100 * double(step.step) / double(step.steps));
  text += valuesText(step.values);
  if (progress.rate() > 0)
    text += fmt::format("  {} it/s", shortNumber(progress.rate()));
  if (std::optional<double> left = progress.runLeft())
    text += "  ETA " + duration(*left);
  return text + "\n";
}

std::string epochLine(const Progress &progress, const EpochEnd &epoch) {
  return fmt::format("{} {} done in {}{}\n", epochText(progress),
                     to_string(epoch.split), duration(epoch.seconds),
                     valuesText(epoch.values));
}

std::string endLine(const Progress &progress) {
  const RunEnd &end = *progress.end;
  std::string why = end.why.empty() ? "" : ": " + printable(end.why);
  return fmt::format("{}{} after {}\n", to_string(end.status), why,
                     duration(end.seconds));
}

} // namespace sinter::train
