/// Classifier: one walk over a set of ops, from what a kernel stores to what it
/// reads.
///
/// A kernel walks an index space and pulls values from its outputs inward. The
/// classification does the same walk on ops: every op gets the accesses by
/// which it is reached. An access is *aligned* when its index is the walked
/// index itself; a value of the kernel's root can only be reached aligned,
/// because it exists at no other index.
#pragma once

#include "compiler/fuse/ClassifyKernel.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace sinter::compiler {

/// The space that an access walks.
enum class Space : uint8_t {
  full,   ///< the elements of the outputs, or those that a reduction reads
  row,    ///< one per reduction result
  point,  ///< in the walked row, at a column that data decide
  column, ///< one per result of a reduction of columns beside those of rows
  other,  ///< any other index: through a view that moves elements
};

struct Access {
  Space space = Space::full;
  /// Tells accesses of space `other` apart: the view they came through.
  unsigned through = 0;
  double count = 0; ///< elements walked, estimated
  auto key() const { return std::pair(space, through); }
};

using DimList = llvm::SmallVector<mlir::AffineExpr>;

/// Classifies one set.
class Classifier {
public:
  Classifier(const FusionGraph &graph, const OpSet &coreOps,
             const KernelCaps &caps)
      : graph(graph), coreOps(coreOps), caps(caps) {}

  Classified run();

private:
  std::optional<Rejection> checkCaps() const;
  std::optional<Rejection> checkTurned() const;
  std::optional<Rejection> findRoots();
  std::optional<Rejection> addRoot(unsigned index);
  void findColumns();
  std::optional<Rejection> checkRowSpace();
  std::optional<Rejection> checkStatistics() const;
  std::optional<Rejection> checkRowStatistics() const;
  std::optional<Rejection> checkColumnStatistics() const;
  bool isComputedFromStored(mlir::Value value) const;
  bool isScattered(mlir::Value output) const;
  mlir::Value orderedFrom(mlir::Value output) const;
  std::optional<Rejection> reachOutputs();
  std::optional<Rejection> reachOperands(unsigned index, const Access &access);
  std::optional<Rejection> reachThroughView(mlir::Operation *op,
                                            const Access &access);
  std::optional<Rejection> reachThroughReduction(mlir::Operation *op,
                                                 const Access &access);
  bool isRowsOperand(unsigned index) const;
  bool isCheapPrologue(unsigned index) const;
  bool readsMore(const OpSet &prologue) const;
  std::optional<Rejection> checkPrologue();
  std::optional<Rejection> checkParallelism();
  std::optional<Rejection> checkCopies() const;
  void reach(mlir::Value value, const Access &access);
  void reachColumns(llvm::SmallDenseSet<unsigned> &after);
  bool isRow(llvm::ArrayRef<mlir::AffineExpr> dims) const;
  bool isRowNumber(llvm::ArrayRef<mlir::AffineExpr> dims) const;
  void findFeedback();
  const char *kind() const;
  double recomputedWork() const;

  mlir::Operation *op(unsigned index) const { return graph.op(index); }

  const FusionGraph &graph;
  const OpSet &coreOps;
  const KernelCaps &caps;
  OpSet body, outputs;
  OpSet roots;
  /// Reductions of all axes but the last, beside roots that reduce that one.
  OpSet columns;
  /// A contraction whose rows or columns the roots, reductions, run along.
  std::optional<unsigned> product;
  graph::PatternKind rootKind = graph::PatternKind::pointwise;
  /// Of reductions: what they read, and which of its axes stay.
  DimList fullDims, rowDims;
  bool trailing = false;      ///< the reduced axes are the last ones
  bool keepsLastAxis = false; ///< which is not reduced
  bool storesFull = false;    ///< an output has one element per element read
  bool feedsBack = false;     ///< a result is read back per element
  llvm::DenseMap<unsigned, llvm::SmallVector<Access, 2>> accesses;
};

/// Whether a kernel of one such op is walked in the op's own way.
bool isRoot(graph::PatternKind kind);

/// Whether two ops are parts of attention that one walk over the scores makes.
bool shareScores(mlir::Operation *a, mlir::Operation *b);

/// Whether one walk makes both ops' results: parts of attention, or of a sort.
bool areParts(mlir::Operation *a, mlir::Operation *b);

} // namespace sinter::compiler
