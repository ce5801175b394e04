/// Arg: an operand of a public op, a tensor or a plain number, with the line
/// that wrote it.
#pragma once

#include <sinter/runtime/Number.h>

#include <sinter/Handle.h>

#include <concepts>
#include <source_location>
#include <type_traits>

namespace sinter {

class Tensor;

/// Where an expression stands: file, line and column of the user's code.
using SourceLine = std::source_location;

/// A plain number that is an argument of programs, never a constant in them;
/// `sn::scalar(rate)`.
struct DynamicScalar {
  Number number;
};
template <typename T>
  requires std::is_arithmetic_v<T>
DynamicScalar scalar(T value) {
  return {Number(value)};
}

/// Something that can be read as a tensor, as a Param can.
template <typename T>
concept TensorLike = !std::same_as<std::remove_cvref_t<T>, Tensor> &&
                     requires(const T &value, std::source_location where) {
                       { value.tensor(where) } -> std::same_as<Tensor>;
                     };

/// What an Arg was made from.
enum class ArgKind : uint8_t { tensor, boolean, integer, floating };

/// An operand. Lives for one call: it borrows the tensor that it was made from.
class Arg {
public:
  Arg(const Tensor &tensor,
      std::source_location where = std::source_location::current());
  template <TensorLike T>
  Arg(const T &value,
      std::source_location where = std::source_location::current());
  /// A weak number: it takes the dtype of the tensor it meets, unless its
  /// category is higher.
  template <typename T>
    requires std::is_arithmetic_v<T>
  Arg(T value, std::source_location where = std::source_location::current())
      : number(value), where(where), kind(kindOf<T>()) {}
  Arg(DynamicScalar value,
      std::source_location where = std::source_location::current())
      : number(value.number), where(where),
        kind(value.number.isReal ? ArgKind::floating : ArgKind::integer),
        dynamic(true) {}

  bool isTensor() const { return kind == ArgKind::tensor; }
  /// Of a tensor operand: whether it is an empty Tensor.
  bool isEmpty() const { return !owned && !*borrowed; }
  /// An Error when it is empty.
  const graph::NodeRef &node() const {
    if (isEmpty()) [[unlikely]]
      detail::throwEmptyOperand(where);
    return detail::usedForm(owned ? owned.node() : borrowed->node());
  }

  Number number; ///< unless isTensor()
  SourceLine where;
  ArgKind kind;
  bool dynamic = false; ///< came through sn::scalar

private:
  // The caller's tensor outlives the call, so it is not copied; what a Param
  // gave is kept here.
  const detail::HandleRef *borrowed = nullptr;
  detail::HandleRef owned;

  template <typename T> static constexpr ArgKind kindOf() {
    if constexpr (std::is_same_v<T, bool>)
      return ArgKind::boolean;
    return std::is_integral_v<T> ? ArgKind::integer : ArgKind::floating;
  }
};

} // namespace sinter
