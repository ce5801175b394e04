/// ComposedCall: what functions of several recorded ops share: the caller's
/// line, one wide dtype to compute in, errors by their name.
#pragma once

#include <sinter/SourceScope.h>
#include <sinter/Tensor.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sinter::detail {

/// One call. While it lives, what is recorded belongs to the caller's line;
/// every error names the function and that line.
class ComposedCall {
public:
  /// `reals` are the operands that decide the dtype to compute in: f64 when
  /// one is f64, else f32. f16 and bf16 are widened, and the result is
  /// rounded once.
  ComposedCall(std::string_view op, std::initializer_list<const Arg *> reals);

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

  /// The result, in the dtype that the operands ask for.
  Tensor done(const Tensor &result) const;
  DType compute() const { return computeType; }
  /// The dtype of what `done` gives.
  DType result() const { return resultType; }

protected:
  void giveWide() { resultType = computeType; }

private:
  std::string op;
  SourceLine where;
  SourceScope scope;
  DType computeType = DType::f32;
  DType resultType = DType::f32;
};

/// A call that adds up elements (a norm, a loss): under autocast its result is
/// as wide as it is computed.
class SummingCall : public ComposedCall {
public:
  SummingCall(std::string_view op, std::initializer_list<const Arg *> reals);
};

} // namespace sinter::detail
