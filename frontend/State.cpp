/// Reads and updates of cells.
#include "frontend/State.h"

#include "frontend/Capture.h"
#include "frontend/Flush.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"

namespace sinter::detail {

using graph::NodeRef;

Tensor readCell(const runtime::CellRef &cell, const SourceLine &where) {
  if (Capture *capture = Capture::current()) [[unlikely]]
    return capture->read(cell);
  while (true) {
    if (NodeRef leaf = cell->settledLeaf())
      return Tensor(std::move(leaf));
    NodeRef next = cell->pending();
    if (!next)
      continue;
    // A failure was raised by the flush that met it; a copy made before then
    // keeps the old value, as the original does.
    if (next->state() == graph::NodeState::failed)
      runtime::CellTable::get().rollBack(cell, next);
    else if (next->isReady())
      runtime::CellTable::get().commit(cell, next);
    else
      evaluate({&next, 1}, FlushReason::readsReplacedState, where);
  }
}

void updateCell(const runtime::CellRef &cell, const Tensor &value,
                const SourceLine &where) {
  if (Capture *capture = Capture::current()) [[unlikely]]
    return capture->update(cell, value, where);
  unwrap(cell->update(value.node(), userSite(where)), where);
}

Tensor latestValue(const runtime::CellRef &cell, const SourceLine &where) {
  if (Capture *capture = Capture::current()) [[unlikely]]
    return capture->read(cell, true);
  NodeRef next = cell->pending();
  bool isWaiting = next && next->state() == graph::NodeState::pending;
  return isWaiting ? Tensor(std::move(next)) : readCell(cell, where);
}

} // namespace sinter::detail
