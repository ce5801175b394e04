/// LayoutRegion: ops around convolutions and pooling whose tensors may be
/// stored with their channels last, and which of them had better be.
#pragma once

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Reorder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace sinter::compiler {

class MinimumCut;

/// An op of a region.
struct LayoutPart {
  mlir::Operation *op;
  /// In which its tensors are stored if it is turned.
  ir::TensorOrders orders;
  /// For each operand, and last the result: places for each one of the image
  /// that the region was found from; 0 for tensors of a few elements.
  llvm::SmallVector<double, 4> places;
  bool isTurned = false;

  llvm::ArrayRef<int64_t> order(int which) const {
    return which == ir::resultNumber ? orders.result : orders.operands[which];
  }
  double placesOf(int which) const {
    return which == ir::resultNumber ? places.back() : places[which];
  }
};

/// What is connected to an op over images by tensors that could be stored so
/// that its channels are last. Costs count elements of one place of an image:
/// the extents that may be symbols decide nothing, so that static and symbolic
/// programs agree.
class LayoutRegion {
public:
  /// Everything that is reached from `seed`, without ops in `taken`, which the
  /// region's ops join.
  LayoutRegion(ir::ImageOpInterface seed,
               llvm::DenseSet<mlir::Operation *> &taken);

  /// Marks the ops that are cheaper turned: what turning tensors between those
  /// and others costs is in it.
  void choose();

  llvm::ArrayRef<LayoutPart> parts() const { return list; }
  /// Nanoseconds that the choice saves, about.
  double gain() const { return saved; }
  mlir::Operation *seed() const { return list.front().op; }

private:
  void reach(mlir::Operation *op, int which, llvm::ArrayRef<int64_t> order,
             double places);
  void reachNeighbours(unsigned number);
  double elements(mlir::Value value, llvm::ArrayRef<int64_t> order) const;
  double cost(mlir::Value value, llvm::ArrayRef<int64_t> order,
              double places) const;
  double costAsRecorded(const LayoutPart &part) const;
  double imageCost(const LayoutPart &part) const;
  void addTurns(MinimumCut &cut, mlir::Value value, double places) const;
  /// The node of a part in the cut.
  static unsigned nodeOf(unsigned number) { return number + 2; }

  llvm::DenseSet<mlir::Operation *> &taken;
  std::vector<LayoutPart> list;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  unsigned placeAxes = 0; ///< of an image: batch and space
  double saved = 0;
};

} // namespace sinter::compiler
