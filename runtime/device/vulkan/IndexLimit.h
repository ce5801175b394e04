/// IndexLimit: which sizes a kernel's indices of 32 bits do not reach into.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace sinter::runtime {

/// Elements of the largest tensor for kernels whose indices have 32 bits: what
/// they add to an index to find that it is none stays below 2^31.
inline constexpr int64_t mostElements32 = int64_t(1) << 30;

/// What begins the text of a module's OpModuleProcessed that says how many
/// elements tensors have which its launches know first: words with spaces
/// between them, in postfix order. A number, `dN` (dim N of the launch), one of
/// `+ * / ^ %` (^ divides and rounds up), and `;` behind each size.
inline constexpr std::string_view sizesKeyword = "sizes ";

/// The largest of the sizes of such a text, behind its keyword, or the largest
/// number where that is more; an error of kind `io` where it is damaged.
Result<int64_t> largestSize(std::string_view sizes,
                            std::span<const int64_t> dims);

} // namespace sinter::runtime
