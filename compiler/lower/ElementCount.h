/// How many elements a kernel's code has.
#pragma once

namespace sinter::compiler {

/// On a function of a kernel's lowered form, an integer: the elements, or
/// vectors of them, that were written out in it. Those that the emitter knew
/// already do not count.
inline constexpr const char *elementsAttr = "sinter.elements";

} // namespace sinter::compiler
