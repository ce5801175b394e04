/// TopFilter: which elements of a row may be among the first few.
#pragma once

#include "compiler/lower/fiber/SortRecords.h"

namespace sinter::compiler {

/// One row of a kernel that sorts.
struct SortRow {
  /// Elements at positions along the row; garbage in lanes that `lanes` masks.
  std::function<mlir::Value(Emission &, Coord position, const Lanes &lanes)>
      read;
  mlir::Value length; ///< index
};

/// Finds the first `kept` of a row in two passes without sorting it. The first
/// takes the extremes of groups of elements: the element that comes `kept`-th
/// among those extremes comes no earlier than `kept`-th in the row. The second
/// keeps what does not come after that one: a few more than asked for, where
/// the order of the row has nothing to do with the groups.
class TopFilter {
public:
  using Value = mlir::Value;

  TopFilter(mlir::Type element, bool descending, int64_t kept,
            const Target &target, mlir::MLIRContext *context);

  /// The least length of a row for which this is worth the effort; -1 where it
  /// never is.
  int64_t leastLength() const;

  /// Stores the records of what is kept and returns their number (an index).
  Value run(Emission &emission, const SortRow &row, const SortKeys &keys,
            SortRecords &records) const;

private:
  Value convert(Emission &emission, Value element) const;
  Value first(Emission &emission, Value extreme, Value element) const;
  Value isKept(Emission &emission, Value element, Value bound) const;
  Value start(Emission &emission) const;
  void findExtremes(Emission &emission, const SortRow &row,
                    Value extremes) const;
  Value countBelow(Emission &emission, Value extremes, Value trial) const;
  Value boundOf(Emission &emission, Value extremes) const;
  Value keep(Emission &emission, const SortRow &row, const SortKeys &keys,
             SortRecords &records, Value bound) const;

  bool descending;
  int64_t kept;
  unsigned lanes;
  int64_t segments;
  /// What elements are compared as: f32 or f64 for floats, keys otherwise.
  mlir::Type compared;
  SortKeys elementKeys, comparedKeys;
};

} // namespace sinter::compiler
