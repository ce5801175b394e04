/// Reads the SINTER_ environment variables.
#include "runtime/support/Flags.h"

#include "sinter/runtime/Log.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <utility>
#include <vector>

namespace sinter {

namespace {
/// The flags, and what was wrong with their variables. Warnings depend on a
/// flag themselves, so they are told when the flags are there.
struct Storage {
  Flags values;
  std::vector<std::string> complaints;
  std::atomic<bool> complains{false};

  void read();
  void tell();
};

/// A variable that is read.
struct Variable {
  std::string_view name;
  std::vector<std::string> &complaints;

  void reject(std::string_view what, std::string_view value) const {
    complaints.push_back(std::string(name) + ": " + std::string(what) + ": " +
                         std::string(value));
  }
};
} // namespace

static void parse(const Variable &, std::string_view value, std::string &to) {
  to = value;
}

static void parse(const Variable &variable, std::string_view value,
                  int64_t &to) {
  int64_t number = 0;
  auto [end, code] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc() || end != value.data() + value.size() || number < 0) {
    variable.reject("not a non-negative number", value);
    return;
  }
  to = number;
}

static void parse(const Variable &variable, std::string_view value, bool &to) {
  if (value == "1" || value == "true" || value == "on" || value == "yes")
    to = true;
  else if (value == "0" || value == "false" || value == "off" ||
           value == "no" || value.empty())
    to = false;
  else
    variable.reject("neither 0 nor 1", value);
}

void Storage::read() {
  values = Flags();
#define SINTER_FLAG(type, field, variable, fallback, summary)                  \
  if (const char *value = std::getenv(variable))                               \
    parse(Variable{variable, complaints}, value, values.field);
#include "runtime/support/Flags.def"
  const std::string &least = values.log;
  if (!least.empty() && least != "info" && least != "warning" && least != "off")
    Variable{"SINTER_LOG", complaints}.reject("none of info, warning, off",
                                              least);
  complains = !complaints.empty();
}

void Storage::tell() {
  if (!complains.exchange(false))
    return;
  for (const std::string &complaint : std::exchange(complaints, {}))
    logWarning(complaint);
}

static Storage &storage() {
  static Storage *all = [] {
    auto *made = new Storage; // outlives static tensors
    made->read();
    return made;
  }();
  return *all;
}

const Flags &flags() {
  Storage &all = storage();
  if (all.complains.load(std::memory_order_relaxed)) [[unlikely]]
    all.tell();
  return all.values;
}

void reloadFlags() {
  storage().read();
  storage().tell();
}

std::span<const FlagInfo> flagTable() {
  static const FlagInfo table[] = {
#define SINTER_FLAG(type, field, variable, fallback, summary)                  \
  {variable, #type, #fallback, summary},
#include "runtime/support/Flags.def"
  };
  return table;
}

} // namespace sinter
