/// Patterns: parameters of a module by patterns of their paths.
#pragma once

#include <sinter/Fields.h>

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// What selects Params by their paths. A pattern is a path in which
///   *      stands for any characters, none or dots too
///   ?      for one character that is no dot
///   {a,b}  for one of these, which are patterns as well
/// It selects the Param of that path, and every one below the module of that
/// path: `encoder` and `encoder.*` select the whole encoder,
/// `layers.*.attention.{q,v}` the weights and biases of two projections of each
/// layer, `*.bias` all biases but one that stands alone.
class Patterns {
public:
  Patterns(const char *pattern) : texts{pattern} {}
  Patterns(std::string pattern) : texts{std::move(pattern)} {}
  Patterns(std::initializer_list<std::string> patterns) : texts(patterns) {}
  Patterns(std::vector<std::string> patterns) : texts(std::move(patterns)) {}

  const std::vector<std::string> &list() const { return texts; }

private:
  std::vector<std::string> texts;
};

/// Whether a pattern selects what stands at `path`. A brace that is not closed,
/// an empty pattern, and braces of more than 4096 alternatives in all are an
/// Error.
bool matches(std::string_view pattern, std::string_view path,
             std::source_location where = std::source_location::current());

/// What patterns selected.
struct Selection {
  std::vector<std::string> paths; ///< of Params, in the module's order
  int64_t elements = 0;           ///< of them all, a tied one counted once
};
/// `3 parameters, 1290 elements: fc1.weight, fc1.bias, fc2.weight`.
std::ostream &operator<<(std::ostream &stream, const Selection &selection);

namespace detail {

/// Which Params patterns can select: all, those that were made to be trained,
/// or weights of rank 2 of these, without parts of parametrizations.
enum class Selectable : uint8_t { all, trained, matrices };

/// Whether each Param of `fields` is selected. A pattern that selects none is
/// an Error of `call` that names it and the paths that there are.
std::vector<bool> selectParams(const Fields &fields, const Patterns &patterns,
                               Selectable kind, const char *call,
                               std::source_location where);

/// Whether it belongs to a parametrization of another.
bool isPart(const Fields &fields, const Param &param);

/// What was selected, as a report.
Selection reportOf(const Fields &fields, const std::vector<bool> &chosen);

} // namespace detail
} // namespace sinter
