/// Checks of arguments, with the argument's name and value.
#include <sinter/Arguments.h>

#include "frontend/Raise.h"

#include <fmt/format.h>

namespace sinter::detail {

template <typename T>
[[noreturn]] static void
refuseValue(std::string_view call, std::string_view name, const T &value,
            const std::string &range, const SourceLine &where) {
  raise(makeError(ErrorKind::invalid_argument,
                  fmt::format("{}: {} is {}, not {}", call, name, value, range),
                  std::string(call)),
        where);
}

void Arguments::refuse(std::string_view name, int64_t value,
                       int64_t least) const try {
  refuseValue(call, name, value, fmt::format("{} or more", least), where);
} catch (...) {
  detail::raiseExhausted({});
}

void Arguments::refuse(std::string_view name, double value, double least,
                       double most) const try {
  bool hasEnd = most < std::numeric_limits<double>::max();
  refuseValue(call, name, value,
              hasEnd ? fmt::format("in [{}, {}]", least, most)
                     : fmt::format("a finite number from {} on", least),
              where);
} catch (...) {
  detail::raiseExhausted({});
}

const Arguments &Arguments::eachAtLeast(int64_t least, std::string_view name,
                                        const Axes &values, size_t count) const
    try {
  if (values.size() != 1 && values.size() != count)
    refuseValue(call, fmt::format("the count of {}", name), values.size(),
                fmt::format("1 or {}", count), where);
  for (int64_t value : values)
    atLeast(least, name, value);
  return *this;
} catch (...) {
  detail::raiseExhausted({});
}

const Arguments &Arguments::aboveZero(std::string_view name, double value) const
    try {
  if (!(value > 0 && value <= std::numeric_limits<double>::max()))
    refuseValue(call, name, value, "a finite number above 0", where);
  return *this;
} catch (...) {
  detail::raiseExhausted({});
}

const Arguments &Arguments::partBelowOne(std::string_view name,
                                         double value) const try {
  if (!(value >= 0 && value < 1))
    refuseValue(call, name, value, "in [0, 1)", where);
  return *this;
} catch (...) {
  detail::raiseExhausted({});
}

const Arguments &Arguments::divides(std::string_view name, int64_t value,
                                    std::string_view divisorName,
                                    int64_t divisor) const try {
  if (divisor < 1 || value % divisor != 0)
    refuseValue(call, name, value,
                fmt::format("a multiple of {} {}", divisorName, divisor),
                where);
  return *this;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::detail
