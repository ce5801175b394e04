/// Call: a golden case as a rule sees it.
#pragma once

#include "tests/goldens/Attrs.h"
#include "tests/goldens/Ops.h"

#include <optional>

namespace sinter::goldens {

/// A case's inputs by name, and its attributes.
struct Call {
  const Values &inputs;
  Attrs attrs;

  bool has(std::string_view name) const { return inputs.contains(name); }
  const Tensor &operator[](std::string_view name) const {
    return inputs.find(name)->second;
  }
  std::optional<Tensor> find(std::string_view name) const {
    return has(name) ? std::optional((*this)[name]) : std::nullopt;
  }
};

/// What a table has for the case's op; nothing when it has none.
template <typename Table>
std::optional<Values> recordFrom(const Table &table, const Case &golden,
                                 const Values &inputs) {
  auto rule = table.find(golden.op);
  if (rule == table.end())
    return std::nullopt;
  return rule->second(Call{inputs, Attrs(golden.attrs)});
}

} // namespace sinter::goldens
