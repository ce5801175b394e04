/// Composed: a function of namespace `sinter` that is written in other ones.
#pragma once

#include <sinter/SourceScope.h>
#include <sinter/Tensor.h>

#include <span>
#include <string>
#include <string_view>

namespace sinter::detail {

/// One call: its first operand as a tensor, and errors under its own name. What
/// is recorded while it lives belongs to the user's line.
class Composed {
public:
  Composed(std::string_view name, const Arg &first);
  Composed(const Composed &) = delete;

  /// Whether the user calls it, rather than another composed function.
  bool isOutermost() const { return !open.outer; }

  /// Throws `NAME: WHAT: f32[4,8]`.
  [[noreturn]] void fail(ErrorKind kind, const std::string &what) const;
  [[noreturn]] void fail(const std::string &what) const {
    fail(ErrorKind::invalid_argument, what);
  }
  /// An axis of a tensor of `rank` axes as a non-negative number.
  int64_t axis(int64_t axis, int64_t rank) const;
  int64_t axis(int64_t axis) const { return this->axis(axis, x.rank()); }
  /// The axes as non-negative numbers in the given order; all when none is
  /// named. Twice the same is an error.
  std::vector<int64_t> axes(const Axes &axes) const;
  /// A position in [-size, size) along an axis as a non-negative number.
  int64_t position(int64_t position, int64_t axis) const;
  /// Throws where x's dtype does not hold the number.
  void checkHeld(Number number) const;
  /// What is put among x's elements, in its dtype, which must hold a number.
  Tensor element(const Arg &value) const;

private:
  friend void throwEmptyOperand(const SourceLine &where);
  /// The calls that are open on a thread, so that errors can name them.
  struct Open {
    explicit Open(std::string_view name);
    ~Open();
    Open(const Open &) = delete;
    static thread_local const Open *innermost;

    std::string name;
    const Open *outer;
  };

  SourceLine where;
  SourceScope scope;
  Open open;

public:
  Tensor x;
};

/// Whether two shapes have equal values.
bool sameValues(const Dims &a, const Dims &b);

/// x with the lengths that symbolic ones of `count` axes have now, each of
/// which is guarded: before a length is computed with as a number.
Tensor withKnownLength(const Tensor &x, int64_t axis, size_t count = 1);

/// Throws when an operand of the open call is empty.
inline void checkNotEmpty(const Tensor &operand, const SourceLine &where) {
  if (!operand.defined())
    throwEmptyOperand(where);
}

/// A number as a tensor of rank 0, or the tensor.
Tensor asTensor(const Arg &arg);

} // namespace sinter::detail
