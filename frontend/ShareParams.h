/// Copies of arguments whose Params stay those of the caller.
#pragma once

#include <sinter/Fields.h>
#include <sinter/Param.h>

#include <source_location>
#include <utility>
#include <vector>

namespace sinter::detail {

/// Gives the Params of `copies` the values of those that they are copies of.
inline void shareParams(const Fields &given, const Fields &copies,
                        std::source_location where) {
  // One that is computed of others owns those, which follow it in the list.
  std::vector<Param> replaced;
  for (size_t i = 0; i < copies.params.size(); ++i) {
    Param shared;
    shared.tie(*given.params[i].value, where);
    replaced.push_back(
        std::exchange(*copies.params[i].value, std::move(shared)));
  }
}

} // namespace sinter::detail
