/// C++ operators of tensors, by the functions of their names.
#include <sinter/Tensor.h>

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

Tensor operator==(const Arg &lhs, const Arg &rhs) {
  return compared(lhs, rhs, Comparison::eq);
}
Tensor operator!=(const Arg &lhs, const Arg &rhs) {
  return compared(lhs, rhs, Comparison::ne);
}
Tensor operator<(const Arg &lhs, const Arg &rhs) {
  return compared(lhs, rhs, Comparison::lt);
}
Tensor operator<=(const Arg &lhs, const Arg &rhs) {
  return compared(lhs, rhs, Comparison::le);
}
Tensor operator>(const Arg &lhs, const Arg &rhs) {
  return compared(lhs, rhs, Comparison::gt);
}
Tensor operator>=(const Arg &lhs, const Arg &rhs) {
  return compared(lhs, rhs, Comparison::ge);
}

Tensor operator&&(const Arg &lhs, const Arg &rhs) {
  return logical_and(lhs, rhs);
}
Tensor operator||(const Arg &lhs, const Arg &rhs) {
  return logical_or(lhs, rhs);
}
Tensor operator!(const Arg &x) { return logical_not(x); }

Tensor &operator+=(Tensor &lhs, const Arg &rhs) {
  return lhs = add(Arg(lhs, rhs.where), rhs);
}
Tensor &operator-=(Tensor &lhs, const Arg &rhs) {
  return lhs = sub(Arg(lhs, rhs.where), rhs);
}
Tensor &operator*=(Tensor &lhs, const Arg &rhs) {
  return lhs = mul(Arg(lhs, rhs.where), rhs);
}
Tensor &operator/=(Tensor &lhs, const Arg &rhs) {
  return lhs = div(Arg(lhs, rhs.where), rhs);
}

} // namespace sinter
