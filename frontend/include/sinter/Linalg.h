/// Linear algebra over matmul.
#pragma once

#include <sinter/Creation.h>
#include <sinter/Tensor.h>

#include <string_view>

namespace sinter {

/// Products summed over the labels that the result lacks: "bij,bjk->bik".
/// Without "->" the result has the labels that stand once, in alphabetical
/// order. "..." stands for any axes, which broadcast. A label that stands twice
/// in one operand is that operand's diagonal.
Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              std::source_location where = std::source_location::current());
inline Tensor
einsum(std::string_view equation, std::initializer_list<Tensor> operands,
       std::source_location where = std::source_location::current()) {
  return einsum(equation,
                std::span<const Tensor>(operands.begin(), operands.size()),
                where);
}

/// Sum over pairs of axes, the left operand's and the right one's; the result
/// has the other axes of both.
Tensor tensordot(const Arg &lhs, const Arg &rhs, const Axes &leftAxes,
                 const Axes &rightAxes);
/// Sum of products of two vectors.
Tensor dot(const Arg &lhs, const Arg &rhs);
/// [n] and [m] as [n, m].
Tensor outer(const Arg &lhs, const Arg &rhs);
/// Kronecker product: each element of lhs times all of rhs.
Tensor kron(const Arg &lhs, const Arg &rhs);
/// Vector product along an axis of 3 elements.
Tensor cross(const Arg &lhs, const Arg &rhs, int64_t axis = -1);
/// beta * x + alpha * a b. With a beta of 0, x gives a shape and a dtype alone.
Tensor addmm(const Arg &x, const Arg &a, const Arg &b, double beta = 1,
             double alpha = 1);
/// x weight^T + bias, of weight [out, in]; bias [out] may be left out.
Tensor linear(const Arg &x, const Arg &weight);
Tensor linear(const Arg &x, const Arg &weight, const Arg &bias);
/// sum_ij weight[k, i, j] a[.., i] b[.., j]: [.., k].
Tensor bilinear(const Arg &a, const Arg &b, const Arg &weight);
/// p-norms of the differences of rows: [.., n, d] and [.., m, d] as [.., n, m].
Tensor cdist(const Arg &a, const Arg &b, double p = 2);
/// A square matrix times itself, `power` times in all; 0 gives the identity.
Tensor matrix_power(const Arg &x, int64_t power);
/// Determinants of square matrices of floats, [.., n, n] as [..]: by
/// elimination that takes the largest element left, a step of which is recorded
/// for each row. The gradient is that of the product, at singular matrices,
/// too.
Tensor det(const Arg &x);
/// A determinant as its sign and the logarithm of its size.
struct LogDet {
  Tensor sign;
  Tensor logabsdet;
};
/// The same of matrices whose determinant no float holds. Of a singular one the
/// sign is 0 and the logarithm -infinity.
LogDet slogdet(const Arg &x);
/// 1 on the diagonal of [rows, columns], else 0.
Tensor eye(Dim rows, Dim columns, Options options = {},
           std::source_location where = std::source_location::current());

} // namespace sinter
