/// RecordRuns: records of long rows put in order by many owners, where lanes
/// are threads.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"

namespace sinter::compiler {

/// A record is one word of 64 bits, or two that are compared one after the
/// other, with their signs; no two of a row are equal, and none has all bits
/// but signs set. Runs of neighbours are put in order in registers. Two runs
/// become one: a record's place is the number of those before it in both, so
/// every record is brought there by itself. Of each run only the first `kept`
/// go on.
class RecordRuns {
public:
  using Value = mlir::Value;
  using Values = Emission::Values;
  /// Records of lanes from `at` (index) on, of a row: their words.
  using Make = std::function<Values(Emission &, Value row, Value at,
                                    const Lanes &lanes)>;
  /// Takes those that belong there, in order.
  using Take = std::function<void(Emission &, Value row, Value at,
                                  const Lanes &lanes, const Values &words)>;

  /// Announces workspaces, for rows of a known length.
  RecordRuns(KernelWriter &writer, mlir::AffineExpr rows, int64_t length,
             int64_t kept, unsigned words);

  /// Adds phases that put rows in order; `take`, where it is given, gets the
  /// first `kept` of each.
  void addPhases(const Make &make, const Take &take = {});
  /// The words of lanes of a row in order; for phases behind those.
  Values load(Emission &emission, Value row, const Coord &at,
              const Lanes &lanes) const;
  /// How many records of a row, all of which are kept, come before those with
  /// these words, of lanes in `mask` (null: all): vectors of index.
  Value countBelow(Emission &emission, const Values &words, Value row,
                   Value mask) const;

private:
  using Buffers = llvm::SmallVector<unsigned, 2>;

  unsigned runLanes() const;
  Value less(Emission &emission, const Values &a, const Values &b) const;
  Values ordered(Emission &emission, Values words, unsigned lanes) const;
  Values loadFrom(Emission &emission, const Buffers &buffers, const Coord &at,
                  const Lanes &lanes) const;
  void orderRun(Emission &emission, Value task, const Make &make,
                const Take &take) const;
  void addMerge(int64_t size, const Buffers &from, const Buffers &to);
  void mergeVector(Emission &emission, Value task, int64_t size,
                   const Buffers &from, const Buffers &to) const;
  /// Records of a buffer: `count` from `first` on, at most `most`.
  struct Range {
    const Buffers &from;
    Value first, count;
    int64_t most;
  };
  Value countBefore(Emission &emission, const Values &mine, const Range &range,
                    Value mask) const;

  KernelWriter &writer;
  mlir::AffineExpr rows;
  int64_t length, kept;
  unsigned words;
  Buffers buffers[2];
  unsigned last = 0; ///< which of them has rows in order
};

} // namespace sinter::compiler
