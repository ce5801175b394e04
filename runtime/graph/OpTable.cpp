/// The op table, filled by sinter-tblgen.
#include "sinter/runtime/OpTable.h"

#include "runtime/graph/OpIds.h"

#include <cassert>
#include <iterator>
#include <unordered_map>

#include "sinter/generated/OpTable.inc"

namespace sinter::graph {

const OpInfo &info(OpId op) {
  assert(op != OpId::leaf && op < OpId::count && "a leaf has no record");
  return opInfos[static_cast<size_t>(op) - 1];
}

size_t opCount() { return static_cast<size_t>(OpId::count); }

OpId findOp(std::string_view name) {
  static const auto &byName = *[] {
    auto *map = new std::unordered_map<std::string_view, OpId>;
    for (size_t i = 0; i < std::size(opInfos); ++i)
      map->emplace(opInfos[i].name, static_cast<OpId>(i + 1));
    return map;
  }();
  auto it = byName.find(name);
  return it == byName.end() ? noOp : it->second;
}

} // namespace sinter::graph
