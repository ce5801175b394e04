/// A module gets the tensors of a file.
#include "frontend/weights/LoadState.h"

#include "frontend/Raise.h"
#include "frontend/weights/FitTensor.h"
#include "frontend/weights/NameChanges.h"
#include "frontend/weights/OpenWeights.h"
#include "frontend/weights/Slots.h"
#include "runtime/support/Printable.h"
#include "runtime/support/Progress.h"
#include "runtime/support/Sites.h"

#include <sinter/BasicOps.h>
#include <sinter/ModuleFile.h>
#include <sinter/Shaping.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

namespace sinter::detail {

namespace {

using Entry = StateDict::Entry;

/// A slot, and what of the file it gets.
struct Target {
  Slot slot;
  size_t first = 0; ///< the first target that it is tied to, or itself
  const Entry *source = nullptr;
  Fit fit;
  Tensor value; ///< of the first that is tied to it and has a source
};

class StateLoader {
public:
  StateLoader(const Fields &fields, const StateDict &state,
              const LoadStateOptions &options, const char *call,
              std::source_location where)
      : state(state), options(options), call(call), where(where),
        names(options, call, where) {
    for (Slot &slot : slotsOf(fields, Constants::yes))
      targets.push_back({std::move(slot), 0, nullptr, {}, {}});
  }

  LoadReport run() {
    findTies();
    findSources();
    listMissing();
    fitSources();
    raiseProblems();
    readValues();
    raiseProblems();
    assign();
    readRecordIds();
    return std::move(report);
  }

private:
  void findTies();
  void findSources();
  void listMissing();
  void fitSources();
  void addMismatch(const Target &target, std::string why);
  void raiseProblems() const;
  void readValues();
  Tensor valueOf(const Target &target) const;
  Tensor mapped(const Target &target, const Tensor &value) const;
  bool isEqual(const Target &a, const Target &b) const;
  std::vector<std::byte> bytesOf(const Target &target) const;
  void assign();
  void readRecordIds() const;
  [[noreturn]] void fail(const std::string &what) const {
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("{}: {}", call, what), call),
          where);
  }
  std::string fileName() const {
    return state.path().empty() ? "the state" : printable(state.path());
  }

  const StateDict &state;
  const LoadStateOptions &options;
  const char *call;
  const std::source_location where;
  NameChanges names;
  std::vector<Target> targets;
  LoadReport report;
  LoadProblems problems;
};

} // namespace

//===- Names --------------------------------------------------------------===//

void StateLoader::findTies() {
  std::unordered_map<const runtime::Cell *, size_t> firsts;
  for (size_t i = 0; i < targets.size(); ++i) {
    const Param *param = targets[i].slot.param;
    targets[i].first =
        param ? firsts.emplace(param->cell().get(), i).first->second : i;
  }
}

void StateLoader::findSources() {
  std::unordered_map<std::string_view, Target *> byPath;
  for (Target &target : targets)
    byPath.emplace(target.slot.path, &target);
  size_t numLeft = 0;
  using Fate = ChangedName::Fate;
  for (const Entry &entry : state.all()) {
    ChangedName changed = names.of(entry.name);
    numLeft += changed.fate == Fate::left;
    if (changed.fate == Fate::left || changed.fate == Fate::unwanted)
      continue;
    auto found =
        changed.fate == Fate::wanted ? byPath.find(changed.path) : byPath.end();
    if (found == byPath.end()) {
      report.unused.push_back(entry.name);
      problems.unused.push_back(fmt::format("unexpected '{}' {}",
                                            printableName(entry.name),
                                            typeText(state.info(entry.name))));
      continue;
    }
    if (const Entry *other = found->second->source)
      fail(fmt::format("'{}' and '{}' of {} are both '{}'",
                       printableName(other->name), printableName(entry.name),
                       fileName(), printableName(changed.path)));
    found->second->source = &entry;
  }
  if (numLeft > 0 && numLeft == state.size())
    raise(nothingBelow(call, fileName(), options.top_level_key), where);
  report.notes.assign(state.notes().begin(), state.notes().end());
  if (numLeft > 0)
    report.notes.push_back(fmt::format("{} tensors are not below '{}'", numLeft,
                                       options.top_level_key));
}

void StateLoader::listMissing() {
  std::vector<bool> isThere(targets.size());
  for (const Target &target : targets)
    if (target.source)
      isThere[target.first] = true;
  for (const Target &target : targets) {
    const Slot &slot = target.slot;
    std::string path(slot.path);
    if (isThere[target.first] || slot.tensor || !names.isWanted(path))
      continue;
    problems.missing.push_back(
        fmt::format("missing '{}' {}", path, typeText(slot.dtype, slot.dims)));
    report.missing.push_back(std::move(path));
  }
}

//===- Types --------------------------------------------------------------===//

void StateLoader::addMismatch(const Target &target, std::string why) {
  std::string file = typeText(state.info(target.source->name));
  std::string module = typeText(target.slot.dtype, target.slot.dims);
  std::string path(target.slot.path);
  problems.mismatched.push_back(
      file == module
          ? fmt::format("'{}' {}: {}", path, file, why)
          : fmt::format("'{}' is {}, the module has {}", path, file, module));
  report.mismatched.push_back(
      {std::move(path), std::move(file), std::move(module), std::move(why)});
}

/// What does not fit has no source any more.
void StateLoader::fitSources() {
  for (Target &target : targets) {
    if (!target.source)
      continue;
    WeightInfo info = state.info(target.source->name);
    target.fit = fitTensor(target.slot, info, options, call, where);
    if (!target.fit.why.empty()) {
      addMismatch(target, target.fit.why);
      target.source = nullptr;
    } else if (target.fit.isConverted) {
      report.converted.push_back(
          {std::string(target.slot.path), info.type, target.slot.dtype});
    }
  }
}

void StateLoader::raiseProblems() const {
  if (options.strict && !problems.empty())
    fail(fmt::format("{} does not fit the module: {}{}", fileName(),
                     problems.text(), hintOf(report)));
}

//===- Values -------------------------------------------------------------===//

/// A mapper that makes another type is an error.
Tensor StateLoader::mapped(const Target &target, const Tensor &value) const {
  const Slot &slot = target.slot;
  Tensor made = slot.param->mapper().loaded(value);
  if (!made.defined() || made.dtype() != slot.dtype ||
      extentsOf(made.shape()) != slot.dims || made.device() != slot.device)
    fail(fmt::format("the load mapper of '{}' makes {}, the module has {}",
                     slot.path,
                     made.defined() ? graph::typeString(*made.node())
                                    : std::string("an empty tensor"),
                     typeText(slot.dtype, slot.dims)));
  return made;
}

Tensor StateLoader::valueOf(const Target &target) const {
  const Slot &slot = target.slot;
  const Entry &source = *target.source;
  bool isMapped = slot.isMapped();
  Tensor value;
  if (source.stored) {
    value = readTensor(state.source(), *source.stored, target.fit.form,
                       {slot.device, options.mmap && !isMapped}, where);
  } else {
    value = source.value.to(slot.device, where);
    if (!target.fit.form.axes.empty())
      value = permute(value, target.fit.form.axes);
    value = value.to(target.fit.form.dtype, where);
  }
  return isMapped ? mapped(target, value) : value;
}

std::vector<std::byte> StateLoader::bytesOf(const Target &target) const {
  if (!target.source->stored)
    return readBytes(valueOf(target), where);
  DenseElements dense = unwrap(
      denseElements(*state.source(), *target.source->stored, target.fit.form),
      where);
  if (dense.own.empty())
    dense.own.assign(dense.bytes.begin(), dense.bytes.end());
  return std::move(dense.own);
}

/// Whether two tensors of the file, for parameters that are tied, are the same.
bool StateLoader::isEqual(const Target &a, const Target &b) const {
  if (a.slot.isMapped() || b.slot.isMapped())
    return true;
  const runtime::WeightTensor *first = a.source->stored;
  const runtime::WeightTensor *second = b.source->stored;
  if (first && second && a.fit.form.axes == b.fit.form.axes &&
      (second->tiedTo == first->name ||
       (!first->tiedTo.empty() && first->tiedTo == second->tiedTo)))
    return true;
  return bytesOf(a) == bytesOf(b);
}

void StateLoader::readValues() {
  std::vector<Target *> read(targets.size());
  ProgressStep progress("reading tensor", targets.size());
  std::vector<Tensor> values;
  for (Target &target : targets) {
    progress.at(size_t(&target - targets.data()));
    if (!target.source)
      continue;
    Target *&other = read[target.first];
    if (other && !isEqual(*other, target)) {
      addMismatch(target, fmt::format("it is tied to '{}', which has other "
                                      "values in the file",
                                      other->slot.path));
    } else if (!other) {
      target.value = valueOf(target);
      values.push_back(target.value);
      other = &target;
    }
  }
  eval(values, where);
  for (Target &target : targets)
    if (read[target.first])
      report.loaded.emplace_back(target.slot.path);
}

void StateLoader::assign() {
  SiteId site = internSite(where);
  for (Target &target : targets) {
    if (!target.value.defined())
      continue;
    if (target.slot.param)
      target.slot.param->cell()->assign(target.value.node()->value(), site);
    else
      *target.slot.tensor = std::move(target.value);
  }
}

/// By the names of the file.
void StateLoader::readRecordIds() const {
  std::map<std::string_view, std::string_view> texts;
  for (const auto &[key, text] : state.metadata())
    if (key.starts_with(recordKey))
      texts[std::string_view(key).substr(recordKey.size())] = text;
  if (texts.empty())
    return;
  for (const Target &target : targets) {
    if (!target.slot.param || !target.source || !target.source->stored)
      continue;
    auto found = texts.find(target.source->stored->name);
    if (found == texts.end())
      continue;
    std::string_view text = found->second;
    uint64_t id = 0;
    auto end = std::from_chars(text.data(), text.data() + text.size(), id, 16);
    if (end.ec == std::errc() && end.ptr == text.data() + text.size() && id)
      target.slot.param->set_record_id(id);
  }
}

//===- Entry points -------------------------------------------------------===//

LoadReport loadFrom(const Fields &fields, const StateDict &state,
                    const LoadStateOptions &options, const char *call,
                    std::source_location where) {
  no_grad guard;
  return StateLoader(fields, state, options, call, where).run();
}

LoadReport loadState(const Fields &fields, const StateDict &state,
                     const LoadStateOptions &options,
                     std::source_location where) try {
  return loadFrom(fields, state, options, "load_state", where);
} catch (...) {
  raiseExhausted(where);
}

LoadReport loadState(const Fields &fields, const std::string &path,
                     const LoadStateOptions &options,
                     std::source_location where) try {
  return loadFrom(fields, StateDict(openWeights(path, where)), options,
                  "load_state", where);
} catch (...) {
  raiseExhausted(where);
}

} // namespace sinter::detail
