/// MixedPrecision: products in few bits, and a loss that is scaled so that
/// gradients of few bits are not lost.
#pragma once

#include <sinter/Module.h>
#include <sinter/Transforms.h>
#include <sinter/optim/Optimizer.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <utility>

namespace sinter::train {

/// While it lives, what this thread records with public functions has dtypes by
/// the class of each op, which stands in the op's record:
/// - products (matmul, convolutions, attention) have their float operands
///   rounded to `dtype`, and give that;
/// - sums, softmax, norms and losses, and all else that adds up elements, take
///   operands of f16 and bf16 as f32, and give that;
/// - all others promote their operands, as ever: f32 and bf16 make f32.
/// Operands of f64 and integers are left alone. Parameters and optimizers stay
/// in their dtype, and so do gradients: those of a rounded parameter come back
/// in the parameter's.
///
///     sn::Tensor loss = [&] {
///       sn::train::autocast scope(sn::DType::bf16);
///       return sn::cross_entropy(model(x), labels);
///     }();
///     optimizer.step(model, loss.backward());
class autocast {
public:
  /// bf16 or f16, else an Error; none ends an outer scope for a while.
  explicit autocast(
      std::optional<DType> dtype,
      std::source_location where = std::source_location::current());
  ~autocast();
  autocast(const autocast &) = delete;
  autocast &operator=(const autocast &) = delete;

private:
  std::optional<DType> previous;
};

/// What this thread rounds operands of products to, if it does.
std::optional<DType> autocast_dtype();

struct LossScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;       ///< above 1
  double backoff_factor = 0.5;    ///< between 0 and 1
  int64_t growth_interval = 2000; ///< steps without an overflow before it grows
};

/// Gradients of the loss itself, and whether all of them are finite.
struct Unscaled {
  Gradients gradients; ///< f32, or f64 of parameters of that
  Tensor finite;       ///< bool of rank 0
};

/// Scales losses, so that gradients in f16 do not vanish, and skips steps whose
/// gradients overflow. As PyTorch's GradScaler, with the same sequence of
/// scales; but whether a step is taken is decided where it runs, by selects:
/// nothing is read, and a step is one program, taken or not.
///
///     sn::train::LossScaler scaler;
///     ...
///       sn::Gradients gradients = scaler.scaled(loss).backward();
///       scaler.step(optimizer, model, std::move(gradients));
///
/// With clipping, or several optimizers in one step:
///
///       auto [gradients, finite] = scaler.unscaled(scaled_gradients);
///       sn::optim::clip_grad_norm(gradients, 1);
///       optimizer.step_if(finite, model, std::move(gradients));
///       scaler.update(finite);
///
/// A module: records and files hold the scale and what has been counted.
class LossScaler {
public:
  using Where = std::source_location;

  explicit LossScaler(const LossScalerOptions &options = {},
                      Where where = Where::current());

  /// The loss times the scale, in f32.
  Tensor scaled(const Tensor &loss, Where where = Where::current()) const;
  /// Gradients of a scaled loss divided by the scale. Without any, an Error.
  Unscaled unscaled(const Gradients &gradients,
                    Where where = Where::current()) const;
  /// Whether all numbers of the gradients are finite: a bool of rank 0, on the
  /// scale's device. Without gradients, an Error.
  Tensor finite(const Gradients &gradients,
                Where where = Where::current()) const;
  /// Records what the step did to the scale; once a step, after the last use of
  /// the scale.
  void update(const Tensor &finite, Where where = Where::current());
  /// All of this: unscaled, step_if and update.
  template <typename T>
  void step(optim::Optimizer &optimizer, T &model, Gradients &&gradients,
            Where where = Where::current()) {
    Gradients consumed = std::move(gradients);
    Unscaled found = unscaled(consumed, where);
    consumed = {};
    optimizer.step_if(found.finite, model, std::move(found.gradients), where);
    update(found.finite, where);
  }

  Param scale;          ///< f32, of rank 0
  Param growth_tracker; ///< i64: steps since it changed or one was skipped
  LossScalerOptions options;

  SINTER_MODULE(LossScaler, scale, growth_tracker)
};

} // namespace sinter::train
