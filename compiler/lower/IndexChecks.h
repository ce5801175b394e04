/// IndexChecks: positions that are checked before they are used, or never.
#pragma once

namespace sinter::compiler {

/// Gathers and scatters alike: x, positions along an axis of it, ...
inline constexpr unsigned positionsOperand = 1;

/// The attribute of an op that uses positions which are in range: they cannot
/// be otherwise, or another op has checked them and keeps them so.
inline constexpr const char *checkedAttr = "sinter.checked";
/// That of the op which checks them, in a kernel of its own.
inline constexpr const char *checksAttr = "sinter.checks";

} // namespace sinter::compiler
