/// NoteSizes: sizes that a launch compares with what indices reach into.
#pragma once

#include "mlir/IR/AffineMap.h"

#include <cstdint>
#include <string>

namespace sinter::compiler {

/// Sizes that are functions of a launch's dims, as `runtime::largestSize` takes
/// them behind its keyword.
std::string sizesText(mlir::AffineMap sizes);
/// A module (its words) with an instruction that says the text,
/// OpModuleProcessed.
llvm::SmallVector<uint32_t, 0> withText(llvm::ArrayRef<uint32_t> words,
                                        llvm::StringRef text);

} // namespace sinter::compiler
