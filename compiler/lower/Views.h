/// Views rewrite an index: what each does to it, in one place.
#pragma once

#include "compiler/lower/ElementSource.h"

namespace sinter::compiler {

/// The source of a view op (reshape, transpose, broadcast, slice, flip,
/// window, unwindow, pad, concat, dynamic_slice, dynamic_pad); null for another
/// op.
std::unique_ptr<ElementSource> makeView(mlir::Value tensor);

/// The index of the same element after a reshape from `from` to `to`.
Index reshapeIndex(Emission &emission, const Index &index, const Shape &from,
                   const Shape &to);

/// The index with `axis` a coordinate of its own: one of the lead, or the tail.
Index apartFrom(Emission &emission, const Index &index, const Shape &shape,
                unsigned axis);

/// Where a view begins along an axis: a number that a kernel reads.
class ViewStart {
public:
  explicit ViewStart(mlir::Value number) : number(number) {}
  /// The number, brought to [0, most].
  Coord within(Emission &emission, mlir::AffineExpr most);

private:
  mlir::Value number;
  /// As indices, so that those made of one value are one value.
  llvm::DenseMap<mlir::Value, mlir::Value> positions;
};

} // namespace sinter::compiler
