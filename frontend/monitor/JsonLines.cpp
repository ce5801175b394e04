/// Every event as a line of JSON.
#include "frontend/monitor/AppendFile.h"
#include "frontend/monitor/Figures.h"
#include "frontend/monitor/Kept.h"

#include <sinter/train/Logs.h>

#include <nlohmann/json.hpp>

#include <charconv>

namespace sinter::train {

using Json = nlohmann::ordered_json;

/// The number behind `key`, which stands before any text of the user's.
static bool numberAfter(std::string_view line, std::string_view key,
                        int64_t &into) {
  size_t at = line.find(key);
  if (at == line.npos)
    return false;
  const char *from = line.data() + at + key.size();
  return std::from_chars(from, line.data() + line.size(), into).ec ==
         std::errc();
}

static bool isKeptLine(const Resume &resume, std::string_view line) {
  constexpr std::string_view step = R"({"event":"step","split":")";
  constexpr std::string_view epoch = R"({"event":"epoch","split":")";
  LinePlace place;
  if (line.starts_with(step))
    line.remove_prefix(step.size());
  else if (line.starts_with(epoch))
    place.isEpoch = true, line.remove_prefix(epoch.size());
  else
    return line.starts_with('{') && line.ends_with('}');
  place.split = line.starts_with("train") ? Split::train : Split::valid;
  return numberAfter(line, R"("epoch":)", place.epoch) &&
         numberAfter(line, R"("total_step":)", place.totalStep) &&
         isKept(resume, place);
}

static Json jsonOf(const DeviceUse &use) {
  Json made = {{"device", use.device},
               {"in_use", use.in_use},
               {"peak", use.peak},
               {"total", use.total}};
  if (use.load >= 0)
    made["load"] = use.load;
  if (use.temperature != 0)
    made["temperature"] = use.temperature;
  return made;
}

static Json jsonOf(const std::vector<DeviceUse> &devices) {
  Json made = Json::array();
  for (const DeviceUse &use : devices)
    made.push_back(jsonOf(use));
  return made;
}

/// What is no JSON stays text.
static Json configOf(const std::string &text) {
  Json made = Json::parse(text, nullptr, false);
  return made.is_discarded() ? Json(text) : made;
}

namespace {

/// The line of an event that is no step.
struct LineOf {
  Json operator()(const RunBegin &run) const {
    Json made = {{"event", "run"},
                 {"time", run.time},
                 {"name", run.name},
                 {"config", configOf(run.config)},
                 {"model", run.model},
                 {"devices", run.devices},
                 {"hardware", run.hardware},
                 {"epochs", run.epochs},
                 {"parameters", run.parameters}};
    if (run.resume)
      made["resume"] = {{"epoch", run.resume->epoch},
                        {"train_steps", run.resume->train_steps},
                        {"valid_steps", run.resume->valid_steps}};
    return made;
  }
  Json operator()(const EpochBegin &begin) const {
    return {{"event", "epoch_begin"},
            {"time", begin.time},
            {"epoch", begin.epoch},
            {"train_steps", begin.train_steps},
            {"valid_steps", begin.valid_steps}};
  }
  Json operator()(const DeviceReport &report) const {
    return {{"event", "devices"},
            {"time", report.time},
            {"devices", jsonOf(report.devices)}};
  }
  Json operator()(const CheckpointWritten &written) const {
    return {{"event", "checkpoint"},
            {"time", written.time},
            {"path", written.path},
            {"epoch", written.epoch},
            {"train_steps", written.train_steps},
            {"bytes", written.bytes},
            {"why", written.why}};
  }
  Json operator()(const CheckpointRemoved &removed) const {
    return {{"event", "checkpoint_removed"},
            {"time", removed.time},
            {"path", removed.path}};
  }
  Json operator()(const Message &message) const {
    return {{"event", "message"},
            {"time", message.time},
            {"level", to_string(message.level)},
            {"text", message.text}};
  }
  Json operator()(const Interrupted &interrupted) const {
    return {{"event", "interrupted"},
            {"time", interrupted.time},
            {"why", interrupted.why}};
  }
  Json operator()(const RunEnd &end) const {
    return {{"event", "end"},
            {"time", end.time},
            {"status", to_string(end.status)},
            {"why", end.why},
            {"seconds", end.seconds},
            {"devices", jsonOf(end.devices)},
            {"fusion", end.fusion},
            {"programs", end.programs},
            {"cached", end.cached},
            {"compile_seconds", end.compile_seconds}};
  }
  // Steps and epochs are written without this.
  Json operator()(const StepEnd &) const { return {}; }
  Json operator()(const EpochEnd &) const { return {}; }
  Json operator()(const Histogram &) const { return {}; }
};

} // namespace

struct JsonLines::State {
  std::string file;
  AppendFile output;
  std::string line;
  /// Names as they stand in a line, with quotes, by their place in the event.
  std::vector<std::pair<std::string, std::string>> keys;

  void begin(const RunBegin &run);
  const std::string &keyOf(size_t index, const std::string &name);
  template <typename E>
  void add(std::string_view kind, const E &event, int64_t step);
};

void JsonLines::State::begin(const RunBegin &run) {
  output = {};
  if (run.folder.empty())
    return;
  std::string path = below(run.folder, file);
  if (run.resume)
    cutLines(path, [&](std::string_view text) {
      return isKeptLine(*run.resume, text);
    });
  output = AppendFile(path, !run.resume);
}

const std::string &JsonLines::State::keyOf(size_t index,
                                           const std::string &name) {
  if (index >= keys.size())
    keys.resize(index + 1);
  auto &[known, key] = keys[index];
  if (key.empty() || known != name) {
    known = name;
    key.clear();
    addJson(key, std::string_view(name));
    key += ':';
  }
  return key;
}

template <typename E>
void JsonLines::State::add(std::string_view kind, const E &event,
                           int64_t step) {
  line.clear();
  line.append(R"({"event":")").append(kind).append(R"(","split":")");
  line.append(to_string(event.split)).append("\"");
  for (auto [key, number] : {std::pair(R"(,"epoch":)", event.epoch),
                             {R"(,"step":)", step},
                             {R"(,"total_step":)", event.total_step},
                             {R"(,"items":)", int64_t(event.items)}}) {
    line += key;
    addWhole(line, number);
  }
  line += R"(,"time":)";
  addJson(line, event.time);
  line += R"(,"values":{)";
  for (size_t index = 0; index < event.values.size(); ++index) {
    if (index > 0)
      line += ',';
    line += keyOf(index, event.values[index].name);
    addJson(line, event.values[index].value);
  }
  line += "}}\n";
  output.add(line);
}

JsonLines::JsonLines(std::string file) : state(std::make_unique<State>()) {
  state->file = std::move(file);
}

JsonLines::~JsonLines() = default;

void JsonLines::on(const Event &event) {
  if (const auto *run = std::get_if<RunBegin>(&event))
    state->begin(*run);
  if (!state->output)
    return;
  if (const auto *step = std::get_if<StepEnd>(&event)) {
    state->add("step", *step, step->step);
  } else if (const auto *epoch = std::get_if<EpochEnd>(&event)) {
    state->add("epoch", *epoch, epoch->steps);
  } else if (!std::holds_alternative<Histogram>(event)) {
    Json made = std::visit(LineOf(), event);
    state->output.add(
        made.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  if (std::holds_alternative<RunEnd>(event))
    flush();
}

void JsonLines::flush() {
  if (state->output)
    state->output.flush();
}

void JsonLines::tick() { flush(); }

} // namespace sinter::train
