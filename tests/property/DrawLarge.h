/// DrawLarge: parts of graphs that random ops hardly make: too much for one
/// kernel, or many ops that belong together.
#pragma once

#include "tests/property/DrawStep.h"

namespace sinter::property {

enum class Large : uint8_t {
  none,
  join,       ///< one op with many operands
  numbers,    ///< a chain of ops of rank 0
  views,      ///< a chain of views
  recurrence, ///< an unrolled loop, its steps joined at the end
  heads,      ///< attention whose heads share keys, in some spelling
};
inline constexpr int numLarge = 6;

/// Adds steps of that kind: so many operands, or ops in a row. Values are
/// floats of the dtype.
void drawLarge(RecipeDrawer &drawer, Large kind, size_t count, DType dtype);

} // namespace sinter::property
