/// Scan: a loop over steps, as one program whose size does not grow with them.
#pragma once

#include <sinter/Tensor.h>

#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <vector>

namespace sinter {

/// What a step gives: each carry's next value, and what is kept of the step.
struct ScanStep {
  std::vector<Tensor> carries;
  std::vector<Tensor> ys;
};
/// One step, from the carries and each tensor's slice. Called once; it only
/// records.
using ScanBody = std::function<ScanStep(std::span<const Tensor> carries,
                                        std::span<const Tensor> xs)>;

struct ScanOptions {
  /// Begin with the last slice. What is stacked stands where its slice stood.
  bool reverse = false;
  /// The number of steps; with `xs`, that of their slices.
  std::optional<Dim> length = std::nullopt;
};

struct ScanResult {
  std::vector<Tensor> carries; ///< after the last step
  std::vector<Tensor> ys;      ///< of all steps, along a new first axis
};

/// A recurrence: `body` for each slice of `xs` along the first axis, in order.
///
///     auto [carries, ys] = sn::scan(
///         [&](auto h, auto x) {
///           sn::Tensor next = sn::tanh(cell(x[0]) + sn::matmul(h[0], u));
///           return sn::ScanStep{{next}, {next}};
///         },
///         {h0}, {sequence});
///
/// The body is recorded once, whatever the number of steps, which may be 0. It
/// may use any tensor from outside; what does not depend on the step is
/// computed once. A step must not change the dtype or the shape of a carry.
/// Gradients flow to `init`, to `xs` and to what the body uses from outside;
/// values that the way back needs are kept for each step. The body cannot read
/// values or draw random numbers (draw them before, as one of `xs`). A loop in
/// a loop has no gradient.
ScanResult scan(const ScanBody &body, const std::vector<Tensor> &init,
                const std::vector<Tensor> &xs = {},
                const ScanOptions &options = {},
                std::source_location where = std::source_location::current());

} // namespace sinter
