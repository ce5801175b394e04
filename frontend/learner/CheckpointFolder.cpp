/// The checkpoints of a run, and which of them are kept.
#include "frontend/learner/CheckpointFolder.h"

#include "frontend/Raise.h"
#include "frontend/record/RecordForms.h"
#include "runtime/files/ReplaceFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

namespace sinter::train {

namespace fs = std::filesystem;

[[noreturn]] static void failIo(std::string message,
                                std::source_location where) {
  sinter::detail::raise(makeError(ErrorKind::io, std::move(message)), where);
}

static constexpr const char *parts[] = {"model", "optim", "scheduler", "state"};

/// The number in `state-120.safetensors`.
static std::optional<int64_t> numberOf(std::string_view part,
                                       const std::string &file,
                                       std::string_view extension) {
  std::string_view name = file;
  if (!name.starts_with(part) || !name.ends_with(extension) ||
      name.size() <= part.size() + extension.size() || name[part.size()] != '-')
    return {};
  name.remove_prefix(part.size() + 1);
  name.remove_suffix(extension.size());
  int64_t number = 0;
  auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0)
    return {};
  return number;
}

//===- Results in records
//---------------------------------------------------===//

static Record recordOf(const std::vector<Result> &results) {
  Record::List list;
  for (const Result &result : results) {
    Record one;
    one.put("split", std::string(to_string(result.split)));
    one.put("name", result.name);
    one.put("value", result.value);
    one.put("better", static_cast<int64_t>(result.better));
    list.push_back(std::move(one));
  }
  return Record(std::move(list));
}

static std::vector<Result> resultsOf(const Record &record) {
  std::vector<Result> results;
  for (const Record &one : record.as_list())
    results.push_back({.split = one.get<std::string>("split") == "valid"
                                    ? Split::valid
                                    : Split::train,
                       .name = one.get<std::string>("name"),
                       .value = one.get<double>("value"),
                       .better = Better(one.get<int64_t>("better"))});
  return results;
}

static void mark(Record &record, const std::string &id) {
  record.put("checkpoint", id);
}

static CheckpointInfo infoOf(const Record &state) {
  CheckpointInfo info;
  info.number = state.get<int64_t>("number");
  info.epoch = state.get<int64_t>("epoch");
  info.ends_epoch = state.get<bool>("ends_epoch");
  info.results = resultsOf(state.at("results"));
  return info;
}

//===- Finding
//--------------------------------------------------------------===//

CheckpointFolder::CheckpointFolder(std::string folder,
                                   CheckpointOptions options,
                                   std::source_location where)
    : folder(std::move(folder)), options(std::move(options)), line(where) {
  std::error_code error;
  fs::create_directories(this->folder, error);
  if (error)
    failIo(fmt::format("learner: the folder '{}' cannot be made: {}",
                       this->folder, error.message()),
           where);
  std::string_view extension = record::infoOf(this->options.format).extension;
  std::set<int64_t> numbers;
  for (const auto &entry : fs::directory_iterator(this->folder, error))
    if (auto number = numberOf("state", entry.path().filename(), extension))
      numbers.insert(*number);
  if (error)
    failIo(fmt::format("learner: the folder '{}' cannot be read: {}",
                       this->folder, error.message()),
           where);
  for (int64_t number : numbers)
    known.push_back({.number = number, .epoch = 0, .results = {}});
}

CheckpointFolder::~CheckpointFolder() { join(); }

std::string CheckpointFolder::pathOf(const char *part, int64_t number) const {
  return fmt::format("{}/{}-{}{}", folder, part, number,
                     record::infoOf(options.format).extension);
}

void CheckpointFolder::removeParts() {
  std::string_view extension = record::infoOf(options.format).extension;
  std::error_code ignored;
  std::vector<fs::path> left;
  for (const auto &entry : fs::directory_iterator(folder, ignored)) {
    std::string file = entry.path().filename();
    bool isPart = runtime::isTemporaryName(file);
    for (const char *part : parts)
      if (std::optional<int64_t> number = numberOf(part, file, extension))
        isPart = std::ranges::none_of(
            known, [&](const auto &one) { return one.number == *number; });
    if (isPart)
      left.push_back(entry.path());
  }
  for (const fs::path &path : left)
    fs::remove(path, ignored);
}

std::optional<Checkpoint>
CheckpointFolder::newest(std::vector<std::string> &warnings,
                         std::source_location where) {
  removeParts();
  std::optional<Checkpoint> found;
  std::vector<CheckpointInfo> whole;
  for (size_t i = known.size(); i-- > 0;)
    try {
      int64_t number = known[i].number;
      Record state = Record::load(pathOf("state", number), {}, where);
      whole.push_back(infoOf(state));
      if (found)
        continue;
      Checkpoint one;
      auto id = state.get<std::string>("checkpoint", where);
      for (auto [part, record] : {std::pair{"model", &one.model},
                                  {"optim", &one.optim},
                                  {"scheduler", &one.scheduler}}) {
        *record = Record::load(pathOf(part, number), {}, where);
        if (record->get<std::string>("checkpoint", where) != id)
          failIo(fmt::format("'{}' is of another checkpoint",
                             pathOf(part, number)),
                 where);
      }
      one.number = number;
      one.epoch = whole.back().epoch;
      one.ends_epoch = whole.back().ends_epoch;
      one.results = whole.back().results;
      one.state = std::move(state);
      found = std::move(one);
    } catch (const Error &error) {
      warnings.push_back(fmt::format("checkpoint {} is left out: {}",
                                     known[i].number, error.what()));
      if (!whole.empty() && !found)
        whole.pop_back();
    }
  std::ranges::reverse(whole);
  known = std::move(whole);
  return found;
}

//===- Writing
//--------------------------------------------------------------===//

void CheckpointFolder::join() {
  if (writer.joinable())
    writer.join();
}

void CheckpointFolder::write(Checkpoint checkpoint,
                             std::source_location where) {
  join();
  line = where;
  std::random_device random;
  std::string id = fmt::format("{:08x}{:08x}", random(), random());
  checkpoint.state.put("number", checkpoint.number);
  checkpoint.state.put("epoch", checkpoint.epoch);
  checkpoint.state.put("ends_epoch", checkpoint.ends_epoch);
  checkpoint.state.set("results", recordOf(checkpoint.results));
  for (Record *record : {&checkpoint.model, &checkpoint.optim,
                         &checkpoint.scheduler, &checkpoint.state})
    mark(*record, id);
  if (!options.background)
    return writeNow(checkpoint);
  busy = true;
  writer = std::thread([this, checkpoint = std::move(checkpoint)] {
    try {
      writeNow(checkpoint);
    } catch (...) {
      failure = std::current_exception();
    }
    busy = false;
  });
}

void CheckpointFolder::writeNow(const Checkpoint &checkpoint) {
  int64_t number = checkpoint.number;
  SaveRecordOptions form{.format = options.format};
  // One of this number that cannot be read may be there.
  std::error_code ignored;
  fs::remove(pathOf("state", number), ignored);
  CheckpointWritten event{.path = {},
                          .epoch = checkpoint.epoch,
                          .train_steps = number,
                          .why = checkpoint.why};
  for (auto [part, record] : {std::pair{"model", &checkpoint.model},
                              {"optim", &checkpoint.optim},
                              {"scheduler", &checkpoint.scheduler},
                              {"state", &checkpoint.state}}) {
    event.path = record->save(pathOf(part, number), form, line);
    event.bytes += fs::file_size(event.path, ignored);
  }
  events.emplace_back(std::move(event));
  std::erase_if(known, [&](const auto &one) { return one.number == number; });
  known.push_back({.number = number,
                   .epoch = checkpoint.epoch,
                   .ends_epoch = checkpoint.ends_epoch,
                   .results = checkpoint.results});
  removeOld();
}

static const Result *find(const std::vector<Result> &results,
                          const KeepBest &wanted) {
  for (const Result &result : results)
    if (result.name == wanted.metric && result.split == wanted.split)
      return &result;
  return nullptr;
}

/// Whether fewer than `wanted.count` others are better; of equal ones the newer
/// is.
static bool isAmongBest(const std::vector<CheckpointInfo> &known, size_t index,
                        const KeepBest &wanted) {
  const Result *own = find(known[index].results, wanted);
  if (!own || std::isnan(own->value))
    return false;
  int64_t better = 0;
  for (size_t i = 0; i < known.size(); ++i) {
    const Result *other = find(known[i].results, wanted);
    if (i == index || !other || std::isnan(other->value))
      continue;
    better += other->gain_over(own->value) > 0 ||
              (other->value == own->value && i > index);
  }
  return better < wanted.count;
}

bool CheckpointFolder::isKept(size_t index) const {
  const CheckpointInfo &info = known[index];
  if (index + std::max<int64_t>(1, options.keep_last) >= known.size())
    return true;
  for (const KeepBest &wanted : options.keep_best)
    if (isAmongBest(known, index, wanted))
      return true;
  if (options.keep_every_epochs > 0 && info.ends_epoch &&
      info.epoch % options.keep_every_epochs == 0)
    return true;
  return options.keep && options.keep(info.number);
}

void CheckpointFolder::removeOld() {
  std::vector<CheckpointInfo> kept;
  std::vector<int64_t> removed;
  for (size_t i = 0; i < known.size(); ++i)
    if (isKept(i))
      kept.push_back(known[i]);
    else
      removed.push_back(known[i].number);
  known = std::move(kept);
  for (int64_t number : removed)
    remove(number);
}

void CheckpointFolder::remove(int64_t number) {
  std::error_code ignored;
  // The state first: what is left of one that is half removed is none.
  for (size_t i = std::size(parts); i-- > 0;)
    fs::remove(pathOf(parts[i], number), ignored);
  events.emplace_back(CheckpointRemoved{.path = pathOf("state", number)});
}

std::vector<Event> CheckpointFolder::done(bool wait) {
  if (busy && !wait)
    return {};
  join();
  if (std::exception_ptr thrown = std::exchange(failure, nullptr))
    std::rethrow_exception(thrown);
  return std::exchange(events, {});
}

} // namespace sinter::train
