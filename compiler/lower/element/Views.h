/// Views rewrite an index: what each does to it, in one place.
#pragma once

#include "compiler/lower/element/ElementSource.h"
#include "dialects/sinter/ViewMap.h"

namespace sinter::compiler {

/// The source of a view; null for another op.
std::unique_ptr<ElementSource> makeView(mlir::Value tensor);

/// The index of the same element after a reshape from `from` to `to`.
Index reshapeIndex(Emission &emission, const Index &index, const Shape &from,
                   const Shape &to);

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

/// Indices of a view's operands. The view keeps no linear order.
class ViewIndex {
public:
  explicit ViewIndex(ir::ViewMap map);

  /// The index with all dims that the view changes apart: the tail is one dim,
  /// or passed on, or all of it is alike.
  Index splitTail(Emission &emission, const Index &index) const;
  /// The coordinate along an axis, before it is divided by the spacing.
  Coord sum(Emission &emission, const ir::AxisMap &axis, const Index &split);
  /// The index of a part whose elements are everywhere.
  Index indexOf(Emission &emission, const ir::ViewPart &part,
                const Index &split);

  const ir::ViewMap map;

private:
  bool keepsTail(unsigned count) const;

  ViewStart start;
  bool ordersAxes; ///< or sums them: dims do not keep their places
};

} // namespace sinter::compiler
