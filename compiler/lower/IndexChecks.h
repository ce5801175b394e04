/// IndexChecks: positions that are checked before they are used.
#pragma once

namespace sinter::compiler {

/// The attribute of an op that uses positions which another one has checked,
/// and clamped.
inline constexpr const char *checkedAttr = "sinter.checked";
/// That of the op which checks them, in a kernel of its own.
inline constexpr const char *checksAttr = "sinter.checks";

} // namespace sinter::compiler
