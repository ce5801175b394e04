/// Products of matrices beside the plain ones, and systems of equations.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Error.h>
#include <sinter/Linalg.h>

namespace sinter::torch {

//===- Products -----------------------------------------------------------===//

/// beta self + alpha product.
static void giveAdded(Call &call, Tensor product) {
  double beta = call.real("beta", 1), alpha = call.real("alpha", 1);
  Tensor self = call.tensor("self");
  if (alpha != 1)
    product = product * alpha;
  if (beta != 0)
    product = (beta == 1 ? self : self * beta) + product;
  call.give(expand(product, product.shape()));
}

static void addbmmRule(Call &call) {
  Tensor products = matmul(call.tensor("batch1"), call.tensor("batch2"));
  giveAdded(call, sum(products, 0));
}
static void addrRule(Call &call) {
  giveAdded(call, outer(call.tensor("vec1"), call.tensor("vec2")));
}

static void kronRule(Call &call) {
  call.give(kron(call.tensor("self"), call.tensor("other")));
}

/// The first axis of 3 elements, unless one is named.
static void crossRule(Call &call) {
  Tensor x = call.tensor("self"), y = call.tensor("other");
  int64_t axis = -1;
  if (call.has("dim"))
    axis = call.axis("dim", x.rank());
  else if (call.node().target == "torch.ops.aten.cross.default")
    for (axis = 0; axis < x.rank() && x.dim(axis).value != 3; ++axis)
      ;
  call.give(cross(x, y, axis));
}

static void powerRule(Call &call) {
  call.give(matrix_power(call.tensor("self"), call.integer("n")));
}

/// Axes of one element at the places that are named.
static Tensor widenedAt(Call &call, const char *tensor, const char *places) {
  Tensor x = call.tensor(tensor);
  for (int64_t place : call.integers(places))
    x = unsqueeze(x, place);
  return x;
}

/// A sum of products of three, as a bilinear layer leaves it.
static void trilinearRule(Call &call) {
  call.ignore({"unroll_dim"});
  Tensor product = widenedAt(call, "i1", "expand1") *
                   widenedAt(call, "i2", "expand2") *
                   widenedAt(call, "i3", "expand3");
  std::vector<int64_t> axes = call.integers("sumdim");
  call.give(axes.empty() ? product : sum(product, Axes(axes)));
}

/// A direction and how long it is.
static void weightNormRule(Call &call) {
  Tensor v = call.tensor("v"), g = call.tensor("g");
  int64_t axis = call.axis("dim", v.rank(), 0);
  std::vector<int64_t> others;
  for (int64_t i = 0; i < v.rank(); ++i)
    if (i != axis)
      others.push_back(i);
  Tensor size = others.empty() ? abs(v) : norm(v, 2, Axes(others), true);
  call.give(v * (g / size));
  if (call.numOutputs() > 1)
    call.give(size);
}

//===- Equations ----------------------------------------------------------===//

/// Every step is recorded, so there is an end to the size.
static int64_t sizeOf(Call &call, const Tensor &a) {
  if (a.rank() < 2 || !isFloat(a.dtype()))
    call.invalid("the operand is no matrix of floats");
  int64_t n = fixed(a.dim(-1));
  constexpr int64_t most = 256;
  if (fixed(a.dim(-2)) != n)
    call.invalid("the matrix is not square");
  if (n > most)
    call.unsupported("a system of " + std::to_string(n) + " equations");
  return n;
}

/// 0, 1, ... along an axis of two.
static Tensor numbered(int64_t n, int64_t axis, const Tensor &like) {
  Dims shape{1, 1};
  shape[size_t(axis)] = Dim(n);
  return iota(shape, axis, {DType::i64, like.device()});
}

/// Row k of m [.., n, columns] and the one below it whose element of column k
/// is the largest change places.
static Tensor withPivot(const Tensor &m, int64_t k, int64_t n) {
  Tensor place = numbered(n, 0, m);
  Tensor column = abs(sliceAxis(m, m.rank() - 1, k, k + 1));
  Tensor open = where(place >= k, column, -ones_like(column));
  Tensor best = argmax(open, m.rank() - 2, true).detach();
  Tensor from = where(place == k, best, where(place == best, k, place));
  return gather(m, expand(from, m.shape()), m.rank() - 2);
}

/// x of a x = b: by elimination, above the diagonal, too.
static Tensor solved(Call &call, const Tensor &a, const Tensor &b,
                     bool exchanges) {
  int64_t n = sizeOf(call, a), rows = a.rank() - 2, columns = a.rank() - 1;
  Tensor m = concat({a, b}, columns);
  for (int64_t k = 0; k < n; ++k) {
    if (exchanges && k + 1 < n)
      m = withPivot(m, k, n);
    Tensor row = sliceAxis(m, rows, k, k + 1);
    row = row / sliceAxis(row, columns, k, k + 1);
    Tensor column = sliceAxis(m, columns, k, k + 1);
    Tensor isOwn = numbered(n, 0, m) == k;
    Tensor factor = where(isOwn, zeros_like(column), column);
    m = where(isOwn, row, m) - factor * row;
  }
  return sliceAxis(m, columns, n, m.dim(columns));
}

/// Both with the axes of batches that either has.
static std::pair<Tensor, Tensor> inOneBatch(const Tensor &a, const Tensor &b) {
  if (a.rank() < 2 || b.rank() < 2)
    throw Error(
        makeError(ErrorKind::invalid_argument, "an operand is no matrix"));
  if (fixed(a.dim(-1)) == 0 || fixed(b.dim(-1)) == 0)
    return {a, b};
  Tensor probe =
      sliceAxis(sliceAxis(a, a.rank() - 2, 0, 1), a.rank() - 1, 0, 1) *
      sliceAxis(sliceAxis(b, b.rank() - 2, 0, 1), b.rank() - 1, 0, 1);
  auto shaped = [&](const Tensor &x) {
    Dims shape = probe.shape();
    shape[shape.size() - 2] = x.dim(-2);
    shape[shape.size() - 1] = x.dim(-1);
    return expand(x, shape);
  };
  return {shaped(a), shaped(b)};
}

static void solveRule(Call &call) {
  Tensor a = call.tensor("A"), b = call.tensor("B");
  if (!call.flag("left", true))
    call.unsupported("equations from the right");
  call.ignore({"check_errors"});
  bool isVector = b.rank() == 1 || (b.rank() == a.rank() - 1 && b.rank() > 1);
  if (isVector)
    b = unsqueeze(b, b.rank());
  auto [left, right] = inOneBatch(a, b);
  Tensor x = solved(call, left, right, true);
  call.give(isVector ? squeeze(x, x.rank() - 1) : x);
  // The decomposition itself, and whether there was one.
  for (size_t i = 1; i < call.numOutputs(); ++i)
    call.give(Value());
}

static void inverseRule(Call &call) {
  Tensor a = call.tensor(call.has("A") ? "A" : "self");
  call.ignore({"check_errors"});
  int64_t n = sizeOf(call, a);
  Tensor unit = expand(eye(n, n, {a.dtype(), a.device()}), a.shape());
  call.give(solved(call, a, unit, true));
  Dims batch = a.shape();
  batch.resize(batch.size() - 2);
  if (call.numOutputs() > 1)
    call.give(zeros(batch, {DType::i32, a.device()}));
}

static void triangularRule(Call &call) {
  Tensor a = call.tensor("self"), b = call.tensor("B");
  bool isUpper = call.flag("upper"), isLeft = call.flag("left", true);
  int64_t n = sizeOf(call, a);
  a = isUpper ? triu(a) : tril(a);
  if (call.flag("unitriangular"))
    a = where(numbered(n, 0, a) == numbered(n, 1, a), ones_like(a), a);
  if (!isLeft) {
    a = swapaxes(a, -1, -2);
    b = swapaxes(b, -1, -2);
  }
  auto [left, right] = inOneBatch(a, b);
  Tensor x = solved(call, left, right, false);
  call.give(isLeft ? x : swapaxes(x, -1, -2));
}

static void determinantRule(Call &call) {
  call.give(det(call.tensor(call.has("A") ? "A" : "self")));
  for (size_t i = 1; i < call.numOutputs(); ++i)
    call.give(Value());
}

static void logDeterminantRule(Call &call) {
  LogDet found = slogdet(call.tensor(call.has("A") ? "A" : "self"));
  call.give(found.sign);
  call.give(found.logabsdet);
  for (size_t i = 2; i < call.numOutputs(); ++i)
    call.give(Value());
}

/// Column by column; what is left loses the product of each.
static void choleskyRule(Call &call) {
  Tensor a = call.tensor("self");
  call.ignore({"check_errors"});
  int64_t n = sizeOf(call, a), last = a.rank() - 1;
  std::vector<Arg> columns;
  std::vector<Tensor> kept;
  Tensor rest = a;
  for (int64_t k = 0; k < n; ++k) {
    Tensor column = sliceAxis(rest, last, k, k + 1);
    Tensor pivot = sqrt(sliceAxis(column, last - 1, k, k + 1));
    Tensor below = numbered(n, 0, a) >= k;
    column = where(below, column / pivot, zeros_like(column));
    kept.push_back(column);
    rest = rest - column * swapaxes(column, -1, -2);
  }
  columns.assign(kept.begin(), kept.end());
  Tensor lower = columns.empty() ? a : concat(columns, last);
  call.give(call.flag("upper") ? swapaxes(lower, -1, -2) : lower);
  for (size_t i = 1; i < call.numOutputs(); ++i)
    call.give(Value());
}

/// x of L L^T x = b.
static Tensor solvedByFactor(Call &call, const Tensor &factor,
                             const Tensor &b) {
  bool isUpper = call.flag("upper");
  Tensor lower = isUpper ? swapaxes(triu(factor), -1, -2) : tril(factor);
  auto [left, right] = inOneBatch(lower, b);
  Tensor half = solved(call, left, right, false);
  return solved(call, swapaxes(left, -1, -2), half, false);
}
static void choleskySolveRule(Call &call) {
  call.give(solvedByFactor(call, call.tensor("input2"), call.tensor("self")));
}
static void choleskyInverseRule(Call &call) {
  Tensor factor = call.tensor("self");
  int64_t n = sizeOf(call, factor);
  Tensor unit =
      expand(eye(n, n, {factor.dtype(), factor.device()}), factor.shape());
  call.give(solvedByFactor(call, factor, unit));
}

/// Where PyTorch would raise an error, infinities and NaN stand here.
static void checkedRule(Call &call) {
  for (size_t i = 0; i < call.numArguments(); ++i)
    call.at(i);
}

static constexpr Operator rows[] = {
    {"aten.addbmm.default", addbmmRule},
    {"aten.addr.default", addrRule},
    {"aten.kron.default", kronRule},
    {"aten.cross.default", crossRule},
    {"aten.linalg_cross.default", crossRule},
    {"aten.linalg_matrix_power.default", powerRule},
    {"aten.matrix_power.default", powerRule},
    {"aten._trilinear.default", trilinearRule},
    {"aten._weight_norm.default", weightNormRule},
    {"aten._weight_norm_interface.default", weightNormRule},
    {"aten.linalg_solve.default", solveRule},
    {"aten.linalg_solve_ex.default", solveRule},
    {"aten._linalg_solve_ex.default", solveRule},
    {"aten.linalg_inv.default", inverseRule},
    {"aten.linalg_inv_ex.default", inverseRule},
    {"aten.inverse.default", inverseRule},
    {"aten.linalg_solve_triangular.default", triangularRule},
    {"aten.linalg_det.default", determinantRule},
    {"aten._linalg_det.default", determinantRule},
    {"aten.det.default", determinantRule},
    {"aten.linalg_slogdet.default", logDeterminantRule},
    {"aten._linalg_slogdet.default", logDeterminantRule},
    {"aten.slogdet.default", logDeterminantRule},
    {"aten.linalg_cholesky.default", choleskyRule},
    {"aten.linalg_cholesky_ex.default", choleskyRule},
    {"aten.cholesky.default", choleskyRule},
    {"aten.cholesky_solve.default", choleskySolveRule},
    {"aten.cholesky_inverse.default", choleskyInverseRule},
    {"aten._linalg_check_errors.default", checkedRule},
};

std::span<const Operator> linalgRows() { return rows; }

} // namespace sinter::torch
