/// Result<T>: a value or an ErrorInfo (g++ 12 has no std::expected).
#pragma once

#include <sinter/runtime/Error.h>

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sinter {

/// A value of type T or the error that prevented it. Never throws.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(ErrorInfo error) : state(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state.index() == 0; }
  explicit operator bool() const { return ok(); }

  T &value() & { return *get(); }
  const T &value() const & { return *get(); }
  T &&value() && { return std::move(*get()); }
  T &operator*() & { return *get(); }
  const T &operator*() const & { return *get(); }
  T &&operator*() && { return std::move(*get()); }
  T *operator->() { return get(); }
  const T *operator->() const { return get(); }

  const ErrorInfo &error() const {
    assert(!ok() && "error() of a successful result");
    return *std::get_if<1>(&state);
  }
  ErrorInfo takeError() { return std::move(*std::get_if<1>(&state)); }

private:
  T *get() {
    assert(ok() && "value() of a failed result");
    return std::get_if<0>(&state);
  }
  const T *get() const { return const_cast<Result *>(this)->get(); }

  std::variant<T, ErrorInfo> state;
};

/// Success without a value, or an error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(ErrorInfo error) : failure(std::move(error)) {}

  bool ok() const { return !failure; }
  explicit operator bool() const { return ok(); }
  const ErrorInfo &error() const {
    assert(failure && "error() of a successful result");
    return *failure;
  }
  ErrorInfo takeError() { return std::move(*failure); }

private:
  std::optional<ErrorInfo> failure;
};

using Status = Result<void>;

/// Builds an error; `return makeError(ErrorKind::io, "open: no such file");`
inline ErrorInfo makeError(ErrorKind kind, std::string message,
                           std::string op = {}) {
  ErrorInfo info;
  info.kind = kind;
  info.message = std::move(message);
  info.op = std::move(op);
  return info;
}

} // namespace sinter

/// Returns the error of `expr` from the enclosing function.
#define SINTER_TRY(expr)                                                       \
  do {                                                                         \
    if (auto sinterTryResult = (expr); !sinterTryResult)                       \
      return sinterTryResult.takeError();                                      \
  } while (false)

/// Declares `decl` from the value of `expr`, or returns its error.
#define SINTER_TRY_ASSIGN(decl, expr)                                          \
  SINTER_TRY_ASSIGN_IMPL(decl, expr, SINTER_CONCAT(sinterTry, __LINE__))
#define SINTER_CONCAT(a, b) SINTER_CONCAT_IMPL(a, b)
#define SINTER_CONCAT_IMPL(a, b) a##b
#define SINTER_TRY_ASSIGN_IMPL(decl, expr, name)                               \
  auto name = (expr);                                                          \
  if (!name)                                                                   \
    return name.takeError();                                                   \
  decl = std::move(*name)
