/// Reads and updates of cells.
#include "frontend/State.h"

#include "frontend/Flush.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"

namespace sinter::detail {

using graph::NodeRef;

Tensor readCell(const runtime::CellRef &cell, const SourceLine &where) {
  while (NodeRef next = cell->pending()) {
    if (!next->isReady())
      evaluate({&next, 1}, FlushReason::readsReplacedState, where);
    if (next->isReady())
      runtime::CellTable::get().commit(cell, next, next->value());
  }
  return Tensor(cell->leaf());
}

void updateCell(const runtime::CellRef &cell, const Tensor &value,
                const SourceLine &where) {
  unwrap(cell->update(value.node(), userSite(where)), where);
}

} // namespace sinter::detail
