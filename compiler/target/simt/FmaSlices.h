/// FmaSlices: in how many slices k is summed, for each size that a product may
/// have.
#pragma once

#include "compiler/target/Target.h"
#include "compiler/target/simt/FmaCost.h"

namespace sinter::compiler {

/// Sizes with as many slices.
struct FmaSlices {
  int64_t slices = 1;
  /// 1 for these sizes, 0 for others; null where there are no others.
  mlir::AffineExpr holds;
  /// One of each class, with what is known of the product.
  llvm::SmallVector<FmaSizes> sizes;
};

/// For layouts that a device can run, of cards of which `usual` is one. Slices
/// are the order of sums: they follow from classes of sizes, not from what a
/// program knows of these.
llvm::SmallVector<FmaSlices>
slicesFor(const BlockUnit::Product &product,
          llvm::ArrayRef<const FmaLayout *> layouts, const MachineModel &usual);

} // namespace sinter::compiler
