/// Widening, and comparison with a tolerance that the graph itself tells.
#include "runtime/reference/Compare.h"

#include "runtime/reference/HostValue.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace sinter::reference {

//===- Widening -----------------------------------------------------------===//

static DType widened(DType dtype) {
  return isFloat(dtype) ? DType::f64 : dtype;
}

static void widenAttrs(graph::Value &value) {
  size_t at = 0;
  for (const graph::AttrSpec &spec : graph::info(value.op).attrs) {
    uint64_t &word = value.attrs[at];
    if (spec.kind == graph::AttrKind::dtype)
      word = static_cast<uint64_t>(widened(static_cast<DType>(word)));
    if (spec.kind == graph::AttrKind::ints)
      at += 1 + word;
    else if (spec.kind == graph::AttrKind::dims)
      at += 1 + 2 * word;
    else if (spec.kind == graph::AttrKind::number ||
             spec.kind == graph::AttrKind::dim)
      at += 2;
    else
      at += 1;
  }
}

graph::Graph widened(const graph::Graph &graph) {
  graph::Graph result = graph;
  for (graph::Value &value : result.values) {
    value.dtype = widened(value.dtype);
    if (value.op != graph::OpId::leaf)
      widenAttrs(value);
  }
  return result;
}

std::vector<HostTensor> widened(std::span<const HostTensor> tensors) {
  std::vector<HostTensor> result;
  for (const HostTensor &tensor : tensors) {
    HostValue value = decode(tensor);
    value.dtype = widened(value.dtype);
    result.push_back(encode(value));
  }
  return result;
}

//===- Comparing ----------------------------------------------------------===//

static double roundingOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return 1e-9;
  case DType::f16:
    return 4e-3;
  case DType::bf16:
    return 3e-2;
  default:
    return 2e-5;
  }
}

/// The largest finite |a - b| in a tensor.
static double spreadOf(const HostValue &a, const HostValue &b) {
  double spread = 0;
  for (size_t i = 0; i < a.reals.size(); ++i) {
    double distance = std::abs(a.reals[i] - b.reals[i]);
    if (std::isfinite(distance))
      spread = std::max(spread, distance);
  }
  return spread;
}

static bool isClose(double found, double expected, double wide,
                    double tolerance) {
  if (std::isfinite(expected) && std::isfinite(wide))
    return std::abs(found - expected) <= tolerance;
  if (std::isnan(expected) && std::isnan(wide))
    return std::isnan(found);
  // One infinity; else rounding decides what it is, and anything is right.
  return expected != wide || found == expected;
}

static std::string differenceIn(const HostValue &found,
                                const HostValue &expected,
                                const HostValue &wide, double terms) {
  if (found.dtype != expected.dtype || found.dims != expected.dims)
    return "another type";
  for (size_t i = 0; i < expected.ints.size(); ++i)
    if (found.ints[i] != expected.ints[i])
      return fmt::format("element {}: {} is not {}", i, found.ints[i],
                         expected.ints[i]);
  // Rounding errors of a sum grow like the root of its length.
  double rounding = roundingOf(expected.dtype) * (1 + std::sqrt(terms) / 4);
  double spread =
      wide.reals.size() == expected.reals.size() ? spreadOf(expected, wide) : 0;
  for (size_t i = 0; i < expected.reals.size(); ++i) {
    double tolerance =
        rounding * (0.1 + std::abs(expected.reals[i])) + 16 * spread;
    if (!isClose(found.reals[i], expected.reals[i], wide.reals[i], tolerance))
      return fmt::format("element {}: {} is not {} ({} in f64)", i,
                         found.reals[i], expected.reals[i], wide.reals[i]);
  }
  return {};
}

std::string differenceOf(std::span<const HostTensor> found,
                         std::span<const HostTensor> reference,
                         std::span<const HostTensor> wide,
                         std::span<const HostTensor> inputs) {
  int64_t terms = 0;
  for (const HostTensor &input : inputs)
    terms = std::max(terms, input.elements());
  if (found.size() != reference.size())
    return "another number of outputs";
  for (size_t i = 0; i < found.size(); ++i) {
    std::string text =
        differenceIn(decode(found[i]), decode(reference[i]), decode(wide[i]),
                     static_cast<double>(terms));
    if (!text.empty())
      return fmt::format("output {}: {}", i, text);
  }
  return {};
}

} // namespace sinter::reference
