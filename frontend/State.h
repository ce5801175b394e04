/// State: how parameters, optimizers and running statistics read and replace
/// the values of cells.
#pragma once

#include "sinter/runtime/Cell.h"

#include <sinter/Tensor.h>

namespace sinter::detail {

/// The cell's value. A pending update is evaluated first (a flush of reason
/// `reads_replaced_state`), so what is recorded on a parameter always starts
/// at a leaf, and one training step is one program.
Tensor readCell(const runtime::CellRef &cell, const SourceLine &where);

/// What the value becomes by what was recorded so far. An update that waits is
/// not evaluated for this: several of one step stay one program.
Tensor latestValue(const runtime::CellRef &cell, const SourceLine &where);

/// Records that the cell's value becomes `value`; nothing runs. Throws when
/// dtype, shape or device differ.
void updateCell(const runtime::CellRef &cell, const Tensor &value,
                const SourceLine &where);

} // namespace sinter::detail
