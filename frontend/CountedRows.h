/// CountedRows: sizes that only values tell.
///
/// Where tensors can be evaluated, such a size is read, and what is recorded is
/// for that number. Where a function is recorded for a file it stays open: the
/// rows are what another program of the file gives, and their axis has a
/// symbol.
#pragma once

#include <sinter/Tensor.h>

namespace sinter::detail {

/// Whether sizes that values tell stay open: this thread records for a file,
/// and no body of a loop or branch.
bool leavesCountsOpen();
/// The first rows of `x`, as many as `count` says, a scalar of i64 that is at
/// most x's extent.
Tensor countedRows(const Tensor &x, const Tensor &count,
                   const SourceLine &where);
/// The count that a symbol stands for; empty for another one.
Tensor countOf(uint32_t symbol);
/// Whether the size is told by such a count, alone or in an expression.
bool isCounted(Dim size);
/// While counts stay open: a size as a scalar of i64, whatever symbols it has.
Tensor sizeTensor(Dim size, DeviceId device);

} // namespace sinter::detail
