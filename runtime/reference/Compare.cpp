/// Comparison with a tolerance that the graph itself tells.
#include "runtime/reference/Compare.h"

#include "runtime/reference/Disturbance.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace sinter::reference {

//===- Tolerances ---------------------------------------------------------===//

/// Evaluations with disturbed results. Each element's tolerance is the largest
/// change of these times `safety`, which makes up for there being few. Twelve
/// are too few: of millions of elements some hardly move in all of them.
static constexpr unsigned samples = 24;
static constexpr double safety = 4;
/// Roundings of the result itself that are always allowed.
static constexpr double ownRoundings = 8;

/// Takes a disturbed output into the tolerances so far.
static void widen(std::vector<double> &tolerances, std::vector<bool> &mayBeNan,
                  const HostValue &plain, const HostValue &disturbed) {
  for (size_t i = 0; i < tolerances.size(); ++i) {
    double a = plain.reals[i], b = disturbed.reals[i];
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    if (std::isnan(b))
      mayBeNan[i] = true;
    double distance = safety * std::abs(a - b);
    tolerances[i] = std::isfinite(distance)
                        ? std::max(tolerances[i], distance)
                        : std::numeric_limits<double>::infinity();
  }
}

static std::vector<double> ownTolerances(const HostValue &plain) {
  std::vector<double> result(plain.reals.size());
  Rounding rounding = roundingOf(plain.dtype);
  for (size_t i = 0; i < result.size(); ++i)
    if (std::isfinite(plain.reals[i]))
      result[i] = ownRoundings * (rounding.relative * std::abs(plain.reals[i]) +
                                  rounding.least);
  return result;
}

Result<Expectation> expect(const graph::Graph &graph,
                           std::span<const HostTensor> inputs,
                           Accuracy accuracy) {
  Decided decided;
  SINTER_TRY_ASSIGN(std::vector<HostValue> plain,
                    evaluatePlain(graph, inputs, decided));
  Expectation result;
  for (const HostValue &value : plain) {
    result.values.push_back(encode(value));
    result.tolerances.push_back(ownTolerances(value));
    result.mayBeNan.emplace_back(value.reals.size());
  }
  for (unsigned sample = 0; sample < samples; ++sample) {
    SINTER_TRY_ASSIGN(
        std::vector<HostValue> disturbed,
        evaluateDisturbed(graph, inputs, decided, accuracy, sample));
    for (size_t i = 0; i < plain.size(); ++i)
      widen(result.tolerances[i], result.mayBeNan[i], plain[i], disturbed[i]);
  }
  if (!accuracy.flushesDenormals)
    result.mayBeNan.clear();
  return result;
}

Bounds boundsOf(const Expectation &expected) {
  Bounds bounds;
  for (const std::vector<double> &tolerances : expected.tolerances) {
    bounds.elements += tolerances.size();
    bounds.unbounded += std::ranges::count_if(
        tolerances, [](double tolerance) { return std::isinf(tolerance); });
  }
  return bounds;
}

//===- Comparing ----------------------------------------------------------===//

static bool isClose(double found, double expected, double tolerance,
                    bool mayBeNan) {
  if (std::isnan(found))
    return std::isnan(expected) || mayBeNan;
  if (std::isnan(expected))
    return std::isinf(tolerance);
  return found == expected || std::abs(found - expected) <= tolerance;
}

static std::string differenceIn(const HostValue &found,
                                const HostValue &expected,
                                const std::vector<double> &tolerances,
                                const std::vector<bool> &mayBeNan) {
  if (found.dtype != expected.dtype || found.dims != expected.dims)
    return "another type";
  for (size_t i = 0; i < expected.ints.size(); ++i)
    if (found.ints[i] != expected.ints[i])
      return fmt::format("element {}: {} is not {}", i, found.ints[i],
                         expected.ints[i]);
  for (size_t i = 0; i < expected.reals.size(); ++i)
    if (!isClose(found.reals[i], expected.reals[i], tolerances[i],
                 !mayBeNan.empty() && mayBeNan[i]))
      return fmt::format("element {}: {} is not {} (to within {:.3g})", i,
                         found.reals[i], expected.reals[i], tolerances[i]);
  return {};
}

std::string differenceOf(std::span<const HostTensor> found,
                         const Expectation &expected) {
  if (found.size() != expected.values.size())
    return "another number of outputs";
  for (size_t i = 0; i < found.size(); ++i) {
    std::string text = differenceIn(
        decode(found[i]), decode(expected.values[i]), expected.tolerances[i],
        expected.mayBeNan.empty() ? std::vector<bool>() : expected.mayBeNan[i]);
    if (!text.empty())
      return fmt::format("output {}: {}", i, text);
  }
  return {};
}

} // namespace sinter::reference
