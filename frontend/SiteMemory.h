/// SiteMemory: what a source expression has shown before; decides which plain
/// numbers are constants of programs, which starts of slices are, and which
/// axes of data are symbolic.
#pragma once

#include "sinter/runtime/DType.h"
#include "sinter/runtime/Dim.h"
#include "sinter/runtime/Error.h"
#include "sinter/runtime/Number.h"
#include "sinter/runtime/OpId.h"

#include <cstdint>
#include <source_location>
#include <span>

namespace sinter::detail {

/// Axes as bits.
using AxisSet = uint32_t;

/// Whether a plain number, operand `operand` of the expression at `where`, is
/// static: it is 0, 1, -1, 2, 0.5 or an infinity and the only value that the
/// expression ever showed.
bool isStaticNumber(const std::source_location &where, unsigned operand,
                    Number value);

/// Notes the type of a data leaf made at `where`; the axes that are symbolic
/// there: the expression showed another extent of each, with dtype and all
/// other axes equal but for those that were symbolic already.
AxisSet symbolicAxes(const std::source_location &where, DType dtype,
                     std::span<const Dim> dims);

/// The same for a value that was evaluated, of the op recorded at `site`.
/// `varied` is known to vary for other reasons.
AxisSet symbolicAxes(SiteId site, graph::OpId op, DType dtype,
                     std::span<const Dim> dims, AxisSet varied);

/// Notes a slice recorded at `where`; the axes whose starts are arguments of
/// programs there. Starts are compared between evaluations: the n-th slice that
/// the expression has recorded since the thread's last evaluation showed
/// another start than the n-th one before it, with equal sizes. A loop that a
/// program holds unrolled so keeps its starts, and one over batches does not.
AxisSet varyingStarts(const std::source_location &where,
                      std::span<const int64_t> starts,
                      std::span<const int64_t> sizes);
/// Notes that the thread evaluates what it has recorded.
void noteEvaluation();

} // namespace sinter::detail
