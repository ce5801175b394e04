/// The parts of a training's page.
#include "frontend/monitor/ReportPage.h"

#include "frontend/monitor/Figures.h"
#include "frontend/monitor/SvgChart.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::train {

using Json = nlohmann::ordered_json;

// The colours and forms of the page of `sinter report`.
static constexpr std::string_view style = R"(
:root {
  color-scheme: light dark;
  --back: #fcfcfb; --card: #ffffff; --line: #d9d8d3; --grid: #eae9e4;
  --text: #1b1b1a; --quiet: #5d5c57; --bad: #b3261e; --stripe: #f4f3f0;
  --train: #2a78d6; --valid: #d9822b;
}
@media (prefers-color-scheme: dark) { :root {
  --back: #161615; --card: #20201f; --line: #3c3b38; --grid: #2b2b29;
  --text: #f0efec; --quiet: #a8a69f; --bad: #ff8a80; --stripe: #262624;
  --train: #5598e7; --valid: #e59a4c;
} }
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 14px/1.45 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { padding: 8px 16px 24px; max-width: 1380px; margin: 0 auto; }
h1 { font-size: 19px; margin: 8px 0; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 18px 0 6px; }
h3 { font-size: 13px; margin: 0 0 4px; overflow-wrap: anywhere; }
h3 span { font-weight: 400; margin-left: 10px; }
p { margin: 4px 0; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); } .bad { color: var(--bad); }
dl.totals { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; }
dl.totals div { background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: 6px 12px; flex: 1 1 96px; }
dt { color: var(--quiet); font-size: 12px; }
dd { margin: 0; font-size: 18px; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; }
.charts { display: grid; gap: 12px;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); }
.chart { background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: 8px 10px; min-width: 0; }
svg { display: block; width: 100%; }
svg text { fill: var(--quiet); font-size: 11px; }
.rule { stroke: var(--grid); }
.curve { fill: none; stroke-width: 1.6; }
.curve.train { stroke: var(--train); } .curve.valid { stroke: var(--valid); }
.band { fill-opacity: .18; }
.band.train, circle.train { fill: var(--train); }
.band.valid, circle.valid { fill: var(--valid); }
.train-name { color: var(--train); } .valid-name { color: var(--valid); }
.scroll { overflow: auto; border: 1px solid var(--line); border-radius: 8px;
  background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: 13px;
  font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--quiet); font-weight: 600; }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--grid);
  vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; white-space: nowrap; }
pre { overflow: auto; max-height: 420px; background: var(--stripe); margin: 4px 0;
  padding: 8px; border-radius: 6px; font-size: 12px;
  font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
)";

namespace {

class Page {
public:
  Page(const Progress &progress,
       const std::vector<CheckpointWritten> &checkpoints)
      : progress(progress), checkpoints(checkpoints) {}

  std::string write();

private:
  void addTotals();
  void addTile(std::string_view title, std::string_view text);
  void addCharts(Role role, std::string_view title);
  void addValues();
  void addDevices();
  void addConfig();
  void addRows(const Json &json, const std::string &path, int depth);
  void addBlock(std::string_view title, const std::string &text);
  void addCheckpoints();
  void addMessages();
  /// The head of a table; a title that begins with `#` is of numbers.
  void openTable(std::string_view title,
                 std::initializer_list<std::string_view> columns);
  void closeTable() { page += "</tbody></table></div>\n"; }
  void cell(std::string_view text, bool isNumber = false) {
    page += isNumber ? "<td class=\"number\">" : "<td>";
    page += escapedHtml(text) + "</td>";
  }

  const Progress &progress;
  const std::vector<CheckpointWritten> &checkpoints;
  std::string page;
};

} // namespace

void Page::addTile(std::string_view title, std::string_view text) {
  page += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", title,
                      escapedHtml(text));
}

void Page::addTotals() {
  const RunBegin &run = progress.run;
  page += "<dl class=\"totals\">\n";
  addTile("Status", progress.end ? to_string(progress.end->status) : "running");
  std::string epochs = grouped(progress.epoch);
  if (run.epochs > 0)
    epochs += " of " + grouped(run.epochs);
  addTile("Epoch", epochs);
  addTile("Steps", grouped(progress.history.trainSteps()));
  addTile("Time",
          duration(progress.end ? progress.end->seconds : progress.elapsed()));
  if (run.parameters > 0)
    addTile("Parameters", grouped(run.parameters));
  for (const DeviceUse &use : progress.devices)
    addTile("Peak of " + escapedHtml(use.device), shortBytes(double(use.peak)));
  if (progress.end)
    addTile("Programs compiled", grouped(int64_t(progress.end->programs)) +
                                     " in " +
                                     duration(progress.end->compile_seconds));
  page += "</dl>\n";
  if (progress.end && !progress.end->why.empty())
    page +=
        fmt::format("<p class=\"{}\">{}</p>\n",
                    progress.end->status == Status::failed ? "bad" : "quiet",
                    escapedHtml(progress.end->why));
}

void Page::addCharts(Role role, std::string_view title) {
  std::vector<std::string> names = progress.history.names(role);
  if (names.empty())
    return;
  page += fmt::format("<h2>{}</h2>\n<div class=\"charts\">\n", title);
  for (const std::string &name : names) {
    const History &history = progress.history;
    const Curve *train = history.find(name, Split::train, false);
    if (!train || train->points.size() < 2)
      train = history.find(name, Split::train, true);
    const Curve *valid = history.find(name, Split::valid, true);
    page += "<div class=\"chart\"><h3>" + escapedHtml(name);
    const Curve *any = train ? train : valid;
    if (any && !any->unit.empty())
      page += " (" + escapedHtml(any->unit) + ")";
    if (train)
      page += "<span class=\"train-name\">train</span>";
    if (valid)
      page += "<span class=\"valid-name\">valid</span>";
    page += "</h3>" + svgChart(train, valid) + "</div>\n";
  }
  page += "</div>\n";
}

void Page::openTable(std::string_view title,
                     std::initializer_list<std::string_view> columns) {
  page += fmt::format("<h2>{}</h2>\n<div class=\"scroll\"><table><thead><tr>",
                      title);
  for (std::string_view column : columns)
    page += column.starts_with('#')
                ? fmt::format("<th class=\"number\">{}</th>", column.substr(1))
                : fmt::format("<th>{}</th>", column);
  page += "</tr></thead><tbody>\n";
}

static std::string textOf(const Curve *curve, double value) {
  Value shown;
  shown.value = value;
  shown.unit = curve->unit;
  return shortValue(shown);
}

void Page::addValues() {
  if (progress.history.all().empty())
    return;
  openTable("Values",
            {"Name", "Split", "Of", "#Readings", "#Last", "#Best", "#Epoch"});
  for (const Curve &curve : progress.history.all()) {
    page += "<tr>";
    cell(curve.name);
    cell(to_string(curve.split));
    cell(curve.isEpoch ? "epochs" : "steps");
    cell(grouped(int64_t(curve.readings)), true);
    cell(textOf(&curve, curve.last), true);
    bool hasBest = curve.bestEpoch > 0;
    cell(hasBest ? textOf(&curve, curve.best) : "", true);
    cell(hasBest ? grouped(curve.bestEpoch) : "", true);
    page += "</tr>\n";
  }
  closeTable();
}

void Page::addDevices() {
  if (progress.devices.empty())
    return;
  openTable("Memory", {"Device", "#In use", "#Peak", "#Of"});
  for (const DeviceUse &use : progress.devices) {
    page += "<tr>";
    cell(use.device);
    for (uint64_t bytes : {use.in_use, use.peak})
      cell(shortBytes(double(bytes)), true);
    cell(use.total > 0 ? shortBytes(double(use.total)) : "", true);
    page += "</tr>\n";
  }
  closeTable();
}

void Page::addRows(const Json &json, const std::string &path, int depth) {
  constexpr int deepest = 32;
  if (json.is_object() && depth < deepest && !json.empty()) {
    for (const auto &[key, inner] : json.items())
      addRows(inner, path.empty() ? key : path + "." + key, depth + 1);
    return;
  }
  page += "<tr>";
  cell(path);
  cell(json.is_string()
           ? json.get<std::string>()
           : json.dump(-1, ' ', false, Json::error_handler_t::replace));
  page += "</tr>\n";
}

void Page::addConfig() {
  Json config = Json::parse(progress.run.config, nullptr, false);
  if (!config.is_object()) {
    addBlock("Config", progress.run.config);
    return;
  }
  openTable("Config", {"Setting", "Value"});
  addRows(config, "", 0);
  closeTable();
}

void Page::addBlock(std::string_view title, const std::string &text) {
  if (!text.empty())
    page +=
        fmt::format("<h2>{}</h2>\n<pre>{}</pre>\n", title, escapedHtml(text));
}

void Page::addCheckpoints() {
  if (checkpoints.empty())
    return;
  openTable("Checkpoints", {"Path", "#Epoch", "#Step", "#Size", "Why"});
  for (const CheckpointWritten &written : checkpoints) {
    page += "<tr>";
    cell(written.path);
    cell(grouped(written.epoch), true);
    cell(grouped(written.train_steps), true);
    cell(shortBytes(double(written.bytes)), true);
    cell(written.why);
    page += "</tr>\n";
  }
  closeTable();
}

void Page::addMessages() {
  if (progress.messages.empty())
    return;
  openTable("Messages", {"Time", "Level", "Text"});
  for (const Message &message : progress.messages) {
    page += "<tr>";
    cell(timestamp(message.time));
    cell(to_string(message.level));
    cell(message.text);
    page += "</tr>\n";
  }
  closeTable();
}

std::string Page::write() {
  const RunBegin &run = progress.run;
  std::string name = escapedHtml(run.name.empty() ? "training" : run.name);
  page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
         "<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
         "'none'; style-src 'unsafe-inline'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\">\n";
  page += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
                      "<main>\n<h1>{}</h1>\n",
                      name, style, name);
  page += fmt::format("<p class=\"quiet\">Begun {}, last change {}</p>\n",
                      timestamp(run.time), timestamp(progress.time));
  addTotals();
  addCharts(Role::metric, "Metrics");
  addCharts(Role::learning_rate, "Learning rates");
  addCharts(Role::system, "Machine");
  addValues();
  addConfig();
  addBlock("Model", run.model);
  addBlock("Devices", run.devices);
  addBlock("Hardware", run.hardware);
  addDevices();
  addBlock("Fusion", progress.end ? progress.end->fusion : "");
  addCheckpoints();
  addMessages();
  page += "</main>\n</body>\n</html>\n";
  return std::move(page);
}

std::string reportPage(const Progress &progress,
                       const std::vector<CheckpointWritten> &checkpoints) {
  return Page(progress, checkpoints).write();
}

} // namespace sinter::train
