/// Row statistics: reductions of a contraction's rows in the contraction's own
/// kernel.
#pragma once

#include "compiler/lower/contraction/MatrixTile.h"
#include "compiler/lower/element/ElementSource.h"
#include "dialects/program/Program.h"

namespace sinter::compiler {

/// The longest row of a product that is kept for those who reduce it, in
/// elements.
inline constexpr int64_t longestKeptRow = 4096;

/// Whether the kernel reduces rows of a contraction.
bool hasRowStatistics(program::KernelOp kernel);

/// Whether rows of `product` can be kept for the kernel's reductions: these run
/// along rows of its shape, and everything reads the product at its own place.
/// `why` receives the reason when not.
bool keepsRowsFor(mlir::Value product, program::KernelOp kernel,
                  std::string *why = nullptr);

/// A product whose sums are kept, as a source of its elements.
std::unique_ptr<ElementSource>
makeKeptProduct(mlir::Value product, const MatrixTile::KeptSums &sums);

} // namespace sinter::compiler
