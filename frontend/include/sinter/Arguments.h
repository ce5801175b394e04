/// Arguments: checks of what constructors and functions are given.
#pragma once

#include <sinter/Axes.h>

#include <cstdint>
#include <limits>
#include <source_location>
#include <string_view>

namespace sinter::detail {

/// The arguments of one call. Each check throws an Error of kind
/// invalid_argument that names the call, the argument and its value:
/// `linear: out is -3, not 1 or more`. NaN passes none of them.
class Arguments {
public:
  /// Both must live as long as this does.
  Arguments(std::string_view call, const std::source_location &where)
      : call(call), where(where) {}

  const Arguments &atLeast(int64_t least, std::string_view name,
                           int64_t value) const {
    if (value < least) [[unlikely]]
      refuse(name, value, least);
    return *this;
  }
  /// 1 or more.
  const Arguments &positive(std::string_view name, int64_t value) const {
    return atLeast(1, name, value);
  }
  /// Each of several numbers; there are one, or `count`.
  const Arguments &eachAtLeast(int64_t least, std::string_view name,
                               const Axes &values, size_t count) const;
  /// 0 or more, and finite.
  const Arguments &notNegative(std::string_view name, double value) const {
    return within(name, value, 0, std::numeric_limits<double>::max());
  }
  /// More than 0, and finite.
  const Arguments &aboveZero(std::string_view name, double value) const;
  /// In [least, most].
  const Arguments &within(std::string_view name, double value, double least,
                          double most) const {
    if (!(value >= least && value <= most)) [[unlikely]]
      refuse(name, value, least, most);
    return *this;
  }
  /// In [0, 1).
  const Arguments &partBelowOne(std::string_view name, double value) const;
  /// `value` is a multiple of `divisor`, which is positive.
  const Arguments &divides(std::string_view name, int64_t value,
                           std::string_view divisorName, int64_t divisor) const;

private:
  [[noreturn]] void refuse(std::string_view name, int64_t value,
                           int64_t least) const;
  [[noreturn]] void refuse(std::string_view name, double value, double least,
                           double most) const;

  std::string_view call;
  const std::source_location &where;
};

} // namespace sinter::detail
