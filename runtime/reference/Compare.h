/// Compare: whether an answer differs from the reference by more than rounding.
#pragma once

#include "runtime/reference/Accuracy.h"
#include "runtime/reference/Reference.h"

#include <span>
#include <string>
#include <vector>

namespace sinter::reference {

/// What the reference says, and how far from it rounding can lead.
struct Expectation {
  std::vector<HostTensor> values;
  /// Of the elements of each float output; empty for others. Infinite where
  /// rounding decides between a number, an infinity and NaN.
  std::vector<std::vector<double>> tolerances;
  /// Of the same elements: numbers that zeros instead of denormals may turn
  /// into NaN. Empty where the device keeps denormals: rounding alone makes no
  /// NaN of a number.
  std::vector<std::vector<bool>> mayBeNan;
};

/// Of float outputs: how many elements, and how many with no finite tolerance.
struct Bounds {
  size_t elements = 0, unbounded = 0;
};
Bounds boundsOf(const Expectation &expected);

/// Evaluates the graph, and again with every op's result disturbed as far as
/// ops may be off: tolerances come from how the graph's own outputs
/// answer, so they are wide where it is badly conditioned and nowhere else.
Result<Expectation> expect(const graph::Graph &graph,
                           std::span<const HostTensor> inputs,
                           Accuracy accuracy = {});

/// A difference that is more than rounding, or empty. Integers must be equal.
std::string differenceOf(std::span<const HostTensor> found,
                         const Expectation &expected);

} // namespace sinter::reference
