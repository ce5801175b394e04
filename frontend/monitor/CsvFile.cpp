/// Every value as a line of a table.
#include "frontend/monitor/AppendFile.h"
#include "frontend/monitor/Figures.h"
#include "frontend/monitor/Kept.h"

#include <sinter/train/Logs.h>

#include <charconv>
#include <filesystem>

namespace sinter::train {

std::string below(const std::string &folder, const std::string &path) {
  return (std::filesystem::path(folder) / path).string();
}

static void addField(std::string &text, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == field.npos) {
    text += field;
    return;
  }
  text += '"';
  for (char letter : field) {
    if (letter == '"')
      text += '"';
    // One event is one line, also for readers that know no quotes.
    text += letter == '\n' || letter == '\r' ? ' ' : letter;
  }
  text += '"';
}

/// Takes the next field off a line.
static std::string takeField(std::string_view &line) {
  std::string field;
  bool isQuoted = line.starts_with('"');
  size_t at = isQuoted ? 1 : 0;
  for (; at < line.size(); ++at) {
    if (isQuoted && line[at] == '"') {
      if (at + 1 >= line.size() || line[at + 1] != '"')
        break;
      ++at;
    } else if (!isQuoted && line[at] == ',') {
      break;
    }
    field += line[at];
  }
  size_t comma = line.find(',', at);
  line.remove_prefix(comma == line.npos ? line.size() : comma + 1);
  return field;
}

template <typename T> static bool takeNumber(std::string_view &line, T &into) {
  std::string field = takeField(line);
  const char *end = field.data() + field.size();
  auto [at, error] = std::from_chars(field.data(), end, into);
  return error == std::errc() && at == end;
}

bool readCsvLine(std::string_view line, CsvLine &into) {
  std::string event = takeField(line), split = takeField(line);
  if ((event != "step" && event != "epoch") ||
      (split != "train" && split != "valid"))
    return false;
  into.place.isEpoch = event == "epoch";
  into.place.split = split == "train" ? Split::train : Split::valid;
  int64_t step = 0;
  if (!takeNumber(line, into.place.epoch) || !takeNumber(line, step) ||
      !takeNumber(line, into.place.totalStep) ||
      !takeNumber(line, into.value.items) || !takeNumber(line, into.time))
    return false;
  into.value.name = takeField(line);
  if (!takeNumber(line, into.value.value))
    return false;
  into.value.unit = takeField(line);
  std::string role = takeField(line), better = takeField(line);
  for (Role each : {Role::metric, Role::learning_rate, Role::system})
    if (role == to_string(each))
      into.value.role = each;
  for (Better each : {Better::neither, Better::lower, Better::higher})
    if (better == to_string(each))
      into.value.better = each;
  return true;
}

struct CsvFile::State {
  std::string file;
  AppendFile output;
  std::string line;

  void begin(const RunBegin &run);
  template <typename E>
  void add(std::string_view kind, const E &event, int64_t step);
};

void CsvFile::State::begin(const RunBegin &run) {
  output = {};
  if (run.folder.empty())
    return;
  std::string path = below(run.folder, file);
  uint64_t kept = 0;
  if (run.resume)
    kept = cutLines(path, [&](std::string_view text) {
      CsvLine read;
      return text == csvHead ||
             (readCsvLine(text, read) && isKept(*run.resume, read.place));
    });
  output = AppendFile(path, !run.resume);
  if (kept == 0) {
    output.add(csvHead);
    output.add("\n");
  }
}

template <typename E>
void CsvFile::State::add(std::string_view kind, const E &event, int64_t step) {
  if (!output || event.values.empty())
    return;
  line.clear();
  line.append(kind).append(",").append(to_string(event.split)).append(",");
  for (int64_t number : {event.epoch, step, event.total_step}) {
    addWhole(line, number);
    line += ',';
  }
  size_t shared = line.size();
  for (const Value &value : event.values) {
    line.resize(shared);
    addWhole(line, int64_t(value.items));
    line += ',';
    addExact(line, event.time);
    line += ',';
    addField(line, value.name);
    line += ',';
    addExact(line, value.value);
    line += ',';
    addField(line, value.unit);
    line.append(",").append(to_string(value.role));
    line.append(",").append(to_string(value.better)).append("\n");
    output.add(line);
  }
}

CsvFile::CsvFile(std::string file) : state(std::make_unique<State>()) {
  state->file = std::move(file);
}

CsvFile::~CsvFile() = default;

void CsvFile::on(const Event &event) {
  if (const auto *step = std::get_if<StepEnd>(&event))
    state->add("step", *step, step->step);
  else if (const auto *epoch = std::get_if<EpochEnd>(&event))
    state->add("epoch", *epoch, epoch->steps);
  else if (const auto *run = std::get_if<RunBegin>(&event))
    state->begin(*run);
  else if (std::holds_alternative<RunEnd>(event))
    flush();
}

void CsvFile::flush() {
  if (state->output)
    state->output.flush();
}

void CsvFile::tick() { flush(); }

} // namespace sinter::train
