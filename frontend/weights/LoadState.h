/// LoadState: what load_state and the `load` of modules have in common.
#pragma once

#include <sinter/Weights.h>

#include <source_location>
#include <string>
#include <vector>

namespace sinter::detail {

/// Gives the fields the values of `state`; `call` stands in errors. Nothing is
/// changed where one is thrown.
LoadReport loadFrom(const Fields &fields, const StateDict &state,
                    const LoadStateOptions &options, const char *call,
                    std::source_location where);

/// The lines of an error, a kind each; of a kind those that are too many are
/// counted.
struct LoadProblems {
  std::vector<std::string> missing, mismatched, unused;

  bool empty() const {
    return missing.empty() && mismatched.empty() && unused.empty();
  }
  std::string text() const;
};

/// What the caller may have meant, by the names that do not fit; or empty.
std::string hintOf(const LoadReport &report);

} // namespace sinter::detail
