/// Numbers as text.
#include "frontend/monitor/Figures.h"

#include "runtime/support/Printable.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

namespace sinter::train {

void addExact(std::string &text, double value) {
  if (!std::isfinite(value)) {
    text += std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return;
  }
  std::array<char, 32> digits;
  auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
  text.append(digits.data(), end);
}

void addWhole(std::string &text, int64_t value) {
  std::array<char, 24> digits;
  auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
  text.append(digits.data(), end);
}

void addJson(std::string &text, double value) {
  if (std::isfinite(value))
    addExact(text, value);
  else
    text += std::isnan(value) ? "\"NaN\""
            : value > 0       ? "\"Infinity\""
                              : "\"-Infinity\"";
}

void addJson(std::string &text, std::string_view value) {
  using Json = nlohmann::json;
  text += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shortNumber(double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  double size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e6))
    return fmt::format("{:.3e}", value);
  if (value == std::floor(value) && size < 1e6)
    return fmt::format("{:.0f}", value);
  int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 4;
  if (size >= 1 && size < 10)
    digits = 3;
  return fmt::format("{:.{}f}", value, digits);
}

std::string shortBytes(double bytes) {
  static constexpr std::array units = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t level = 0;
  while (bytes >= 999.5 && level + 1 < units.size()) {
    bytes /= 1000;
    ++level;
  }
  int digits = level == 0 || bytes >= 99.95 ? 0 : 1;
  return fmt::format("{:.{}f} {}", bytes, digits, units[level]);
}

std::string shortValue(const Value &value) {
  if (value.unit == "B" && std::isfinite(value.value) && value.value >= 0)
    return shortBytes(value.value);
  std::string text = shortNumber(value.value);
  if (!value.unit.empty())
    text += " " + printableName(value.unit);
  return text;
}

std::string grouped(int64_t value) {
  std::string digits = fmt::format("{}", value);
  for (auto at = std::ptrdiff_t(digits.size()) - 3; at > (value < 0); at -= 3)
    digits.insert(size_t(at), ",");
  return digits;
}

std::string duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e12)
    return "?";
  auto whole = int64_t(seconds);
  int64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0)
    return fmt::format("{}d {:02}:{:02}", days, hours % 24, minutes % 60);
  if (hours > 0)
    return fmt::format("{}:{:02}:{:02}", hours, minutes % 60, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string timestamp(double time) {
  if (!(std::abs(time) < 1e11))
    return "?";
  auto milliseconds = int64_t(std::floor(time * 1000 + 0.5));
  int64_t below = (milliseconds % 1000 + 1000) % 1000;
  std::time_t seconds = (milliseconds - below) / 1000;
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec, below);
}

} // namespace sinter::train
