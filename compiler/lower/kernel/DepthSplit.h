/// DepthSplit: contractions of a long k with few results, such as the gradient
/// of a weight. The sums of parts of k stand in memory and are added in order
/// by a phase of their own.
#pragma once

#include "compiler/Compiler.h"
#include "dialects/sinter/Dialect.h"

#include <optional>

namespace sinter::compiler {

/// Who sums a part: a core, a group of threads, or a block of groups.
enum class PartOf { core, threads, block };

/// How k is split: a function of shapes and types, by expressions that hold for
/// every size that a symbol may have. A k that is no longer than `length` is
/// one part, whose sum is the one that there would be without a split.
struct DepthSplit {
  mlir::AffineExpr length; ///< of a part, in what the tile counts k in
  mlir::AffineExpr count;  ///< of parts; at least one
  int64_t most = -1;       ///< of them, whatever k is; -1 where unknown
};

/// Whether k counts rows of both operands, or positions of windows. Sizes that
/// users may make symbols of are rows: sums over other axes, those of a layer's
/// inputs, are not split, for how many rows there are would choose for them.
bool sumsOverRows(ir::ContractionOpInterface op);

/// The split of a contraction with that end of k, if it has one: of a sum over
/// the rows of both operands, or over the positions of windows. `exact` has
/// none: it takes k in ascending order. Parts are shorter where there are more
/// to sum them.
std::optional<DepthSplit> splitDepth(ir::ContractionOpInterface op,
                                     mlir::AffineExpr depth,
                                     NumericsMode numerics, PartOf who);

} // namespace sinter::compiler
