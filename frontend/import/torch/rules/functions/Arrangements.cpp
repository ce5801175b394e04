/// Tensors put side by side and turned, by names that NumPy has, too.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Error.h>
#include <sinter/generated/functions/Folds.h>

namespace sinter::torch {

/// With as many axes as the kind of stack wants of each.
static Tensor withRank(const Tensor &x, int64_t rank) {
  Tensor y = x;
  if (rank >= 2 && y.rank() < 2)
    y = y.rank() == 0 ? reshape(y, {1, 1}) : unsqueeze(y, 0);
  if (rank == 1 && y.rank() == 0)
    y = reshape(y, {1});
  return rank == 3 && y.rank() == 2 ? unsqueeze(y, 2) : y;
}

static void giveJoined(Call &call, int64_t rank, int64_t axis) {
  std::vector<Tensor> parts = tensorList(call, "tensors");
  if (parts.empty())
    call.invalid("no tensors");
  DType dtype = call.outputDType();
  std::vector<Arg> all;
  for (Tensor &part : parts) {
    part = withRank(part, rank).to(dtype);
    all.emplace_back(part);
  }
  call.give(concat(all, axis));
}

/// Vectors are joined along their one axis.
static void hstackRule(Call &call) {
  std::vector<Tensor> parts = tensorList(call, "tensors");
  bool areVectors = !parts.empty() && parts[0].rank() <= 1;
  giveJoined(call, 1, areVectors ? 0 : 1);
}
static void vstackRule(Call &call) { giveJoined(call, 2, 0); }
static void dstackRule(Call &call) { giveJoined(call, 3, 2); }

/// Vectors are columns.
static void columnStackRule(Call &call) {
  std::vector<Tensor> parts = tensorList(call, "tensors");
  DType dtype = call.outputDType();
  std::vector<Arg> all;
  for (Tensor &part : parts) {
    part = (part.rank() <= 1 ? reshape(part, {-1, 1}) : part).to(dtype);
    all.emplace_back(part);
  }
  if (all.empty())
    call.invalid("no tensors");
  call.give(concat(all, 1));
}

static void turnRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<int64_t> axes = call.integers("dims");
  if (axes.empty())
    axes = {0, 1};
  if (axes.size() != 2)
    call.invalid("a turn of " + std::to_string(axes.size()) + " axes");
  int64_t a = call.axisOf(axes[0], x.rank()),
          b = call.axisOf(axes[1], x.rank());
  int64_t turns = ((call.integer("k", 1) % 4) + 4) % 4;
  if (turns == 2)
    call.give(flip(x, {a, b}));
  else if (turns == 1)
    call.give(swapaxes(flip(x, b), a, b));
  else if (turns == 3)
    call.give(swapaxes(flip(x, a), a, b));
  else
    call.give(x);
}

static void ravelRule(Call &call) {
  Tensor x = call.tensor("self");
  call.giveView("self", reshapedView({x.numel() == 0 ? Dim(0) : Dim(-1)}));
}

/// How far each element of two axes stands above the main diagonal.
static Tensor aboveDiagonal(const Tensor &x, int64_t rows, int64_t columns) {
  Options options{DType::i64, x.device()};
  Dims tall(size_t(x.rank()), Dim(1)), wide = tall;
  tall[size_t(rows)] = x.dim(rows);
  wide[size_t(columns)] = x.dim(columns);
  return iota(wide, columns, options) - iota(tall, rows, options);
}

Tensor putDiagonal(const Tensor &x, const Tensor &part, int64_t offset,
                   int64_t rows, int64_t columns) {
  bool hasAxes = rows >= 0 && columns >= 0 && rows < x.rank() &&
                 columns < x.rank() && rows != columns;
  if (!hasAxes || part.rank() != x.rank() - 1)
    throw Error(makeError(ErrorKind::invalid_argument,
                          "a diagonal of rank " + std::to_string(part.rank()) +
                              " for a tensor of rank " +
                              std::to_string(x.rank())));
  // The diagonal is the last axis: it comes to where rows or columns are.
  Dims shape;
  int64_t next = 0;
  for (int64_t i = 0; i < x.rank(); ++i)
    shape.push_back(i == rows || i == columns ? Dim(1) : part.dim(next++));
  int64_t along = offset >= 0 ? rows : columns;
  shape[size_t(along)] = part.dim(part.rank() - 1);
  std::vector<int64_t> order;
  next = 0;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i == along)
      order.push_back(part.rank() - 1);
    else if (i != rows && i != columns)
      order.push_back(next++);
  Tensor line = reshape(permute(part.to(x.dtype()), order), shape);
  Dim length = part.dim(part.rank() - 1), full = x.dim(along);
  if (length.value < full.value)
    line = pad(line, {{along, 0, full.value - length.value}});
  return where(aboveDiagonal(x, rows, columns) == offset, line, x);
}

static void diagonalScatterRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t offset = call.integer("offset", 0),
          rows = call.axis("dim1", x.rank(), 0),
          columns = call.axis("dim2", x.rank(), 1);
  call.give(putDiagonal(x, call.tensor("src"), offset, rows, columns));
}

/// Of a tall matrix it begins anew, one row below its end, where it wraps.
static void fillDiagonalRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor value = asTensor(call, call.value("fill_value"), x.dtype());
  bool wraps = call.flag("wrap");
  if (x.rank() < 2)
    call.invalid("a diagonal of a tensor of rank " + std::to_string(x.rank()));
  Tensor isThere;
  for (int64_t axis = 1; axis < x.rank(); ++axis) {
    Tensor above = aboveDiagonal(x, 0, axis);
    if (wraps && x.rank() == 2)
      above = remainder(above, fixed(x.dim(1)) + 1);
    isThere = isThere.defined() ? logical_and(isThere, above == 0) : above == 0;
  }
  call.give(where(isThere, value, x));
}

/// Powers 0, 1, ... of each element, along a new last axis.
static void powersRule(Call &call) {
  Tensor x = call.tensor("x").to(call.outputDType());
  if (x.rank() == 0)
    call.invalid("a tensor without axes");
  int64_t count = call.has("N") ? call.integer("N") : fixed(x.dim(-1));
  bool isPlain = call.node().target == "torch.ops.aten.vander.default";
  bool goesDown = isPlain && !call.flag("increasing");
  requireFew(call, count, "powers");
  Dims shape = x.shape();
  shape.emplace_back(1);
  Tensor first = ones(shape, {x.dtype(), x.device()});
  if (count < 2) {
    call.give(sliceAxis(first, x.rank(), 0, count));
    return;
  }
  shape.back() = Dim(count - 1);
  Tensor factors = expand(unsqueeze(x, x.rank()), shape);
  Tensor powers = cumprod(factors, x.rank()).to(x.dtype());
  Tensor all = concat({first, powers}, x.rank());
  call.give(goesDown ? flip(all, x.rank()) : all);
}

static constexpr Operator rows[] = {
    {"aten.hstack.default", hstackRule},
    {"aten.vstack.default", vstackRule},
    {"aten.dstack.default", dstackRule},
    {"aten.column_stack.default", columnStackRule},
    {"aten.rot90.default", turnRule},
    {"aten.ravel.default", ravelRule},
    {"aten.diagonal_scatter.default", diagonalScatterRule},
    {"aten.fill_diagonal.default", fillDiagonalRule},
    {"aten.linalg_vander.default", powersRule},
    {"aten.vander.default", powersRule},
};

std::span<const Operator> arrangementRows() { return rows; }

} // namespace sinter::torch
