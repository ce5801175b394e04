/// C++ operators of tensors, by the functions of their names.
#include <sinter/Tensor.h>

#include "frontend/Raise.h"
#include "frontend/Recording.h"

#include <sinter/BasicOps.h>
#include <sinter/generated/functions/Math.h>

namespace sinter {

Tensor operator+(const Arg &lhs, const Arg &rhs) { return add(lhs, rhs); }
Tensor operator-(const Arg &lhs, const Arg &rhs) { return sub(lhs, rhs); }
Tensor operator*(const Arg &lhs, const Arg &rhs) { return mul(lhs, rhs); }
Tensor operator/(const Arg &lhs, const Arg &rhs) { return div(lhs, rhs); }
Tensor operator-(const Arg &x) { return neg(x); }

static Tensor compared(const Arg &lhs, const Arg &rhs, Comparison predicate) {
  return compare(lhs, rhs, predicate);
}

Tensor operator==(const Arg &lhs, const Arg &rhs) try {
  return compared(lhs, rhs, Comparison::eq);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}
Tensor operator!=(const Arg &lhs, const Arg &rhs) try {
  return compared(lhs, rhs, Comparison::ne);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}
Tensor operator<(const Arg &lhs, const Arg &rhs) try {
  return compared(lhs, rhs, Comparison::lt);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}
Tensor operator<=(const Arg &lhs, const Arg &rhs) try {
  return compared(lhs, rhs, Comparison::le);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}
Tensor operator>(const Arg &lhs, const Arg &rhs) try {
  return compared(lhs, rhs, Comparison::gt);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}
Tensor operator>=(const Arg &lhs, const Arg &rhs) try {
  return compared(lhs, rhs, Comparison::ge);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

Tensor operator&&(const Arg &lhs, const Arg &rhs) try {
  return logical_and(lhs, rhs);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}
Tensor operator||(const Arg &lhs, const Arg &rhs) try {
  return logical_or(lhs, rhs);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}
Tensor operator!(const Arg &x) { return logical_not(x); }

Tensor &operator+=(Tensor &lhs, const Arg &rhs) try {
  return lhs = add(Arg(lhs, rhs.where), rhs);
} catch (...) {
  detail::raiseExhausted(rhs.where);
}
Tensor &operator-=(Tensor &lhs, const Arg &rhs) try {
  return lhs = sub(Arg(lhs, rhs.where), rhs);
} catch (...) {
  detail::raiseExhausted(rhs.where);
}
Tensor &operator*=(Tensor &lhs, const Arg &rhs) try {
  return lhs = mul(Arg(lhs, rhs.where), rhs);
} catch (...) {
  detail::raiseExhausted(rhs.where);
}
Tensor &operator/=(Tensor &lhs, const Arg &rhs) try {
  return lhs = div(Arg(lhs, rhs.where), rhs);
} catch (...) {
  detail::raiseExhausted(rhs.where);
}

} // namespace sinter
