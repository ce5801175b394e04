/// Where in a tensor elements are asked for: coordinates with lanes.
#pragma once

#include "compiler/analysis/Shapes.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace sinter::compiler {

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

} // namespace sinter::compiler
