/// Elements at positions.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <algorithm>

namespace sinter::torch {

/// Bools are scattered and gathered as bytes.
static Tensor asNumbers(const Tensor &x) {
  return x.dtype() == DType::boolean ? x.to(DType::u8) : x;
}

//===- Taking -------------------------------------------------------------===//

static void gatherRule(Call &call) {
  call.ignore({"sparse_grad"});
  Tensor x = call.tensor("self"), index = call.tensor("index");
  if (x.rank() == 0) {
    call.give(broadcast(x, index.shape()));
    return;
  }
  Tensor taken = gather(asNumbers(x), index, call.axis("dim", x.rank()));
  call.give(taken.to(x.dtype()));
}

static void indexSelectRule(Call &call) {
  Tensor x = call.tensor("self"), index = call.tensor("index");
  int64_t axis = call.axis("dim", x.rank());
  if (x.rank() == 0) {
    call.give(x);
    return;
  }
  call.give(
      index_select(asNumbers(x), reshape(index, {-1}), axis).to(x.dtype()));
}

static void takeRule(Call &call) {
  call.give(take(call.tensor("self"), call.tensor("index")));
}

/// Positions and x broadcast to each other, but along the axis.
static void takeAlongRule(Call &call) {
  Tensor x = call.tensor("self"), index = call.tensor("indices");
  if (!call.has("dim")) {
    call.give(gather(reshape(x, {-1}), reshape(index, {-1}), 0));
    return;
  }
  int64_t axis = call.axis("dim", x.rank());
  if (x.rank() != index.rank() || x.rank() == 0)
    call.invalid("the indices have another rank");
  Dims wide = x.shape(), places = index.shape();
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i == axis)
      continue;
    auto at = size_t(i);
    bool isOne = wide[at].isConstant() && wide[at].value == 1;
    Dim size = isOne ? places[at] : wide[at];
    wide[at] = places[at] = size;
  }
  call.give(gather(expand(x, wide), expand(index, places), axis));
}

static std::vector<Tensor> indicesOf(Call &call) {
  std::vector<Tensor> indices = call.tensors("indices");
  for (Tensor &each : indices)
    if (each.defined() && each.dtype() == DType::u8)
      each = each != 0;
  while (!indices.empty() && !indices.back().defined())
    indices.pop_back();
  return indices;
}

static void indexRule(Call &call) {
  Tensor x = call.tensor("self");
  std::vector<Tensor> indices = indicesOf(call);
  call.give(indices.empty() ? x : index(x, indices));
}

//===- Putting ------------------------------------------------------------===//

/// One mask over the whole tensor and one value: a choice, without positions.
static bool isMaskOf(const std::vector<Tensor> &indices, const Tensor &x,
                     const Tensor &values) {
  return indices.size() == 1 && indices[0].dtype() == DType::boolean &&
         indices[0].rank() <= x.rank() && values.rank() == 0;
}

static void indexPutRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor values = call.tensor("values").to(x.dtype());
  bool accumulates = call.flag("accumulate");
  call.ignore({"unsafe"});
  std::vector<Tensor> indices = indicesOf(call);
  if (indices.empty())
    call.unsupported("no indices");
  if (isMaskOf(indices, x, values)) {
    Dims shape = indices[0].shape();
    shape.resize(size_t(x.rank()), Dim(1));
    Tensor mask = reshape(indices[0], shape);
    call.give(where(mask, accumulates ? x + values : values, x));
    return;
  }
  bool isBool = x.dtype() == DType::boolean;
  Tensor result = index_put(asNumbers(x), indices, asNumbers(values),
                            accumulates && !isBool);
  call.give(result.to(x.dtype()));
}

/// Whole slices go to slices: both tensors have the same axes.
static void requireSlices(Call &call, const Tensor &x, const Tensor &source) {
  if (x.rank() == 0 || source.rank() != x.rank())
    call.invalid("slices of rank " + std::to_string(source.rank()) +
                 " for a tensor of rank " + std::to_string(x.rank()));
}

static void indexAddRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor source = call.tensor("source").to(x.dtype());
  requireSlices(call, x, source);
  call.give(index_add(x, call.axis("dim", x.rank()), call.tensor("index"),
                      source, call.real("alpha", 1)));
}

/// Positions in the flat tensor.
static void putRule(Call &call) {
  Tensor x = call.tensor("self"), place = call.tensor("index");
  Tensor source = reshape(call.tensor("source").to(x.dtype()), {-1});
  Tensor result = index_put(asNumbers(reshape(x, {-1})), {reshape(place, {-1})},
                            asNumbers(source), call.flag("accumulate"));
  call.give(reshape(result.to(x.dtype()), x.shape()));
}

/// Whole slices along an axis: indices for each of their elements.
static Tensor slicePlaces(const Tensor &index, int64_t axis,
                          const Dims &shape) {
  return broadcast(alongAxis(reshape(index.to(DType::i64), {-1}), axis,
                             int64_t(shape.size())),
                   shape);
}

static void indexCopyRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor source = call.tensor("source").to(x.dtype());
  requireSlices(call, x, source);
  int64_t axis = call.axis("dim", x.rank());
  Tensor places = slicePlaces(call.tensor("index"), axis, source.shape());
  call.give(
      scatter(asNumbers(x), places, asNumbers(source), axis).to(x.dtype()));
}

static void indexFillRule(Call &call) {
  Tensor x = call.tensor("self"), index = call.tensor("index");
  int64_t axis = call.axis("dim", x.rank());
  if (x.rank() == 0)
    call.unsupported("a tensor without axes");
  Dims shape = x.shape();
  shape[size_t(axis)] = reshape(index, {-1}).dim(0);
  Tensor value = asTensor(call, call.value("value"), x.dtype());
  Tensor wanted = broadcast(value, shape);
  call.give(scatter(asNumbers(x), slicePlaces(index, axis, shape),
                    asNumbers(wanted), axis)
                .to(x.dtype()));
}

//===- Scattering ---------------------------------------------------------===//

/// The part of updates that has an index: they may be longer.
static Tensor updatesOf(Call &call, const Tensor &x, const Tensor &index) {
  if (call.has("value"))
    return broadcast(asTensor(call, call.value("value"), x.dtype()),
                     index.shape());
  Tensor updates = call.tensor("src").to(x.dtype());
  if (updates.rank() != index.rank())
    call.invalid("updates and indices of unequal rank");
  for (int64_t i = 0; i < index.rank(); ++i)
    updates = sliceAxis(updates, i, 0, index.dim(i));
  return updates;
}

/// `replaces` stands for no fold.
static void scatterBy(Call &call, const std::string &fold, bool includesSelf) {
  Tensor x = call.tensor("self"), index = call.tensor("index");
  if (x.rank() == 0)
    call.unsupported("a tensor without axes");
  int64_t axis = call.axis("dim", x.rank());
  Tensor updates = updatesOf(call, x, index);
  if (fold.empty()) {
    call.give(
        scatter(asNumbers(x), index, asNumbers(updates), axis).to(x.dtype()));
    return;
  }
  ScatterReduce reduce;
  if (fold == "sum" || fold == "add")
    reduce = ScatterReduce::sum;
  else if (fold == "prod" || fold == "multiply")
    reduce = ScatterReduce::prod;
  else if (fold == "mean")
    reduce = ScatterReduce::mean;
  else if (fold == "amax")
    reduce = ScatterReduce::amax;
  else if (fold == "amin")
    reduce = ScatterReduce::amin;
  else
    call.invalid("reduction '" + fold + "'");
  call.give(scatter_reduce(x, axis, index, updates, reduce, includesSelf));
}

static void scatterRule(Call &call) {
  scatterBy(call, call.text("reduce", ""), true);
}
static void scatterAddRule(Call &call) { scatterBy(call, "sum", true); }
static void scatterReduceRule(Call &call) {
  scatterBy(call, call.text("reduce", "sum"), call.flag("include_self", true));
}

/// Slices are folded, not elements.
static void indexReduceRule(Call &call) {
  Tensor x = call.tensor("self"), source = call.tensor("source");
  requireSlices(call, x, source);
  int64_t axis = call.axis("dim", x.rank());
  Tensor places = slicePlaces(call.tensor("index"), axis, source.shape());
  std::string fold = call.text("reduce", "");
  ScatterReduce reduce = fold == "prod"   ? ScatterReduce::prod
                         : fold == "mean" ? ScatterReduce::mean
                         : fold == "amax" ? ScatterReduce::amax
                                          : ScatterReduce::amin;
  call.give(scatter_reduce(x, axis, places, source.to(x.dtype()), reduce,
                           call.flag("include_self", true)));
}

//===- Masks --------------------------------------------------------------===//

static void nonzeroRule(Call &call) { call.give(nonzero(call.tensor("self"))); }

/// Positions along each axis.
static void nonzeroAxesRule(Call &call) {
  Tensor x = call.tensor(call.has("condition") ? "condition" : "self");
  Tensor places = nonzero(x.rank() == 0 ? reshape(x, {1}) : x);
  std::vector<Value> list;
  for (int64_t i = 0; i < fixed(places.dim(1)); ++i)
    list.emplace_back(select(places, 1, i));
  call.give(Value::ofList(std::move(list)));
}

static void maskedSelectRule(Call &call) {
  Tensor x = call.tensor("self"), mask = call.tensor("mask");
  Tensor wide = where(mask, x, x); // both broadcast to one shape
  call.give(masked_select(wide, expand(mask, wide.shape())));
}

/// Elements of the source in their order, where the mask holds.
static void maskedScatterRule(Call &call) {
  Tensor x = call.tensor("self"), source = call.tensor("source").to(x.dtype());
  Tensor mask = call.tensor("mask");
  x = where(mask, x, x); // both broadcast to one shape
  mask = expand(mask, x.shape());
  Tensor flags = reshape(mask, {-1});
  Tensor place = cumsum(flags.to(DType::i64), 0) - 1;
  Tensor from = reshape(source, {-1});
  int64_t most = std::max<int64_t>(from.dim(0).value - 1, 0);
  Tensor taken = index_select(asNumbers(from), clamp(place, 0, most), 0);
  Tensor flat = where(flags, taken.to(x.dtype()), reshape(x, {-1}));
  call.give(reshape(flat, x.shape()));
}

static void isinRule(Call &call) {
  call.ignore({"assume_unique"});
  const Value &elements = call.value("elements"),
              &tests = call.value("test_elements").isNone()
                           ? call.value("test_element")
                           : call.value("test_elements");
  const Value &first = elements.isNone() ? call.value("element") : elements;
  DType dtype = promoted({&first, &tests});
  Tensor x = asTensor(call, first, dtype);
  Tensor line = reshape(asTensor(call, tests, dtype), {-1});
  Tensor found = any(unsqueeze(x, x.rank()) == line, x.rank(), false);
  call.give(call.flag("invert") ? logical_not(found) : found);
}

static void oneHotRule(Call &call) {
  int64_t classes = call.integer("num_classes", -1);
  if (classes < 0)
    call.unsupported("a number of classes that the values tell");
  call.give(one_hot(call.tensor("self"), classes));
}

static constexpr Operator rows[] = {
    {"aten.gather.default", gatherRule},
    {"aten.index_select.default", indexSelectRule},
    {"aten.take.default", takeRule},
    {"aten.take_along_dim.default", takeAlongRule},
    {"aten.index.Tensor", indexRule},
    {"aten._unsafe_index.Tensor", indexRule},
    {"aten.index_put.default", indexPutRule},
    {"aten._unsafe_index_put.default", indexPutRule},
    {"aten._index_put_impl.default", indexPutRule},
    {"aten.put.default", putRule},
    {"aten.index_add.default", indexAddRule},
    {"aten.index_copy.default", indexCopyRule},
    {"aten.index_fill.int_Scalar", indexFillRule},
    {"aten.index_fill.int_Tensor", indexFillRule},
    {"aten.index_reduce.default", indexReduceRule},
    {"aten.scatter.value", scatterRule},
    {"aten.scatter.src", scatterRule},
    {"aten.scatter.reduce", scatterRule},
    {"aten.scatter.value_reduce", scatterRule},
    {"aten.scatter_add.default", scatterAddRule},
    {"aten.scatter_reduce.two", scatterReduceRule},
    {"aten.nonzero.default", nonzeroRule},
    {"aten.argwhere.default", nonzeroRule},
    {"aten.nonzero_numpy.default", nonzeroAxesRule},
    {"aten.where.default", nonzeroAxesRule},
    {"aten.masked_select.default", maskedSelectRule},
    {"aten.masked_scatter.default", maskedScatterRule},
    {"aten.isin.Tensor_Tensor", isinRule},
    {"aten.isin.Tensor_Scalar", isinRule},
    {"aten.isin.Scalar_Tensor", isinRule},
    {"aten.one_hot.default", oneHotRule},
};

std::span<const Operator> indexRows() { return rows; }

} // namespace sinter::torch
