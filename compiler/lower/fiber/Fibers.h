/// Fibers: the lines of a tensor along an axis.
#pragma once

#include "compiler/lower/element/Emission.h"

namespace sinter::compiler {

/// Fibers of a shape along an axis: all other dims, the lanes along the last of
/// them when that is the tensor's last dim too.
class Fibers {
public:
  using Value = mlir::Value;

  Fibers(Shape shape, unsigned axis, mlir::MLIRContext *context);

  /// Chunks are rows of fibers, split in blocks of `width` along the last dim.
  mlir::AffineExpr chunks(unsigned width) const;
  /// Calls `emit` with the coordinates (axis empty) and lanes of the chunk.
  void visit(Emission &emission, Value chunk, unsigned width,
             llvm::function_ref<void(llvm::ArrayRef<Coord>, const Lanes &)>
                 emit) const;
  unsigned width(const Target &target) const;
  /// As `width`, several vectors, `most` of them, where they come out even:
  /// more of a line of memory is used at once.
  unsigned wideWidth(const Target &target, unsigned most) const;
  /// The coordinates of fiber number `fiber` (axis empty), where the axis is
  /// the last dim.
  llvm::SmallVector<Coord> coordinatesOf(Emission &emission, Value fiber) const;
  /// The index of a place of a fiber.
  Index at(Emission &emission, llvm::ArrayRef<Coord> coordinates,
           Coord position) const;

  Shape shape;
  unsigned axis;
  mlir::MLIRContext *context;
  Shape others;
  mlir::AffineExpr last, rows;
  /// Whether the last dim is one of the others.
  bool alongLast = false;
};

/// A rough time of going along so many fibers.
double fiberMicroseconds(mlir::AffineExpr extent, unsigned width);

} // namespace sinter::compiler
