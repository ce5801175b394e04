/// WarpgroupProduct: products of a warpgroup (PTX ISA, wgmma).
#pragma once

#include "compiler/target/cuda/Ptx.h"
#include "compiler/target/cuda/WarpgroupLayout.h"

namespace sinter::compiler {

/// Multiplies 64 rows by some columns, over the k of a stage of shared memory.
class WarpgroupProduct {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  WarpgroupProduct(const Ptx &ptx, const BlockUnit::Product &product,
                   int64_t columns)
      : ptx(ptx), product(product), columns(columns) {}

  /// The sums with the products of the operands at these addresses, which are
  /// not known before `wait`; those of earlier calls but for the last have
  /// ended. Where `k` (i32) is 0, what the sums were does not count.
  Values multiply(Value left, Value right, Value k,
                  mlir::ValueRange sums) const;
  /// Sums that are known.
  Values wait(mlir::ValueRange sums) const;

private:
  std::string text() const;

  const Ptx &ptx;
  const BlockUnit::Product &product;
  const int64_t columns;
};

} // namespace sinter::compiler
