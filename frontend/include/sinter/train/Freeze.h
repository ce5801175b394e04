/// Freeze: which parameters of a module are trained, by patterns of paths.
#pragma once

#include <sinter/Patterns.h>

#include <cstdint>
#include <source_location>

namespace sinter::detail {

/// Has what the patterns select be trained or not.
Selection setTrained(const Fields &fields, const Patterns &patterns, bool on,
                     const char *call, std::source_location where);
/// Elements of what wants gradients, a tied one counted once.
int64_t countTrained(const Fields &fields);

} // namespace sinter::detail

namespace sinter::train {

/// Has the selected Params keep their values: no gradient is computed for them,
/// and optimizers leave them. What was never made to be trained (running
/// statistics) cannot be selected. A pattern that selects nothing is an Error,
/// and then nothing was changed.
///
///     std::cout << sn::train::freeze(model, {"backbone.*", "embed"});
template <typename T>
Selection freeze(T &model, const Patterns &patterns,
                 std::source_location where = std::source_location::current()) {
  return sinter::detail::setTrained(sinter::detail::allFieldsOf(model),
                                    patterns, false, "freeze", where);
}

/// Ends that.
template <typename T>
Selection
unfreeze(T &model, const Patterns &patterns,
         std::source_location where = std::source_location::current()) {
  return sinter::detail::setTrained(sinter::detail::allFieldsOf(model),
                                    patterns, true, "unfreeze", where);
}

/// Elements of the Params that are trained now, a tied one counted once;
/// `num_params` of a module counts frozen ones, too.
template <typename T> int64_t num_trainable(const T &model) {
  return sinter::detail::countTrained(sinter::detail::allFieldsOf(model));
}

} // namespace sinter::train
