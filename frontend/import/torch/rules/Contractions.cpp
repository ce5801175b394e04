/// Matrix products.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/Linalg.h>

namespace sinter::torch {

// Operands become what the result is: with autocast the file says so there
// alone.

/// The names of the two operands differ from op to op.
static void matmulRule(Call &call) {
  const Value &left = call.at(0), &right = call.at(1);
  if (!left.isTensor() || !right.isTensor())
    call.invalid("an operand is no tensor");
  DType dtype = call.outputDType();
  call.give(
      matmul(left.stored->read().to(dtype), right.stored->read().to(dtype)));
}

static void linearRule(Call &call) {
  DType dtype = call.outputDType();
  Tensor x = call.tensor("input").to(dtype),
         weight = call.tensor("weight").to(dtype);
  call.give(call.has("bias") ? linear(x, weight, call.tensor("bias").to(dtype))
                             : linear(x, weight));
}

/// beta self + alpha a b.
static void addProductRule(Call &call, const char *left, const char *right) {
  double beta = call.real("beta", 1), alpha = call.real("alpha", 1);
  DType dtype = call.outputDType();
  Tensor product =
      matmul(call.tensor(left).to(dtype), call.tensor(right).to(dtype));
  if (alpha != 1)
    product = product * alpha;
  Tensor self = call.tensor("self").to(dtype);
  if (beta == 0) {
    call.give(product);
    return;
  }
  call.give((beta == 1 ? self : self * beta) + product);
}
static void addmmRule(Call &call) { addProductRule(call, "mat1", "mat2"); }
static void addmvRule(Call &call) { addProductRule(call, "mat", "vec"); }
static void baddbmmRule(Call &call) {
  addProductRule(call, "batch1", "batch2");
}

static void outerRule(Call &call) {
  call.give(outer(call.tensor("self"), call.tensor("vec2")));
}

static void einsumRule(Call &call) {
  call.ignore({"path"});
  call.give(einsum(call.text("equation", ""), tensorList(call, "tensors")));
}

static void bilinearRule(Call &call) {
  Tensor y = bilinear(call.tensor("input1"), call.tensor("input2"),
                      call.tensor("weight"));
  call.give(call.has("bias") ? y + call.tensor("bias") : y);
}

static void tensordotRule(Call &call) {
  call.give(tensordot(call.tensor("self"), call.tensor("other"),
                      call.integers("dims_self"), call.integers("dims_other")));
}

static void cdistRule(Call &call) {
  call.ignore({"compute_mode"});
  call.give(cdist(call.tensor("x1"), call.tensor("x2"), call.real("p", 2)));
}

//===- Groups of rows -----------------------------------------------------===//

/// Rows, each times the matrix of its group; `ends` tells behind which row each
/// group ends. Rows of no group are 0.
static Tensor groupedProduct(Call &call, const Tensor &x, const Tensor &weight,
                             const Tensor &ends) {
  if (x.rank() != 2 || weight.rank() != 3 || ends.rank() != 1)
    call.invalid(
        "rows, matrices and ends of ranks " + std::to_string(x.rank()) + ", " +
        std::to_string(weight.rank()) + " and " + std::to_string(ends.rank()));
  int64_t groups = fixed(weight.dim(0));
  requireFew(call, groups, "groups", mostOfList);
  Tensor row = arange(x.dim(0), {DType::i64, x.device()});
  Tensor group = searchsorted(ends.to(DType::i64), row, true);
  // A matrix for each row costs memory, all groups for each row cost time.
  constexpr double few = 1 << 26;
  bool isSmall = double(x.dim(0).value) * double(weight.dim(1).value) *
                     double(weight.dim(2).value) <=
                 few;
  if (isSmall || x.dim(0).value <= groups) {
    Tensor own = index_select(weight, clamp(group, 0, groups - 1), 0);
    Tensor product = squeeze(matmul(unsqueeze(x, 1), own), 1);
    return where(unsqueeze(group < groups, 1), product, zeros_like(product));
  }
  Tensor total;
  for (int64_t i = 0; i < groups; ++i) {
    Tensor own = where(unsqueeze(group == i, 1), x, zeros_like(x));
    Tensor product = matmul(own, select(weight, 0, i));
    total = total.defined() ? total + product : product;
  }
  return total;
}

static void groupedFallbackRule(Call &call) {
  call.give(groupedProduct(call, call.tensor("input"), call.tensor("weight"),
                           call.tensor("offs")));
}
static void groupedRule(Call &call) {
  Tensor x = call.tensor("self"), weight = call.tensor("mat2");
  call.ignore({"out_dtype"});
  if (call.has("bias"))
    call.unsupported("a bias");
  bool isBatch = !call.has("offs") && x.rank() == 3 && weight.rank() == 3;
  if (!isBatch && (x.rank() != 2 || weight.rank() != 3))
    call.unsupported("groups of columns");
  Tensor product = isBatch
                       ? matmul(x, weight)
                       : groupedProduct(call, x, weight, call.tensor("offs"));
  call.give(product.to(call.outputDType()));
}

static constexpr Operator rows[] = {
    {"transformers.grouped_mm_fallback.default", groupedFallbackRule},
    {"aten._grouped_mm.default", groupedRule},
    {"aten.mm.default", matmulRule},
    {"aten.bmm.default", matmulRule},
    {"aten.mv.default", matmulRule},
    {"aten.dot.default", matmulRule},
    {"aten.matmul.default", matmulRule},
    {"aten.linear.default", linearRule},
    {"aten.addmm.default", addmmRule},
    {"aten.addmv.default", addmvRule},
    {"aten.baddbmm.default", baddbmmRule},
    {"aten.outer.default", outerRule},
    {"aten.ger.default", outerRule},
    {"aten.einsum.default", einsumRule},
    {"aten.bilinear.default", bilinearRule},
    {"aten.tensordot.default", tensordotRule},
    {"aten.cdist.default", cdistRule},
    {"aten._cdist_forward.default", cdistRule},
};

std::span<const Operator> contractionRows() { return rows; }

} // namespace sinter::torch
