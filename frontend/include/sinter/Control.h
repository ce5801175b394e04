/// Control: branches and loops that values of the program decide about.
#pragma once

#include <sinter/Tensor.h>

#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <vector>

namespace sinter {

/// Tensors of other tensors. Called once or twice; it only records.
using TensorsFunction =
    std::function<std::vector<Tensor>(std::span<const Tensor>)>;
/// Whether a loop goes on: a boolean scalar, of the values passed on.
using ConditionFunction = std::function<Tensor(std::span<const Tensor>)>;

struct WhileOptions {
  /// Most rounds that there may be; the condition is not asked after them.
  std::optional<Dim> max_rounds = std::nullopt;
};

/// What `init` becomes when `body` is applied as long as `condition` holds of
/// it, which is asked first.
///
///     auto r = sn::while_loop(
///         [](auto c) { return sn::abs(c[0] * c[0] - 2.0) > 1e-6; },
///         [](auto c) { return std::vector{0.5 * (c[0] + 2.0 / c[0])}; },
///         {sn::full({}, 1.0)});
///
/// A round must not change the dtype or the shape of a value. Both functions
/// may use any tensor from outside; what does not depend on the round is
/// computed once. They cannot read values or draw random numbers. A run ends
/// with an error when it makes more launches than SINTER_LAUNCH_LIMIT, and can
/// be cancelled. `backward` through the results is an error of kind
/// `unsupported`: a `scan` has a gradient.
std::vector<Tensor>
while_loop(const ConditionFunction &condition, const TensorsFunction &body,
           const std::vector<Tensor> &init, const WhileOptions &options = {},
           std::source_location where = std::source_location::current());

/// What `then` gives where `predicate`, a boolean scalar, is true, and what
/// `otherwise` gives where it is false: as many tensors, of equal dtypes and
/// shapes.
///
///     auto y = sn::cond(sn::sum(x) > 0.0,
///                       [&](auto a) { return std::vector{sn::exp(a[0])}; },
///                       [&](auto a) { return std::vector{a[0] * 2.0}; },
///                       {x});
///
/// Both are recorded, and only the one that is taken runs: also what it
/// computes of tensors from outside that are not among `operands`. Gradients
/// flow through the branch that was taken, which is computed again for them.
/// Branches cannot read values or draw random numbers. In the body of a loop,
/// or in a branch, both branches are computed, and one is chosen by `where`,
/// unless `no_grad` says that nobody asks for a gradient.
std::vector<Tensor>
cond(const Tensor &predicate, const TensorsFunction &then,
     const TensorsFunction &otherwise, const std::vector<Tensor> &operands = {},
     std::source_location where = std::source_location::current());

} // namespace sinter
