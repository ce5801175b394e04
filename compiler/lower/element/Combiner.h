/// Combiner: what a reduction keeps, and how it takes in and merges.
#pragma once

#include "compiler/lower/element/Emission.h"

#include <memory>

namespace sinter::compiler {

/// A reduction of n values. Works on scalars and on vectors alike.
class Combiner {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  virtual ~Combiner() = default;

  /// Types of the kept values (scalars).
  virtual llvm::SmallVector<mlir::Type> types() const = 0;
  /// The state of having seen nothing, `count` lanes.
  virtual Values init(Emission &emission, unsigned count) const = 0;
  /// The same, where the elements to come start at `position` (i32): what is
  /// passed to `take` only.
  virtual Values start(Emission &emission, unsigned count,
                       Value position) const {
    (void)position;
    return init(emission, count);
  }
  /// The state of having seen one element; `position` (i32) is its number in
  /// the reduction, given when needsPosition.
  virtual Values lift(Emission &emission, Value element,
                      Value position) const = 0;
  /// The state of having seen what `a`, then what `b` saw.
  virtual Values merge(Emission &emission, const Values &a,
                       const Values &b) const = 0;
  /// Whether a NaN makes the result NaN, whatever else there is. It may be
  /// looked for aside then, and numbers be merged by `mergeNumbers`.
  virtual bool spreadsNan() const { return false; }
  /// `merge` of numbers; any value where one is NaN.
  virtual Values mergeNumbers(Emission &emission, const Values &a,
                              const Values &b) const {
    return merge(emission, a, b);
  }
  /// `merge` where `b` is one element, `a` a state that began with `start`, and
  /// elements come in the order of their positions.
  virtual Values take(Emission &emission, const Values &a,
                      const Values &b) const {
    return merge(emission, a, b);
  }
  /// The result's element.
  virtual Value finish(Emission &emission, const Values &state) const = 0;
  virtual bool needsPosition() const { return false; }
  /// Whether merging two states computes functions such as exp.
  virtual bool mergesLong() const { return false; }
  /// Whether bits depend on the order of merging.
  virtual bool isOrdered() const { return false; }
};

/// The combiner of a reduction op; null for another op.
std::unique_ptr<Combiner> makeCombiner(mlir::Value tensor);

} // namespace sinter::compiler
