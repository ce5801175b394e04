/// Where in a tensor elements are asked for: coordinates with lanes.
#pragma once

#include "dialects/sinter/Types.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace sinter::compiler {

/// Extents of a tensor as expressions over the kernel's symbols.
using Shape = llvm::SmallVector<mlir::AffineExpr>;

/// The shape of a ranked tensor, from its encoding where it is symbolic.
Shape shapeOf(mlir::Type tensorType);
inline Shape shapeOf(mlir::Value tensor) { return shapeOf(tensor.getType()); }

/// Product of extents [first, last) and the whole product.
mlir::AffineExpr product(const Shape &shape, unsigned first, unsigned last,
                         mlir::MLIRContext *context);
/// The number when constant, else -1.
int64_t constantOf(mlir::AffineExpr expr);
using ir::isOne;

/// One coordinate over the lanes: base + lane * step, or `each` (a vector of
/// index values) where it is not affine; then base is null.
struct Coord {
  mlir::Value base;
  int64_t step = 0;
  mlir::Value each;
  unsigned count = 1; ///< lanes, where the coordinate depends on them

  bool isUniform() const { return step == 0 && !each; }
};

/// An index into a tensor of rank lead.size() + tailRank. The last `tailRank`
/// dims are addressed by one linear coordinate, so that an elementwise kernel
/// needs no division. tailRank is 0 only for rank 0.
struct Index {
  llvm::SmallVector<Coord> lead;
  Coord tail;
  unsigned tailRank = 0;

  unsigned rank() const { return lead.size() + tailRank; }
  bool isUniform() const;
};

/// How many elements are asked for. The skeleton names the axis by the step of
/// the coordinates. `mask` (a vector of i1; null means all) says which lanes
/// may be read; what others get is unspecified. A mask is `narrowed` when a
/// view took lanes away, so that perhaps none is left.
struct Lanes {
  unsigned count = 1;
  mlir::Value mask;
  bool narrowed = false;
};

/// Elements: a vector of `count` values, or one scalar when all lanes agree.
struct Element {
  mlir::Value value;
  bool isUniform() const {
    return !mlir::isa<mlir::VectorType>(value.getType());
  }
};

/// The type that values of an element type have: signless, bool is i1.
mlir::Type valueType(mlir::Type element);
/// The type of an element in memory: bool and u8 are i8, f16 and bf16 i16.
mlir::Type memoryType(mlir::Type element);
/// The element type of a tensor value.
mlir::Type elementOf(mlir::Value tensor);

} // namespace sinter::compiler
