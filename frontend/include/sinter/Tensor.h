/// Tensor: a small value that stands for a recorded computation or its result.
#pragma once

#include <sinter/runtime/DType.h>
#include <sinter/runtime/DeviceId.h>
#include <sinter/runtime/Dim.h>
#include <sinter/runtime/Number.h>

#include <sinter/Arg.h>
#include <sinter/Axes.h>
#include <sinter/Error.h>
#include <sinter/Handle.h>
#include <sinter/Hook.h>

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <limits>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/generated/Choices.h.inc>

namespace sinter {

class Gradients;
struct Sorted; // sinter/Ops.h

/// Nothing runs until a value is asked for. Copying is cheap and shares the
/// recorded node. A default-constructed Tensor is empty, and so is one that was
/// moved from: only assignment, copying and `defined` are allowed on it, all
/// else is an Error.
class Tensor {
public:
  using Where = std::source_location;

  Tensor() = default;
  explicit Tensor(graph::NodeRef node) : handle(std::move(node)) {}
  /// Whether it is not empty. A Tensor is no condition: ask `item<bool>()` for
  /// its value, `any(t)` or `all(t)` of several.
  bool defined() const { return bool(handle); }

  DType dtype() const { return handle.node("dtype")->dtype(); }
  DeviceId device() const { return handle.node("device")->device(); }
  int64_t rank() const { return handle.node("rank")->rank(); }
  int64_t numel() const { return handle.node("numel")->elements(); }
  /// A dim with its expression; negative axes count from the end.
  Dim dim(int64_t axis, Where where = Where::current()) const;
  Dims shape() const;
  /// Whether gradients flow to or through this tensor.
  bool requires_grad() const {
    return handle.node("requires_grad")->requiresGrad();
  }

  /// Makes an axis of a leaf symbolic: one compiled program serves every size.
  Tensor &dynamic(int64_t axis, Where where = Where::current());
  /// Makes a leaf one that `backward` gives a gradient for.
  Tensor &require_grad(Where where = Where::current());

  /// Evaluates now; everything recorded on the way stays recorded. A GPU may
  /// still be at work when this returns: see `synchronize`.
  const Tensor &eval(Where where = Where::current()) const;
  /// The only element, converted to T.
  template <typename T> T item(Where where = Where::current()) const;
  /// All elements in row-major order, converted to T.
  template <typename T>
  std::vector<T> to_vector(Where where = Where::current()) const;
  /// As printed by operator<<.
  std::string to_string(Where where = Where::current()) const;
  /// Why and when this was evaluated; does not evaluate.
  std::string explain() const;

  /// Gradients of this scalar with respect to every leaf that requires one.
  /// Records ops; runs nothing.
  Gradients backward(Where where = Where::current()) const;
  Gradients backward(const Tensor &cotangent,
                     Where where = Where::current()) const;
  /// Has every `backward` and `grad` that reaches this tensor call
  /// `function(gradient)` with its gradient, once that is complete. What it
  /// returns, if it returns a tensor that is not empty, goes on in its place;
  /// the type must be the same. The function records, as `backward` does, and
  /// cannot read values; it may be called from several threads at once. Hooks
  /// are called in the order they were added. A hook belongs to the recorded
  /// value, so to all copies of this Tensor; one on a parameter's value ends
  /// when an update replaces the value.
  template <std::invocable<const Tensor &> F>
  HookHandle register_hook(F function, Where where = Where::current()) const {
    using Answer = std::invoke_result_t<F &, const Tensor &>;
    if constexpr (std::is_void_v<Answer>)
      return addHook(
          [function = std::move(function)](const Tensor &gradient) mutable {
            function(gradient);
            return Tensor();
          },
          where);
    else
      return addHook(std::move(function), where);
  }
  /// The same value without history.
  Tensor detach(Where where = Where::current()) const;
  /// Keeps what `backward` needs when a later step replaces parameters that
  /// this tensor was computed from.
  const Tensor &retain_history(Where where = Where::current()) const;

  /// A copy on another device; this tensor when it is there already.
  Tensor to(DeviceId device, Where where = Where::current()) const;
  Tensor to(std::string_view device, Where where = Where::current()) const;
  Tensor to(DType dtype, Where where = Where::current()) const;

#include <sinter/generated/TensorMethods.h.inc>
  /// The elements in order along an axis, and their positions (i64).
  Sorted sort(int64_t axis = -1, bool descending = false,
              Where where = Where::current()) const;
  Tensor argsort(int64_t axis = -1, bool descending = false,
                 Where where = Where::current()) const;
  /// The k largest elements along an axis, or the k smallest.
  Sorted topk(int64_t k, int64_t axis = -1, bool largest = true,
              bool sorted = true, Where where = Where::current()) const;

  /// The recorded node; for the layers on top of recording.
  const graph::NodeRef &node() const { return handle.node(); }

private:
  friend class Arg;
  HookHandle addHook(detail::HookFunction function, Where where) const;
  detail::HandleRef handle;
};

/// Evaluates several tensors as one program.
void eval(std::span<const Tensor> tensors,
          std::source_location where = std::source_location::current());
inline void eval(std::initializer_list<Tensor> tensors,
                 std::source_location where = std::source_location::current()) {
  eval(std::span<const Tensor>(tensors.begin(), tensors.size()), where);
}

/// Prints values as a nested list with shape and dtype. An unevaluated tensor
/// is evaluated.
std::ostream &operator<<(std::ostream &stream, const Tensor &tensor);

// Operators promote and broadcast as the functions of their names do.
Tensor operator+(const Arg &lhs, const Arg &rhs);
Tensor operator-(const Arg &lhs, const Arg &rhs);
Tensor operator*(const Arg &lhs, const Arg &rhs);
Tensor operator/(const Arg &lhs, const Arg &rhs);
Tensor operator-(const Arg &x);
Tensor operator==(const Arg &lhs, const Arg &rhs);
Tensor operator!=(const Arg &lhs, const Arg &rhs);
Tensor operator<(const Arg &lhs, const Arg &rhs);
Tensor operator<=(const Arg &lhs, const Arg &rhs);
Tensor operator>(const Arg &lhs, const Arg &rhs);
Tensor operator>=(const Arg &lhs, const Arg &rhs);
/// Elementwise, as logical_and, logical_or and logical_not: both sides are
/// always recorded.
Tensor operator&&(const Arg &lhs, const Arg &rhs);
Tensor operator||(const Arg &lhs, const Arg &rhs);
Tensor operator!(const Arg &x);
Tensor &operator+=(Tensor &lhs, const Arg &rhs);
Tensor &operator-=(Tensor &lhs, const Arg &rhs);
Tensor &operator*=(Tensor &lhs, const Arg &rhs);
Tensor &operator/=(Tensor &lhs, const Arg &rhs);

inline Arg::Arg(const Tensor &tensor, std::source_location where)
    : where(where), kind(ArgKind::tensor), borrowed(&tensor.handle) {}
template <TensorLike T>
Arg::Arg(const T &value, std::source_location where)
    : where(where), kind(ArgKind::tensor), owned(value.tensor(where).handle) {}

namespace detail {
/// Elements converted to T, which is any of the computable C++ types.
template <typename T>
void read(const Tensor &tensor, std::span<T> to, std::source_location where);
[[noreturn]] void throwNotScalar(const Tensor &tensor,
                                 std::source_location where);
} // namespace detail

template <typename T> T Tensor::item(Where where) const {
  if (!handle || numel() != 1)
    detail::throwNotScalar(*this, where);
  T value;
  detail::read<T>(*this, std::span<T>(&value, 1), where);
  return value;
}

template <typename T> std::vector<T> Tensor::to_vector(Where where) const try {
  if constexpr (std::is_same_v<T, bool>) {
    size_t count = handle ? static_cast<size_t>(numel()) : 0;
    auto flags = std::make_unique<bool[]>(count);
    detail::read<bool>(*this, std::span<bool>(flags.get(), count), where);
    return std::vector<bool>(flags.get(), flags.get() + count);
  } else {
    std::vector<T> values(handle ? static_cast<size_t>(numel()) : 0);
    detail::read<T>(*this, values, where);
    return values;
  }
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
