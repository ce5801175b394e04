/// BlockMerge: numbers that stand in parts, merged in the order of the parts by
/// blocks of threads. A thread of a warp has a column; warps share the parts.
#pragma once

#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/kernel/KernelWriter.h"

namespace sinter::compiler {

/// What is merged: `count` numbers (f32) of each part and column, which a
/// thread handles one by one.
class MergedNumbers {
public:
  using Value = mlir::Value;
  using Values = Emission::Values;

  virtual ~MergedNumbers() = default;

  virtual size_t count() const = 0;
  /// Elements that a thread reads for a part.
  virtual int64_t reads() const { return int64_t(count()); }
  /// The numbers of a part and a column that there are.
  virtual Values at(Emission &emission, Value part, Value column) const = 0;
  /// Number `number` of no parts.
  virtual Value init(Emission &emission, size_t number) const = 0;
  /// That of the parts of `a`, then those of `b`.
  virtual Value merge(Emission &emission, size_t number, Value a,
                      Value b) const = 0;
  /// Stores what is made of the totals of a column.
  virtual void finish(Emission &emission, Value column,
                      const Values &totals) const = 0;
};

/// Parts are merged in chunks of partsOfChunk, each one after the other; then
/// the chunks in order.
class BlockMerge {
public:
  static constexpr int64_t partsOfChunk = canonicalChunk / canonicalBlock;

  BlockMerge(KernelWriter &writer, mlir::AffineExpr parts,
             mlir::AffineExpr width, size_t numbers);

  /// Whether the target has such blocks, and they memory enough.
  bool applies() const;
  /// `width` is known. Another phase may have written the parts.
  void addPhase(const MergedNumbers &numbers) const;

private:
  KernelWriter &writer;
  mlir::AffineExpr parts, width;
  const size_t numbers;
};

} // namespace sinter::compiler
