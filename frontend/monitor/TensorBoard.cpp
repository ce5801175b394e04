/// A training's events as event files.
#include "frontend/monitor/EventRun.h"
#include "frontend/monitor/Kept.h"

#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace sinter::train {

using Json = nlohmann::ordered_json;
using Settings = std::vector<std::pair<std::string, EventFile::Setting>>;

/// The numbers, texts and truths of a config, by their path: `optimizer.beta1`.
static void flatten(const Json &json, const std::string &path, Settings &into,
                    int depth = 0) {
  constexpr int deepest = 32;
  if (json.is_structured() && depth < deepest) {
    for (const auto &[key, inner] : json.items())
      flatten(inner, path.empty() ? key : path + "." + key, into, depth + 1);
  } else if (path.empty() || json.is_null() || json.is_structured()) {
    return;
  } else if (json.is_number()) {
    into.emplace_back(path, json.get<double>());
  } else if (json.is_boolean()) {
    into.emplace_back(path, json.get<bool>());
  } else if (json.is_string()) {
    into.emplace_back(path, json.get<std::string>());
  }
}

/// As Markdown that changes nothing in it.
static std::string verbatim(std::string_view text) {
  std::string made = "    ";
  for (char letter : text) {
    made += letter;
    if (letter == '\n')
      made += "    ";
  }
  return made;
}

struct TensorBoard::State {
  std::string folder;
  std::array<std::optional<EventFile>, 2> files;
  int64_t lastStep = 0;
  /// Tags by their place in an event, as they were made last.
  std::vector<std::pair<std::string, std::string>> tags;

  void begin(const RunBegin &run);
  void open(const RunBegin &run, Split split);
  void describe(const RunBegin &run);
  void add(std::string_view kind, Split split, int64_t step, double time,
           std::span<const Value> values);
  EventFile *train() { return files[0] ? &*files[0] : nullptr; }
};

void TensorBoard::State::open(const RunBegin &run, Split split) {
  std::string place =
      below(below(run.folder, folder), std::string(to_string(split)));
  files[size_t(split)] = EventFile(
      EventFile::State::resume(place, split, run.resume.value_or(Resume{})));
}

void TensorBoard::State::begin(const RunBegin &run) {
  files = {};
  lastStep = run.resume ? run.resume->train_steps : 0;
  if (run.folder.empty())
    return;
  if (!run.resume) {
    namespace fs = std::filesystem;
    std::error_code code;
    for (Split split : {Split::train, Split::valid}) {
      fs::path place = fs::path(run.folder) / folder / to_string(split);
      for (const auto &entry : fs::directory_iterator(place, code))
        if (isEventFile(entry.path().filename().string()))
          fs::remove(entry.path(), code);
    }
  }
  open(run, Split::train);
  open(run, Split::valid);
  if (train()->state->isFresh)
    describe(run);
}

void TensorBoard::State::describe(const RunBegin &run) {
  Settings settings;
  Json config = Json::parse(run.config, nullptr, false);
  if (!config.is_discarded())
    flatten(config, "", settings);
  if (!settings.empty())
    train()->add_settings(settings, run.time);
  for (auto [name, text] : {std::pair("config", &run.config),
                            {"model", &run.model},
                            {"devices", &run.devices},
                            {"hardware", &run.hardware}})
    if (!text->empty())
      train()->add_text(name, verbatim(*text), 0, run.time);
}

void TensorBoard::State::add(std::string_view kind, Split split, int64_t step,
                             double time, std::span<const Value> values) {
  if (values.empty() || !files[size_t(split)])
    return;
  EventFile::State &file = *files[size_t(split)]->state;
  file.begin(step, time);
  for (size_t index = 0; index < values.size(); ++index) {
    if (index >= tags.size())
      tags.resize(index + 1);
    auto &[name, tag] = tags[index];
    if (name != values[index].name || !tag.starts_with(kind)) {
      name = values[index].name;
      tag = std::string(kind) + "/" + name;
    }
    file.value.clear();
    file.value.text(1, std::string_view(tag));
    file.value.single(2, float(values[index].value));
    file.addValue();
  }
  file.end();
}

TensorBoard::TensorBoard(std::string folder)
    : state(std::make_unique<State>()) {
  state->folder = std::move(folder);
}

TensorBoard::~TensorBoard() = default;

void TensorBoard::on(const Event &event) {
  if (const auto *step = std::get_if<StepEnd>(&event)) {
    if (step->split == Split::train)
      state->lastStep = step->total_step;
    state->add("step", step->split, step->total_step, step->time, step->values);
    return;
  }
  if (const auto *run = std::get_if<RunBegin>(&event))
    state->begin(*run);
  EventFile *train = state->train();
  if (!train)
    return;
  if (const auto *epoch = std::get_if<EpochEnd>(&event)) {
    state->add("epoch", epoch->split, epoch->epoch, epoch->time, epoch->values);
  } else if (const auto *histogram = std::get_if<Histogram>(&event)) {
    if (!histogram->counts.empty())
      train->add_histogram("histogram/" + histogram->name, *histogram,
                           histogram->total_step, histogram->time);
  } else if (const auto *end = std::get_if<RunEnd>(&event)) {
    if (!end->fusion.empty())
      train->add_text("fusion", verbatim(end->fusion), state->lastStep,
                      end->time);
    flush();
  }
}

void TensorBoard::flush() {
  for (std::optional<EventFile> &file : state->files)
    if (file)
      file->flush();
}

void TensorBoard::tick() { flush(); }

} // namespace sinter::train
