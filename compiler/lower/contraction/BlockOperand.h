/// BlockOperand: an operand of a product as a unit for whole blocks takes it:
/// where it lies, or where a phase before the product copies it to.
#pragma once

#include "compiler/analysis/Access.h"
#include "compiler/lower/kernel/KernelWriter.h"
#include "dialects/sinter/Dialect.h"

#include <optional>

namespace sinter::compiler {

class BlockOperand {
public:
  /// `depth` is the axis of the operand, a matrix with axes of batches before,
  /// that is k.
  BlockOperand(mlir::Value operand, unsigned depth, const BlockUnit &unit)
      : operand(operand), depth(depth), unit(unit),
        pieces(unit.piecesOf(elementOf(operand))) {}

  /// Whether the unit takes it where it lies. Of `channels`, if given, it is
  /// beside places under windows.
  bool findInPlace(int64_t channels = 0);
  /// Whether it takes a copy: of something behind the operand's views, if that
  /// has no more elements, else of all.
  bool findCopy(int64_t channels = 0);
  /// Whether it copies all elements that the product reads, each as often.
  bool copiesAll() const { return copy && copy->tensor == operand; }
  /// How often the operand has an element of the copy, about.
  double readsOfCopy() const;
  /// The channels of places under windows, where they take more of k than that.
  int64_t paddedChannels() const;
  /// Adds the copy's workspace; before the first phase.
  void addWorkspace(KernelWriter &writer);
  /// Adds the phase that copies. What is copied from one input alone `may` be
  /// kept, as a packed parameter.
  void addCopyPhase(KernelWriter &writer, bool mayKeep) const;

  BlockUnit::Matrix matrix; ///< after `find...` gave true

private:
  /// What is copied, by the order of its dims in memory; the last one's lines
  /// begin at multiples of `pitch`.
  struct Copy {
    mlir::Value tensor;
    llvm::SmallVector<unsigned> order;
    mlir::AffineExpr pitch;
  };

  bool find(mlir::Value leaf, mlir::AffineExpr pitch);
  /// Whether it is read as what lies under windows of an image.
  bool findWindows(mlir::Value leaf, mlir::AffineExpr pitch);
  bool findWholeCopy(bool alongDepth);
  /// Cuts k into places and their channels.
  void countPlaces();
  /// Adds the axis of pieces, `size` elements apart.
  void addPieces(mlir::AffineExpr size);
  bool takes() const {
    return unit.takes(matrix, sinter::compiler::elementOf(operand));
  }
  mlir::AffineExpr lines() const;
  mlir::AffineExpr size() const { return lines() * copy->pitch; }
  int64_t linesOfChunk() const;
  void emitChunk(Emission &emission, mlir::Value chunk) const;
  /// Of a line from its element `at` on.
  void copyElements(Emission &emission, mlir::Value line, mlir::Value at,
                    const Lanes &lanes) const;
  llvm::SmallVector<mlir::Value> piecesOf(Emission &emission,
                                          mlir::Value value) const;

  const mlir::Value operand;
  const unsigned depth;
  const BlockUnit &unit;
  const unsigned pieces;
  int64_t channels = 0; ///< of places that k counts; 0 where it does not
  std::optional<Copy> copy;
  unsigned workspace = 0; ///< its number
};

} // namespace sinter::compiler
