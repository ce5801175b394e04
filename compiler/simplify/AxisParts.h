/// AxisParts: the axes of a view as the parts that they were joined of, and
/// which of these repeat the same elements.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <utility>

namespace sinter::compiler {

/// A part of an axis: how many steps it has, and whether they all lead to the
/// same elements.
struct AxisPart {
  mlir::AffineExpr extent;
  bool isRepeated = false;
};
/// The parts of one axis, the outermost first; none of an axis of one element.
using PartList = llvm::SmallVector<AxisPart, 2>;

/// Parts in a row as those of axes of other extents, cut where an axis ends
/// within one. Nothing where the extents do not tell.
std::optional<llvm::SmallVector<PartList>>
regroup(llvm::ArrayRef<PartList> lists, llvm::ArrayRef<mlir::AffineExpr> dims);

/// The axes of a value, each as one part.
llvm::SmallVector<PartList> wholeAxes(mlir::Value value);

/// Finds the parts of values' axes: behind reshapes, transposes, broadcasts,
/// slices and joins, and where pointwise ops are of values with alike parts.
class AxisParts {
public:
  /// One list for each axis of `value`.
  const llvm::SmallVector<PartList> &of(mlir::Value value) {
    return find(value, 0);
  }
  /// Whether an axis has both parts that repeat elements and others.
  bool isMixed(mlir::Value value, unsigned axis);

private:
  using Lists = llvm::SmallVector<PartList>;
  const Lists &find(mlir::Value value, unsigned depth);
  Lists compute(mlir::Value value, unsigned depth);
  std::optional<Lists> behind(mlir::Operation *op, unsigned depth);
  std::optional<Lists> ofJoin(mlir::Operation *op, unsigned depth);
  Lists ofPointwise(mlir::Operation *op, unsigned depth);

  llvm::DenseMap<mlir::Value, Lists> known;
};

/// Writes a value with an axis for each part, of size 1 where the part repeats
/// elements: what is computed on the way is computed for these only.
class PartBuilder {
public:
  using Cuts = llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr, 2>>;
  struct Apart {
    mlir::Value value;
    llvm::SmallVector<bool> isRepeated; ///< by axis of `value`
  };

  PartBuilder(AxisParts &parts, mlir::OpBuilder &builder, unsigned symbols)
      : parts(parts), builder(builder), symbols(symbols) {}

  /// `cuts` has the extents that each axis of `value` is to fall into.
  Apart build(mlir::Value value, const Cuts &cuts);

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::Value broadcast(mlir::Value value,
                        llvm::ArrayRef<mlir::AffineExpr> dims);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> order);

private:
  Apart write(mlir::Value value, const Cuts &cuts);
  std::optional<Apart> buildView(mlir::Operation *op, const Cuts &cuts,
                                 bool hasRepeats);
  std::optional<Apart> buildBroadcast(mlir::Operation *op, const Cuts &cuts);
  std::optional<Apart> buildReshape(mlir::Operation *op, const Cuts &cuts);
  std::optional<Apart> buildTranspose(mlir::Operation *op, const Cuts &cuts);
  std::optional<Apart> buildSlice(mlir::Operation *op, const Cuts &cuts);
  std::optional<Apart> buildJoin(mlir::Operation *op, const Cuts &cuts);
  Apart buildPointwise(mlir::Operation *op, const Cuts &cuts);
  /// The extents, but 1 where parts are repeated.
  llvm::SmallVector<mlir::AffineExpr>
  spreadDims(llvm::ArrayRef<mlir::AffineExpr> extents,
             llvm::ArrayRef<bool> isRepeated) const;
  mlir::RankedTensorType typeLike(mlir::Value value,
                                  llvm::ArrayRef<mlir::AffineExpr> dims) const;

  AxisParts &parts;
  mlir::OpBuilder &builder;
  unsigned symbols;
  unsigned depth = 0;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<Cuts, Apart>, 1>>
      made;
};

} // namespace sinter::compiler
