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
/// As many where rounding decides whether some element is a number.
static constexpr unsigned mostSamples = 8 * samples;
static constexpr double safety = 4;
/// Roundings of the result itself that are always allowed.
static constexpr double ownRoundings = 8;

static double ownTolerance(Rounding rounding, double value) {
  return ownRoundings * (rounding.relative * std::abs(value) + rounding.least);
}

namespace {
/// What all evaluations made of an element.
struct Reach {
  /// The value, or if it is none the first number that another gave.
  double number = std::numeric_limits<double>::quiet_NaN();
  double farthest = 0; ///< from `number`
  uint8_t numbers = 0; ///< how many of the disturbed ones are numbers
  uint8_t beyond = 0;  ///< bits of Beyond: what the others are

  void add(double disturbed) {
    if (std::isnan(disturbed)) {
      beyond |= beyondNan;
    } else if (std::isinf(disturbed)) {
      beyond |= disturbed > 0 ? beyondPlus : beyondMinus;
    } else {
      ++numbers;
      if (std::isnan(number))
        number = disturbed;
      farthest = std::max(farthest, std::abs(number - disturbed));
    }
  }
  /// Whether too few are numbers to say how far rounding leads.
  bool isUnclear() const {
    return !std::isnan(number) && beyond != 0 && numbers < 2;
  }
  double tolerance(Rounding rounding) const {
    if (isUnclear())
      return std::numeric_limits<double>::infinity();
    if (std::isnan(number))
      return 0;
    return std::max(ownTolerance(rounding, number), safety * farthest);
  }
};
} // namespace

/// Adds what is expected of an output.
static void addOutput(Expectation &result, const HostValue &plain,
                      std::span<const Reach> reach, bool mayBeNan) {
  Rounding rounding = roundingOf(plain.dtype);
  auto &tolerances = result.tolerances.emplace_back(reach.size());
  auto &beyond = result.beyond.emplace_back(reach.size());
  auto &numbers = result.numbers.emplace_back();
  for (size_t i = 0; i < reach.size(); ++i) {
    double value = plain.reals[i];
    tolerances[i] = reach[i].tolerance(rounding);
    beyond[i] = mayBeNan ? reach[i].beyond : reach[i].beyond & ~beyondNan;
    if (!std::isfinite(value) && reach[i].numbers != 0)
      numbers[i] = reach[i].number;
  }
  result.values.push_back(encode(plain));
}

Result<Expectation> expect(const graph::Graph &graph,
                           std::span<const HostTensor> inputs,
                           Accuracy accuracy) {
  Decided decided;
  SINTER_TRY_ASSIGN(std::vector<HostValue> plain,
                    evaluatePlain(graph, inputs, decided));
  std::ranges::transform(plain, plain.begin(), asPairs);
  std::vector<std::vector<Reach>> reaches;
  for (const HostValue &value : plain) {
    auto &reach = reaches.emplace_back(value.reals.size());
    for (size_t i = 0; i < reach.size(); ++i)
      if (std::isfinite(value.reals[i]))
        reach[i].number = value.reals[i];
  }
  auto anyUnclear = [&] {
    return std::ranges::any_of(reaches, [](const auto &reach) {
      return std::ranges::any_of(reach, &Reach::isUnclear);
    });
  };
  for (unsigned sample = 0;
       sample < samples || (sample < mostSamples && anyUnclear()); ++sample) {
    SINTER_TRY_ASSIGN(
        std::vector<HostValue> disturbed,
        evaluateDisturbed(graph, inputs, decided, accuracy, sample));
    std::ranges::transform(disturbed, disturbed.begin(), asPairs);
    for (size_t i = 0; i < reaches.size(); ++i)
      for (size_t k = 0; k < reaches[i].size(); ++k)
        reaches[i][k].add(disturbed[i].reals[k]);
  }
  Expectation result;
  for (size_t i = 0; i < plain.size(); ++i)
    addOutput(result, plain[i], reaches[i], accuracy.flushesDenormals);
  return result;
}

Expectation Expectation::of(size_t output) const {
  Expectation one{{values[output]}, {tolerances[output]}, {}, {}};
  if (!beyond.empty())
    one.beyond = {beyond[output]};
  if (!numbers.empty())
    one.numbers = {numbers[output]};
  return one;
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

/// Whether element `i` of an output is what is expected of it.
static bool isClose(double found, double expected, size_t i,
                    const Expectation &output) {
  double tolerance = output.tolerances[0][i];
  uint8_t beyond = output.beyond.empty() ? 0 : output.beyond[0][i];
  if (std::isnan(found))
    return std::isnan(expected) || (beyond & beyondNan);
  if (found == expected)
    return true;
  if (std::isinf(found))
    return std::isinf(tolerance) ||
           (beyond & (found > 0 ? beyondPlus : beyondMinus));
  if (!std::isfinite(expected) && !output.numbers.empty())
    if (auto number = output.numbers[0].find(i);
        number != output.numbers[0].end())
      expected = number->second;
  if (!std::isfinite(expected))
    return std::isinf(tolerance);
  return std::abs(found - expected) <= tolerance;
}

/// Of an expectation of one output.
static std::string differenceIn(const HostValue &found,
                                const Expectation &output) {
  HostValue expected = decode(output.values[0]);
  if (found.dtype != expected.dtype || found.dims != expected.dims)
    return "another type";
  for (size_t i = 0; i < expected.ints.size(); ++i)
    if (found.ints[i] != expected.ints[i])
      return fmt::format("element {}: {} is not {}", i, found.ints[i],
                         expected.ints[i]);
  for (size_t i = 0; i < expected.reals.size(); ++i)
    if (!isClose(found.reals[i], expected.reals[i], i, output))
      return fmt::format("element {}: {} is not {} (to within {:.3g})", i,
                         found.reals[i], expected.reals[i],
                         output.tolerances[0][i]);
  return {};
}

std::string differenceOf(std::span<const HostTensor> found,
                         const Expectation &expected) {
  if (found.size() != expected.values.size())
    return "another number of outputs";
  for (size_t i = 0; i < found.size(); ++i) {
    std::string text = differenceIn(asPairs(decode(found[i])), expected.of(i));
    if (!text.empty())
      return fmt::format("output {}: {}", i, text);
  }
  return {};
}

} // namespace sinter::reference
