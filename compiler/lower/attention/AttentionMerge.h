/// AttentionMerge: the parts of keys that few queries walk apart, merged in
/// order.
#pragma once

#include "compiler/lower/attention/AttentionParts.h"

namespace sinter::compiler {

/// Keys in parts, each of which a block walks by itself: few queries would not
/// fill a device. All of it follows from sizes, whoever knows them.
struct KeySplit {
  /// 1 for sizes that are walked in parts, 0 for others.
  static mlir::AffineExpr sizes(mlir::AffineExpr queries,
                                mlir::AffineExpr batches,
                                mlir::AffineExpr keys);
  /// How many keys a part has.
  static mlir::AffineExpr lengthFor(mlir::AffineExpr keys);

  mlir::AffineExpr length, parts;
  mlir::AffineExpr queries; ///< of all batches
  /// Workspaces, [part][query]: what weights make of values; the largest score
  /// and the sum of weights.
  unsigned sums = 0, softmax = 0;
};

/// Adds the phase that merges the parts and stores the results.
void addMergedKeys(KernelWriter &writer, const AttentionParts &parts,
                   const KeySplit &split);

} // namespace sinter::compiler
