/// Compare: whether an answer differs from the reference by more than rounding.
#pragma once

#include "runtime/reference/Accuracy.h"
#include "runtime/reference/Reference.h"

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::reference {

/// What else than a number rounding may make of an element: bits.
enum Beyond : uint8_t { beyondNan = 1, beyondPlus = 2, beyondMinus = 4 };

/// What the reference says, and how far from it rounding can lead.
struct Expectation {
  std::vector<HostTensor> values;
  /// Of the elements of each float output; empty for others. Infinite where
  /// too few evaluations gave a number to tell.
  std::vector<std::vector<double>> tolerances;
  /// Bits of Beyond of the same elements, beside the value itself. Empty where
  /// there is none. NaN only where the device flushes denormals: rounding alone
  /// makes no NaN of a number.
  std::vector<std::vector<uint8_t>> beyond;
  /// Of elements of an output that are infinite or NaN, the number that
  /// rounding may make of them: the tolerance is around it.
  std::vector<std::unordered_map<size_t, double>> numbers;

  /// What belongs to one of the outputs.
  Expectation of(size_t output) const;
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
