/// Disturbance: evaluations in which rounding went another way.
///
/// After the stochastic arithmetic of Vignes: what a graph makes of rounding
/// errors is measured on a few samples of them. The errors of sums of no given
/// order follow the probabilistic bound of Higham and Mary: each term of n is
/// off by at most sqrt(n) roundings. Where a long sum has an order, each
/// addition is off by a rounding of the sum so far, and of many of these, half
/// of which go another way, the root of the sum of their squares is left. Where
/// terms have one sign that is more, for all early terms are off the same way.
#pragma once

#include "runtime/reference/Accuracy.h"
#include "runtime/reference/HostValue.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::reference {

/// Half of what lies between neighbours of a float dtype.
struct Rounding {
  double relative = 0; ///< to the number
  double least = 0;    ///< the least number above 0
};
Rounding roundingOf(DType dtype);

/// The results that are no floats, in the order of evaluation. Which way they
/// go is decided once: a disturbed comparison must not choose another.
using Decided = std::vector<HostValue>;

/// As `evaluate`, decoded; fills `decided`.
Result<std::vector<HostValue>> evaluatePlain(const graph::Graph &graph,
                                             std::span<const HostTensor> inputs,
                                             Decided &decided);

/// Evaluates in f64, each op's result off by up to the accuracy's roundings of
/// the dtype that the graph gives it. `sample` draws which way.
Result<std::vector<HostValue>>
evaluateDisturbed(const graph::Graph &graph, std::span<const HostTensor> inputs,
                  const Decided &decided, Accuracy accuracy, uint64_t sample);

/// Multiplies every element by 1 + d, |d| <= `relative` drawn from `state`, and
/// moves it by up to `least`; zeros and infinities stay.
void disturb(HostValue &value, double relative, double least, uint64_t &state);

/// Makes zeros of the elements below the least normal `f32`: of all, or of
/// those that `state` draws.
void flushDenormals(HostValue &value, bool ofAll, uint64_t &state);

/// Moves every element by the one of `by` at its place, up or down; not by an
/// infinity, which rounding does not make.
void moveBy(HostValue &value, const HostValue &by, uint64_t &state);

} // namespace sinter::reference
