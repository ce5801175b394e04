/// Functions of PyTorch that programs name as a whole.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Complex.h>
#include <sinter/Linalg.h>
#include <sinter/generated/functions/Folds.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter::torch {

//===- Shapes -------------------------------------------------------------===//

/// With at least so many axes, new ones in front; of images the last one is
/// behind.
static Tensor atLeast(const Tensor &x, int64_t rank) {
  Tensor y = x;
  while (y.rank() < rank)
    y = unsqueeze(y, y.rank() >= 2 ? y.rank() : 0);
  return y;
}

template <int64_t rank> static void atLeastRule(Call &call) {
  if (!call.has("tensors")) {
    call.give(atLeast(call.tensor("self"), rank));
    return;
  }
  std::vector<Value> all;
  for (const Tensor &each : tensorList(call, "tensors"))
    all.emplace_back(atLeast(each, rank));
  call.give(Value::ofList(std::move(all)));
}

/// Equal parts along an axis, or parts between places.
static void giveParts(Call &call, int64_t axis) {
  Tensor x = call.tensor("self");
  int64_t extent = fixed(x.dim(axis)), start = 0;
  std::vector<int64_t> ends;
  if (call.has("sections")) {
    int64_t sections = call.integer("sections");
    if (sections < 1 || extent % sections != 0)
      call.invalid(std::to_string(sections) + " parts of " +
                   std::to_string(extent));
    requireParts(call, sections);
    for (int64_t i = 1; i <= sections; ++i)
      ends.push_back(extent / sections * i);
  } else {
    ends = call.integers("indices");
    ends.push_back(extent);
  }
  requireParts(call, int64_t(ends.size()));
  std::vector<View> views;
  for (int64_t end : ends) {
    int64_t first = start;
    int64_t last = std::clamp(end < 0 ? end + extent : end, first, extent);
    views.push_back(
        {[=](const Tensor &base) { return sliceAxis(base, axis, first, last); },
         [=](const Tensor &base, const Tensor &part) {
           return putSlice(base, part, axis, first, last);
         }});
    start = last;
  }
  call.giveViews("self", std::move(views));
}
static void hsplitRule(Call &call) {
  giveParts(call, call.tensor("self").rank() == 1 ? 0 : 1);
}
static void vsplitRule(Call &call) { giveParts(call, 0); }
static void dsplitRule(Call &call) { giveParts(call, 2); }

template <int64_t axis> static void flipRule(Call &call) {
  call.give(flip(call.tensor("self"), axis));
}

static void blockDiagonalRule(Call &call) {
  std::vector<Arg> rows;
  std::vector<Tensor> blocks, made;
  int64_t columns = 0, before = 0;
  for (const Tensor &each : tensorList(call, "tensors")) {
    blocks.push_back(atLeast(each, 2).to(call.outputDType()));
    columns += fixed(blocks.back().dim(1));
  }
  if (blocks.empty())
    call.unsupported("no blocks");
  for (const Tensor &block : blocks) {
    int64_t own = fixed(block.dim(1));
    made.push_back(pad(block, {{1, before, columns - before - own}}));
    before += own;
  }
  rows.assign(made.begin(), made.end());
  call.give(concat(rows, 0));
}

static void diagflatRule(Call &call) {
  call.give(diag_embed(reshape(call.tensor("self"), {-1}),
                       call.integer("offset", 0)));
}

static void productsOfSetsRule(Call &call) {
  std::vector<Tensor> lines = tensorList(call, "tensors");
  if (lines.size() == 1) {
    call.give(lines[0]);
    return;
  }
  std::vector<Tensor> columns;
  for (const Tensor &grid : meshgrid(lines))
    columns.push_back(reshape(grid, {-1}));
  call.give(stack(columns, 1));
}

/// How often each element is repeated is read from a tensor.
static void repeatEachRule(Call &call) {
  Tensor repeats = call.tensor("repeats").to(DType::i64);
  call.ignore({"output_size"});
  bool hasSelf = call.has("self"), hasAxis = hasSelf && call.has("dim");
  Tensor x = hasSelf ? call.tensor("self") : Tensor();
  if (hasSelf && !hasAxis)
    x = reshape(x, {-1});
  int64_t axis = hasAxis ? call.axis("dim", x.rank()) : 0;
  Dim size = hasSelf ? x.dim(axis) : repeats.dim(0);
  Tensor counts = expand(reshape(repeats, {-1}), {size});
  std::vector<int64_t> numbers = counts.to_vector<int64_t>(), places;
  int64_t all = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    requireFew(call, numbers[i], "repeats");
    all += numbers[i];
    requireFew(call, all, "repeats");
    places.insert(places.end(), size_t(numbers[i]), int64_t(i));
  }
  Tensor index =
      tensor(places, {int64_t(places.size())}, {DType::i64, repeats.device()});
  call.give(hasSelf ? index_select(x, index, axis) : index);
}

/// Axes that are one there, and those in front, are summed up.
static void sumToSizeRule(Call &call) {
  Tensor x = call.tensor("self");
  Dims wanted = call.dims("size");
  int64_t more = x.rank() - int64_t(wanted.size());
  if (more < 0)
    call.invalid("a sum to more axes");
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i < more || (wanted[size_t(i - more)].isConstant() &&
                     wanted[size_t(i - more)].value == 1))
      axes.push_back(i);
  call.give(reshape(axes.empty() ? x : sum(x, Axes(axes)), wanted));
}

/// Rows of `r` elements of a vector, each in the order of the vector.
static void combinationsRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t count = fixed(x.dim(0)), r = call.integer("r", 2);
  bool repeats = call.flag("with_replacement");
  if (r < 1 || r > 8 || count > 256)
    call.unsupported("rows of " + std::to_string(r) + " of " +
                     std::to_string(count) + " elements");
  std::vector<std::vector<int64_t>> rows{{}};
  for (int64_t i = 0; i < r; ++i) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t> &row : rows) {
      int64_t first = row.empty() ? 0 : row.back() + (repeats ? 0 : 1);
      for (int64_t next = first; next < count; ++next) {
        longer.push_back(row);
        longer.back().push_back(next);
      }
      requireFew(call, int64_t(longer.size()) * r, "elements of rows");
    }
    rows = std::move(longer);
  }
  std::vector<int64_t> places;
  for (const std::vector<int64_t> &row : rows)
    places.insert(places.end(), row.begin(), row.end());
  auto number = int64_t(rows.size());
  if (number == 0) {
    call.give(zeros({0, r}, {x.dtype(), x.device()}));
    return;
  }
  Tensor index = tensor(places, {number * r}, {DType::i64, x.device()});
  call.give(reshape(index_select(x, index, 0), {number, r}));
}

//===- Linear algebra -----------------------------------------------------===//

/// Along the last axis of both.
static void innerRule(Call &call) {
  Tensor x = call.tensor("self"), y = call.tensor("other");
  call.give(x.rank() == 0 || y.rank() == 0
                ? x * y
                : tensordot(x, y, x.rank() - 1, y.rank() - 1));
}

static void vecdotRule(Call &call) {
  Tensor x = call.tensor("x"), y = call.tensor("y");
  int64_t axis = call.integer("dim", -1);
  call.give(sum(x * y, axis));
}

static void vectorsRule(Call &call) {
  Tensor x = call.tensor("self"), y = call.tensor("other");
  call.give(sum(x * y));
}

static void chainRule(Call &call) {
  std::vector<Tensor> all =
      tensorList(call, call.has("tensors") ? "tensors" : "matrices");
  if (all.empty())
    call.invalid("no matrices");
  Tensor product = all[0];
  for (size_t i = 1; i < all.size(); ++i)
    product = matmul(product, all[i]);
  call.give(product);
}

static void diagonalOfRule(Call &call) {
  int64_t offset = call.integer("offset", 0);
  Tensor x = call.tensor("A");
  int64_t first = call.axis("dim1", x.rank(), -2),
          second = call.axis("dim2", x.rank(), -1);
  call.giveView("A", {[=](const Tensor &base) {
                        return diagonal(base, offset, first, second);
                      },
                      [=](const Tensor &base, const Tensor &part) {
                        return putDiagonal(base, part, offset, first, second);
                      }});
}

/// Of all elements, of vectors along one axis, or of matrices over two.
static void giveNorm(Call &call, std::vector<int64_t> axes) {
  Tensor x = call.tensor("self");
  if (call.has("dtype"))
    x = x.to(*call.dtype("dtype"));
  if (x.dtype() == DType::c64 || x.dtype() == DType::c128)
    x = abs(x);
  bool keeps = call.flag("keepdim");
  const Value &order = call.value("ord");
  std::string name =
      order.kind == Value::Kind::text ? order.text : std::string();
  if (!name.empty() && name != "fro")
    call.unsupported("a norm '" + name + "'");
  bool isPlain = name == "fro" || order.isNone();
  if (!isPlain && axes.empty() && x.rank() == 2)
    axes = {0, 1};
  double p = isPlain ? 2 : numberOf(call, order).asReal();
  if (isPlain || axes.size() < 2) {
    call.give(axes.empty() ? norm(x, p, {}, keeps)
                           : norm(x, p, Axes(axes), keeps));
    return;
  }
  if (std::fabs(p) != 1 && !std::isinf(p))
    call.unsupported("a norm of singular values");
  // Sums along one axis, the largest or smallest of them along the other.
  bool isRow = std::isinf(p);
  int64_t a = call.axisOf(axes[0], x.rank()),
          b = call.axisOf(axes[1], x.rank());
  int64_t summed = isRow ? b : a, other = isRow ? a : b;
  Tensor sums = sum(abs(x), summed, true);
  Tensor found = p > 0 ? amax(sums, other, true) : amin(sums, other, true);
  call.give(keeps ? found : squeeze(found, {a, b}));
}

static void linalgNormRule(Call &call) { giveNorm(call, call.integers("dim")); }
static void matrixNormRule(Call &call) {
  std::vector<int64_t> axes = call.integers("dim");
  giveNorm(call, axes.empty() ? std::vector<int64_t>{-2, -1} : axes);
}

static void covarianceRule(Call &call) {
  Tensor x = call.tensor("self");
  if (call.has("fweights") || call.has("aweights"))
    call.unsupported("weights");
  Tensor rows = x.rank() < 2 ? reshape(x, {1, -1}) : x;
  Tensor found = cov(rows, double(call.integer("correction", 1)));
  call.give(x.rank() < 2 ? reshape(found, {}) : found);
}

static void correlationRule(Call &call) {
  Tensor x = call.tensor("self");
  if (x.rank() < 2) {
    call.give(ones({}, {x.dtype(), x.device()}));
    return;
  }
  Tensor found = cov(x, 1);
  Tensor size = sqrt(diagonal(found));
  call.give(clamp(found / unsqueeze(size, 1) / unsqueeze(size, 0), -1.0, 1.0));
}

//===- Numbers ------------------------------------------------------------===//

static Tensor floatOf(Call &call, const char *name = "self") {
  return call.tensor(name).to(call.outputDType());
}

static void entropyRule(Call &call) {
  Tensor x = floatOf(call);
  Tensor none = full({}, -std::numeric_limits<double>::infinity(),
                     {x.dtype(), x.device()});
  Tensor inside = where(x > 0, -x * log(x), zeros_like(x));
  call.give(where(isnan(x), x, where(x < 0, none, inside)));
}
static void normalShareRule(Call &call) {
  Tensor x = floatOf(call);
  call.give(erfc(x * -std::numbers::sqrt2 / 2.0) * 0.5);
}
/// e^(x x) times erfc, by a series where neither is a number any more.
static void scaledErfcRule(Call &call) {
  Tensor x = floatOf(call);
  double limit = x.dtype() == DType::f64 ? 13 : 5;
  Tensor near = minimum(x, limit), far = maximum(x, limit);
  Tensor half = 0.5 / (far * far);
  Tensor series = ones_like(x);
  for (double odd : {15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0})
    series = 1.0 - half * series * odd;
  Tensor above = series / (far * std::sqrt(std::numbers::pi));
  call.give(where(x > limit, above, exp(near * near) * erfc(near)));
}
/// Far below 0, where the share itself is no number any more, by a series.
static void logNormalShareRule(Call &call) {
  Tensor x = floatOf(call);
  double limit = x.dtype() == DType::f64 ? -20 : -10;
  Tensor near = maximum(x, limit), far = minimum(x, limit);
  Tensor part = erfc(near * -(std::numbers::sqrt2 / 2)) * 0.5;
  Tensor upper = log1p(erfc(near * (std::numbers::sqrt2 / 2)) * -0.5);
  Tensor square = 1.0 / (far * far);
  Tensor series = ones_like(x);
  for (double odd : {9.0, 7.0, 5.0, 3.0, 1.0})
    series = 1.0 - square * series * odd;
  Tensor below = far * far * -0.5 - log(-far) + log(series) -
                 0.5 * std::log(2 * std::numbers::pi);
  call.give(where(x < limit, below, where(x < 0.0, log(part), upper)));
}
static void xlog1pyRule(Call &call) {
  DType dtype = call.outputDType();
  Tensor x = asTensor(call, call.at(0), dtype),
         y = asTensor(call, call.at(1), dtype);
  Tensor product = x * log1p(y);
  call.give(where(logical_and(x == 0, logical_not(isnan(y))),
                  zeros_like(product), product));
}
static void isrealRule(Call &call) {
  Tensor x = call.tensor("self");
  bool isComplex = x.dtype() == DType::c64 || x.dtype() == DType::c128;
  call.give(isComplex ? imag(x) == 0.0 : ones_like(x) != 0);
}
static void logSigmoidRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(logsigmoid(x));
  call.give(Value()); // a buffer of a backward pass
}

/// One sum, or one up to each place.
template <bool isRunning> static void trapezoidRule(Call &call) {
  Tensor y = call.tensor("y");
  int64_t axis = call.axis("dim", y.rank(), -1);
  if (y.rank() == 0)
    call.invalid("a tensor without axes");
  Dim size = y.dim(axis);
  Tensor upper = sliceAxis(y, axis, 1, size);
  Tensor lower = sliceAxis(y, axis, 0, size - Dim(1));
  Tensor mean = (upper + lower) * 0.5;
  auto added = [&](const Tensor &parts) {
    return isRunning ? cumsum(parts, axis) : sum(parts, axis);
  };
  if (!call.has("x")) {
    const Value &step = call.value("dx");
    double width = step.isNone() ? 1 : numberOf(call, step).asReal();
    call.give(added(mean) * width);
    return;
  }
  Tensor x = call.tensor("x");
  Tensor line = x.rank() == 1 ? alongAxis(x, axis, y.rank()) : x;
  if (line.rank() != y.rank())
    call.invalid("places of another rank");
  Tensor width = sliceAxis(line, axis, 1, line.dim(axis)) -
                 sliceAxis(line, axis, 0, line.dim(axis) - Dim(1));
  call.give(added(mean * width));
}

//===- Places in memory ---------------------------------------------------===//

/// Tensors are in row-major order here, each one of its own.
static void strideRule(Call &call) {
  Tensor x = call.tensor("self");
  Dim stride(1);
  for (int64_t i = call.axis("dim", x.rank()) + 1; i < x.rank(); ++i)
    stride = stride * x.dim(i);
  call.give(Value::ofInteger(stride));
}
static void offsetRule(Call &call) {
  call.tensor("self");
  call.give(Value::ofInteger(Dim(0)));
}
static void contiguousRule(Call &call) {
  call.tensor("self");
  call.ignore({"memory_format"});
  call.give(Value::ofBoolean(true));
}
static void resizeRule(Call &call) {
  Tensor x = call.tensor("self");
  Dims wanted = call.dims("size");
  call.ignore({"memory_format"});
  if (fixed(wanted) != fixed(x.shape()))
    call.unsupported("a tensor that gets another size in place");
  call.giveArgument("self");
}
/// The same elements as they are; others would need their bits.
static void viewDtypeRule(Call &call) {
  Tensor x = call.tensor("self");
  if (call.dtype("dtype") != x.dtype())
    call.unsupported("elements read as those of another dtype");
  call.giveArgument("self");
}

static constexpr Operator rows[] = {
    {"aten.atleast_1d.default", atLeastRule<1>},
    {"aten.atleast_1d.Sequence", atLeastRule<1>},
    {"aten.atleast_2d.default", atLeastRule<2>},
    {"aten.atleast_2d.Sequence", atLeastRule<2>},
    {"aten.atleast_3d.default", atLeastRule<3>},
    {"aten.atleast_3d.Sequence", atLeastRule<3>},
    {"aten.hsplit.int", hsplitRule},
    {"aten.hsplit.array", hsplitRule},
    {"aten.vsplit.int", vsplitRule},
    {"aten.vsplit.array", vsplitRule},
    {"aten.dsplit.int", dsplitRule},
    {"aten.dsplit.array", dsplitRule},
    {"aten.fliplr.default", flipRule<1>},
    {"aten.flipud.default", flipRule<0>},
    {"aten.block_diag.default", blockDiagonalRule},
    {"aten.diagflat.default", diagflatRule},
    {"aten.cartesian_prod.default", productsOfSetsRule},
    {"aten.repeat_interleave.Tensor", repeatEachRule},
    {"aten.repeat_interleave.self_Tensor", repeatEachRule},
    {"aten.inner.default", innerRule},
    {"aten.linalg_vecdot.default", vecdotRule},
    {"aten.vdot.default", vectorsRule},
    {"aten.chain_matmul.default", chainRule},
    {"aten.linalg_multi_dot.default", chainRule},
    {"aten.linalg_diagonal.default", diagonalOfRule},
    {"aten.linalg_norm.default", linalgNormRule},
    {"aten.linalg_norm.ord_str", linalgNormRule},
    {"aten.linalg_matrix_norm.default", matrixNormRule},
    {"aten.linalg_matrix_norm.str_ord", matrixNormRule},
    {"aten.frobenius_norm.dim", linalgNormRule},
    {"aten.sum_to_size.default", sumToSizeRule},
    {"aten.combinations.default", combinationsRule},
    {"aten.cov.default", covarianceRule},
    {"aten.corrcoef.default", correlationRule},
    {"aten.special_entr.default", entropyRule},
    {"aten.special_ndtr.default", normalShareRule},
    {"aten.special_log_ndtr.default", logNormalShareRule},
    {"aten.special_erfcx.default", scaledErfcRule},
    {"aten.special_xlog1py.default", xlog1pyRule},
    {"aten.special_xlog1py.other_scalar", xlog1pyRule},
    {"aten.special_xlog1py.self_scalar", xlog1pyRule},
    {"aten.isreal.default", isrealRule},
    {"aten.log_sigmoid_forward.default", logSigmoidRule},
    {"aten.trapezoid.dx", trapezoidRule<false>},
    {"aten.trapezoid.x", trapezoidRule<false>},
    {"aten.cumulative_trapezoid.dx", trapezoidRule<true>},
    {"aten.cumulative_trapezoid.x", trapezoidRule<true>},
    {"aten.sym_stride.int", strideRule},
    {"aten.sym_storage_offset.default", offsetRule},
    {"aten.sym_is_contiguous.default", contiguousRule},
    {"aten.resize_.default", resizeRule},
    {"aten.view.dtype", viewDtypeRule},
};

std::span<const Operator> compositionRows() { return rows; }

} // namespace sinter::torch
