/// Functions that are part of what an op promises to the bit.
#pragma once

namespace sinter::compiler {

/// The attribute of a math.sqrt that is rounded correctly even in a module
/// whose functions may be approximations: random numbers are the same in every
/// mode.
inline constexpr const char *roundedAttr = "sinter.rounded";

} // namespace sinter::compiler
