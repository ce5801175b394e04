/// Event files for TensorBoard.
#include "frontend/monitor/EventRun.h"
#include "frontend/monitor/Kept.h"

#include "frontend/Raise.h"
#include "runtime/files/SystemError.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include <unistd.h>

namespace sinter::train {

namespace fs = std::filesystem;

// Fields of the messages, as their .proto files number them.
namespace {
enum EventField { wallTime = 1, stepField = 2, version = 3, summaryField = 5 };
enum ValueField { tag = 1, simple = 2, histo = 5, tensor = 8, metadata = 9 };
} // namespace

bool isEventFile(std::string_view name) {
  return name.starts_with("events.out.tfevents.");
}

void EventFile::State::begin(int64_t step, double time) {
  event.clear();
  summary.clear();
  event.real(wallTime, time);
  event.number(stepField, uint64_t(std::max<int64_t>(step, 0)));
}

void EventFile::State::end() {
  event.text(summaryField, summary);
  record.clear();
  addRecord(record, event.view());
  output.add(record);
}

std::unique_ptr<EventFile::State>
EventFile::State::make(const std::string &folder) {
  auto made = std::make_unique<State>();
  double time = wall_time();
  std::array<char, 64> host = {};
  if (::gethostname(host.data(), host.size() - 1) != 0 || !host[0])
    host[0] = '-';
  for (int number = 0;; ++number) {
    std::string path = below(
        folder, fmt::format("events.out.tfevents.{:010}.{}.{}.{}",
                            int64_t(time), host.data(), ::getpid(), number));
    std::error_code code;
    if (fs::exists(path, code))
      continue;
    made->output = AppendFile(path);
    break;
  }
  WireMessage first;
  first.real(wallTime, time).text(version, std::string_view("brain.Event:2"));
  addRecord(made->record, first.view());
  made->output.add(made->record);
  return made;
}

//===- Going on -----------------------------------------------------------===//

/// A varint off the front of `bytes`; false where there is none.
static bool takeVarint(std::string_view &bytes, uint64_t &into) {
  into = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = uint8_t(bytes.front());
    bytes.remove_prefix(1);
    into |= uint64_t(byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

/// The field of that number in a message: its bytes, or those of its varint.
/// Empty where there is none.
static std::string_view fieldOf(std::string_view bytes, uint64_t wanted) {
  uint64_t key = 0, size = 0;
  while (takeVarint(bytes, key)) {
    std::string_view from = bytes;
    switch (key & 7) {
    case 0:
      if (!takeVarint(bytes, size))
        return {};
      size = from.size() - bytes.size();
      bytes = from;
      break;
    case 1:
      size = 8;
      break;
    case 2:
      if (!takeVarint(bytes, size))
        return {};
      break;
    case 5:
      size = 4;
      break;
    default:
      return {};
    }
    if (size > bytes.size())
      return {};
    if (key >> 3 == wanted)
      return bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return {};
}

static bool isKeptEvent(const Resume &resume, Split split,
                        std::string_view event) {
  std::string_view step = fieldOf(event, stepField);
  uint64_t number = 0;
  takeVarint(step, number);
  std::string_view name =
      fieldOf(fieldOf(fieldOf(event, summaryField), 1), tag);
  LinePlace place;
  place.split = split;
  place.isEpoch = name.starts_with("epoch/");
  place.epoch = place.totalStep = int64_t(number);
  return isKept(resume, place);
}

static uint64_t littleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t at = bytes.size(); at-- > 0;)
    value = value << 8 | uint8_t(bytes[at]);
  return value;
}

/// Where the first record begins that is not kept, or is damaged.
static uint64_t keptBytes(const std::string &path, Split split,
                          const Resume &resume) {
  std::error_code code;
  uint64_t size = fs::file_size(path, code), kept = 0;
  std::ifstream input(path, std::ios::binary);
  std::string head(12, '\0'), data;
  while (!code && size - kept >= 16 && input.read(head.data(), 12)) {
    uint64_t length = littleEndian(std::string_view(head).substr(0, 8));
    std::string_view check = std::string_view(head).substr(8);
    if (littleEndian(check) != maskedCrc(std::string_view(head).substr(0, 8)) ||
        length > size - kept - 16)
      break;
    data.resize(length + 4);
    if (!input.read(data.data(), std::streamsize(data.size())))
      break;
    std::string_view event = std::string_view(data).substr(0, length);
    if (littleEndian(std::string_view(data).substr(length)) !=
            maskedCrc(event) ||
        !isKeptEvent(resume, split, event))
      break;
    kept += 16 + length;
  }
  return kept;
}

std::unique_ptr<EventFile::State>
EventFile::State::resume(const std::string &folder, Split split,
                         const Resume &from) {
  std::vector<std::string> files;
  std::error_code code;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, code))
    if (isEventFile(entry.path().filename().string()))
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  std::string last;
  for (const std::string &file : files) {
    uint64_t kept = keptBytes(file, split, from);
    if (kept == 0) {
      fs::remove(file, code);
      continue;
    }
    cutFile(file, kept);
    last = file;
  }
  if (last.empty())
    return make(folder);
  auto made = std::make_unique<State>();
  made->output = AppendFile(last);
  made->isFresh = false;
  return made;
}

//===- What others write --------------------------------------------------===//

EventFile::EventFile(const std::string &folder) : state(State::make(folder)) {}
EventFile::EventFile(std::unique_ptr<State> state) : state(std::move(state)) {}
EventFile::EventFile(EventFile &&) noexcept = default;
EventFile &EventFile::operator=(EventFile &&) noexcept = default;
EventFile::~EventFile() = default;

const std::string &EventFile::path() const { return state->output.path(); }

void EventFile::flush() { state->output.flush(); }

void EventFile::add_scalar(std::string_view name, double number, int64_t step,
                           double time) {
  state->begin(step, time);
  state->value.clear();
  state->value.text(tag, name).single(simple, float(number));
  state->addValue();
  state->end();
}

/// The plugin that shows a value, with what it wants to know.
static WireMessage plugin(std::string_view name, std::string_view content) {
  WireMessage data, made;
  data.text(1, name).text(2, content);
  made.text(1, data);
  return made;
}

void EventFile::add_text(std::string_view name, std::string_view text,
                         int64_t step, double time) {
  constexpr int stringType = 7;
  WireMessage dim, shape, content;
  dim.number(1, 1);
  shape.text(2, dim);
  content.number(1, stringType).text(2, shape).text(8, text);
  state->begin(step, time);
  state->value.clear();
  state->value.text(tag, name).text(tensor, content);
  state->value.text(metadata, plugin("text", {}));
  state->addValue();
  state->end();
}

void EventFile::add_histogram(std::string_view name, const Histogram &histogram,
                              int64_t step, double time) {
  WireMessage content;
  content.real(1, histogram.minimum).real(2, histogram.maximum);
  content.real(3, double(histogram.count)).real(4, histogram.sum);
  content.real(5, histogram.sum_of_squares);
  content.packed(6, histogram.limits).packed(7, histogram.counts);
  state->begin(step, time);
  state->value.clear();
  state->value.text(tag, name).text(histo, content);
  state->addValue();
  state->end();
}

static WireMessage settingOf(const EventFile::Setting &setting) {
  // google.protobuf.Value
  WireMessage made;
  if (const auto *number = std::get_if<double>(&setting))
    made.real(2, *number);
  else if (const auto *text = std::get_if<std::string>(&setting))
    made.text(3, std::string_view(*text));
  else
    made.number(4, std::get<bool>(setting));
  return made;
}

void EventFile::add_settings(
    std::span<const std::pair<std::string, Setting>> settings, double time) {
  // HParamsPluginData.session_start_info.hparams, a map
  WireMessage start, content;
  for (const auto &[name, setting] : settings) {
    WireMessage entry;
    entry.text(1, std::string_view(name)).text(2, settingOf(setting));
    start.text(1, entry);
  }
  start.real(5, time);
  content.text(3, start);
  state->begin(0, time);
  state->value.clear();
  state->value.text(tag, std::string_view("_hparams_/session_start_info"));
  state->value.text(metadata, plugin("hparams", content.view()));
  state->addValue();
  state->end();
}

} // namespace sinter::train
