/// Reads the SINTER_ environment variables.
#include "runtime/support/Flags.h"

#include "runtime/support/Log.h"

#include <charconv>
#include <cstdlib>

namespace sinter {

static void parse(std::string_view, std::string_view value, std::string &to) {
  to = value;
}

static void parse(std::string_view variable, std::string_view value,
                  int64_t &to) {
  int64_t number = 0;
  auto [end, code] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc() || end != value.data() + value.size() || number < 0) {
    logWarning(std::string(variable) +
               ": not a non-negative number: " + std::string(value));
    return;
  }
  to = number;
}

static void parse(std::string_view variable, std::string_view value, bool &to) {
  if (value == "1" || value == "true" || value == "on" || value == "yes")
    to = true;
  else if (value == "0" || value == "false" || value == "off" ||
           value == "no" || value.empty())
    to = false;
  else
    logWarning(std::string(variable) +
               ": neither 0 nor 1: " + std::string(value));
}

static Flags readFlags() {
  Flags result;
#define SINTER_FLAG(type, field, variable, fallback, summary)                  \
  if (const char *value = std::getenv(variable))                               \
    parse(variable, value, result.field);
#include "runtime/support/Flags.def"
  return result;
}

static Flags &storage() {
  static Flags value = readFlags();
  return value;
}

const Flags &flags() { return storage(); }

void reloadFlags() { storage() = readFlags(); }

std::span<const FlagInfo> flagTable() {
  static const FlagInfo table[] = {
#define SINTER_FLAG(type, field, variable, fallback, summary)                  \
  {variable, #type, #fallback, summary},
#include "runtime/support/Flags.def"
  };
  return table;
}

} // namespace sinter
