/// LossCall: what losses share: operands in one dtype, checks, reductions.
#pragma once

#include <sinter/SourceScope.h>
#include <sinter/nn/Losses.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace sinter::detail {

/// One call of a loss. While it lives, what is recorded belongs to the
/// caller's line; every error names the loss and that line.
class LossCall {
public:
  /// `reals` are the operands that decide the dtype to compute in: f64 when
  /// one is f64, else f32. f16 and bf16 are widened, and the result is
  /// rounded once.
  LossCall(std::string_view op, std::initializer_list<const Arg *> reals);

  /// An operand as a tensor of the dtype to compute in.
  Tensor real(const Arg &arg) const;
  /// An operand that must be of an integer dtype.
  Tensor index(const Arg &arg, std::string_view name) const;
  /// An optional operand: empty when there is none.
  Tensor given(const std::optional<Tensor> &tensor) const;

  /// All must have the shape of the first; broadcasting is asked for by
  /// `broadcast`, as it more often is a mistake.
  void sameShapes(std::initializer_list<Tensor> tensors) const;
  [[noreturn]] void fail(const std::string &what,
                         std::initializer_list<Tensor> operands = {}) const;

  /// The result: the losses by themselves, their sum or their mean.
  Tensor reduced(const Tensor &losses, Reduction reduction) const;
  /// The result, in the dtype that the operands ask for.
  Tensor done(const Tensor &result) const;
  DType compute() const { return computeType; }

private:
  std::string op;
  SourceLine where;
  SourceScope scope;
  DType computeType = DType::f32;
  DType resultType = DType::f32;
};

} // namespace sinter::detail
