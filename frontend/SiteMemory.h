/// SiteMemory: what a source expression has shown before; decides which plain
/// numbers are constants of programs and which leaf axes are symbolic.
#pragma once

#include "runtime/graph/DType.h"
#include "runtime/graph/Dim.h"
#include "runtime/graph/Number.h"
#include "runtime/support/Error.h"

#include <source_location>
#include <span>

namespace sinter::detail {

/// Whether a plain number, operand `operand` of the expression at `where`, is
/// static: it is 0, 1, -1, 2, 0.5 or an infinity and the only value that the
/// expression ever showed.
bool isStaticNumber(const std::source_location &where, unsigned operand,
                    Number value);

/// Notes the type of a data leaf made at `where`; whether its axis 0 is
/// symbolic: the expression showed another extent with dtype and all other
/// axes equal.
bool hasSymbolicAxis(const std::source_location &where, DType dtype,
                     std::span<const Dim> dims);

} // namespace sinter::detail
