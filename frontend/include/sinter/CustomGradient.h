/// CustomGradient: functions whose gradient the user gives.
#pragma once

#include <sinter/Tensor.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sinter {

/// What the gradient of a custom function is computed from.
struct CustomContext {
  std::span<const Tensor> inputs; ///< what the function was called with
  const Tensor &result;           ///< what it gave
  const Tensor &gradient;         ///< the result's gradient, of its type
};

/// The value, from the inputs.
using CustomForward = std::function<Tensor(std::span<const Tensor> inputs)>;
/// The gradients of the inputs, one each, of their shapes and dtypes; an empty
/// Tensor where none flows.
using CustomBackward =
    std::function<std::vector<Tensor>(const CustomContext &context)>;

/// What `custom_gradient` makes. A value; may be called from many threads, as
/// far as its functions may.
class CustomFunction {
public:
  CustomFunction(CustomForward forward, CustomBackward backward);
  /// Records the value. Both functions are called under this line.
  Tensor operator()(std::initializer_list<Arg> inputs) const {
    return call({inputs.begin(), inputs.size()});
  }
  Tensor operator()(std::span<const Arg> inputs) const { return call(inputs); }

private:
  struct Functions;
  Tensor call(std::span<const Arg> inputs) const;
  std::shared_ptr<const Functions> functions;
};

/// A function with a gradient of the user's: for a more stable formula, for
/// what has no useful derivative, for clipping on the way back.
///
///     auto round = sn::custom_gradient(
///         [](auto inputs) { return inputs[0].to(sn::DType::i32); },
///         [](const sn::CustomContext &c) {
///           return std::vector{c.gradient}; // straight through
///         });
///     sn::Tensor y = round({x});
///
/// Both functions record ordinary ops and run nothing: they fuse with all that
/// is around them. `forward` is called once a call, `backward` once a
/// `backward()` that reaches the result; reading a value in `backward` is an
/// error. What `backward` records has derivatives as anything else has.
/// Gradients flow to the inputs only, not to what `forward` captured. To use a
/// value of `forward` again, compute it again: equal ops are merged.
CustomFunction custom_gradient(CustomForward forward, CustomBackward backward);

} // namespace sinter
