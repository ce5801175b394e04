/// PyTorch's reductions, prefixes and sorting.
#include "tests/goldens/torch/TorchCall.h"

#include <sinter/generated/functions/Math.h>

namespace sinter::goldens {

template <Tensor (*function)(const Arg &, const Axes &, bool)>
static Tensors reduction(const OpCall &c) {
  return {function(c["x"], reducedAxes(c), c.attrs.flag("keepdim"))};
}

/// The place of the largest or smallest of an axis, or of all elements.
template <Tensor (*function)(const Arg &, int64_t, bool)>
static Tensors place(const OpCall &c) {
  if (!c.attrs.has("dim"))
    return {function(flatten(c["x"]), 0, false)};
  return {function(c["x"], c.attrs.integer("dim"), c.attrs.flag("keepdim"))};
}

static Tensors pairOf(Extremes found) {
  return {std::move(found.values), std::move(found.indices)};
}
template <Extremes (*function)(const Arg &, int64_t, bool)>
static Tensors extremes(const OpCall &c) {
  return pairOf(
      function(c["x"], c.attrs.integer("dim"), c.attrs.flag("keepdim")));
}
template <Extremes (*function)(const Arg &, int64_t)>
static Tensors runningExtremes(const OpCall &c) {
  return pairOf(function(c["x"], c.attrs.integer("dim")));
}
template <Tensor (*function)(const Arg &, int64_t, bool)>
static Tensors prefix(const OpCall &c) {
  return {function(c["x"], c.attrs.integer("dim"), false)};
}

/// `x.var(False)` speaks of the correction, `x.var(0)` of an axis.
template <Tensor (*function)(const Arg &, const Axes &, double, bool)>
static Tensor spread(const OpCall &c) {
  const Json *first = c.attrs.find("dim");
  bool isFlag = first && first->is(runtime::json::Kind::boolean);
  bool unbiased = isFlag ? first->boolean : c.attrs.flag("unbiased", true);
  return function(c["x"], isFlag ? Axes() : reducedAxes(c),
                  c.attrs.number("correction", unbiased),
                  c.attrs.flag("keepdim"));
}
template <Tensor (*function)(const Arg &, const Axes &, double, bool)>
static Tensors spreadAndMean(const OpCall &c) {
  const Json *first = c.attrs.find("dim");
  bool isFlag = first && first->is(runtime::json::Kind::boolean);
  return {spread<function>(c), mean(c["x"], isFlag ? Axes() : reducedAxes(c),
                                    c.attrs.flag("keepdim"))};
}

static Tensors medianOf(const OpCall &c) {
  if (!c.attrs.has("dim"))
    return {median(flatten(c["x"]), 0).values};
  return pairOf(
      median(c["x"], c.attrs.integer("dim"), c.attrs.flag("keepdim")));
}

/// The p-norm of a vector, or of all elements; `p` names the argument.
/// Matrices have norms of their own, which are not here.
static Tensors normOf(const OpCall &c, std::string_view p) {
  std::string name = c.attrs.text(p);
  if (!name.empty() && name != "fro")
    refuse("norm: of singular values");
  double power = name.empty() ? c.attrs.number(p, 2) : 2;
  return {norm(c["x"], power, reducedAxes(c), c.attrs.flag("keepdim"))};
}
static Tensors anyNorm(const OpCall &c) { return normOf(c, "p"); }
static Tensors vectorNorm(const OpCall &c) { return normOf(c, "ord"); }
static Tensors linalgNorm(const OpCall &c) {
  size_t axes = c.attrs.list("dim").size();
  if (c.attrs.has("ord") && (axes == 2 || (axes == 0 && c["x"].rank() != 1)))
    refuse("linalg.norm: of a matrix");
  return normOf(c, "ord");
}

static TorchTable folds() {
  return {
      {"sum", {"x@ dim keepdim", reduction<sum>}},
      {"mean", {"x@ dim keepdim", reduction<mean>}},
      {"amax", {"x@ dim keepdim", reduction<amax>}},
      {"amin", {"x@ dim keepdim", reduction<amin>}},
      {"prod", {"x@ dim keepdim", reduction<prod>}},
      {"all", {"x@ dim keepdim", reduction<all>}},
      {"any", {"x@ dim keepdim", reduction<any>}},
      {"logsumexp", {"x@ dim keepdim", reduction<logsumexp>}},
      {"count_nonzero", {"x@ dim", reduction<count_nonzero>}},
      {"nansum",
       {"x@ dim keepdim",
        [](const OpCall &c) -> Tensors {
          return {sum(where(isnan(c["x"]), 0, c["x"]), reducedAxes(c),
                      c.attrs.flag("keepdim"))};
        }}},
      {"argmax", {"x@ dim keepdim", place<argmax>}},
      {"argmin", {"x@ dim keepdim", place<argmin>}},
      {"max.reduction_no_dim", {"x", reduction<amax>}},
      {"min.reduction_no_dim", {"x", reduction<amin>}},
      {"max.reduction_with_dim", {"x@ dim keepdim", extremes<max>}},
      {"min.reduction_with_dim", {"x@ dim keepdim", extremes<min>}},
      {"aminmax",
       {"x@ dim keepdim",
        [](const OpCall &c) -> Tensors {
          return {reduction<amin>(c)[0], reduction<amax>(c)[0]};
        }}},
      {"median", {"x@ dim keepdim", medianOf}},
      {"var",
       {"x dim unbiased keepdim correction",
        [](const OpCall &c) -> Tensors { return {spread<var>(c)}; }}},
      {"std",
       {"x dim unbiased keepdim correction",
        [](const OpCall &c) -> Tensors { return {spread<std>(c)}; }}},
      {"var_mean", {"x dim unbiased keepdim correction", spreadAndMean<var>}},
      {"std_mean", {"x dim unbiased keepdim correction", spreadAndMean<std>}},
      {"norm", {"x p dim keepdim", anyNorm}},
      {"norm.fro", {"x p dim keepdim", anyNorm}},
      {"norm.inf", {"x p dim keepdim", anyNorm}},
      {"norm.nuc", {"x p dim keepdim", anyNorm}},
      {"linalg.vector_norm", {"x@ ord dim keepdim", vectorNorm}},
      {"linalg.norm", {"x ord dim keepdim", linalgNorm}},
      {"linalg.norm.subgradients_at_zero", {"x ord dim keepdim", linalgNorm}},
  };
}

static Tensors sortOf(const OpCall &c) {
  Sorted found =
      sort(c["x"], c.attrs.integer("dim", -1), c.attrs.flag("descending"));
  return {found.values, found.indices};
}
static Tensors topkOf(const OpCall &c) {
  Sorted found =
      topk(c["x"], c.attrs.integer("k"), c.attrs.integer("dim", -1),
           c.attrs.flag("largest", true), c.attrs.flag("sorted", true));
  return {found.values, found.indices};
}

static TorchTable ordered() {
  return {
      {"cumsum", {"x@ dim", prefix<cumsum>}},
      {"cumprod", {"x@ dim", prefix<cumprod>}},
      {"cummax", {"x@ dim", runningExtremes<cummax>}},
      {"cummin", {"x@ dim", runningExtremes<cummin>}},
      {"logcumsumexp", {"x@ dim"}},
      {"sort", {"x@ dim descending stable", sortOf}},
      {"topk", {"x@ k dim largest sorted", topkOf}},
      {"nonzero",
       {"x as_tuple",
        [](const OpCall &c) -> Tensors { return {nonzero(c["x"])}; }}},
      {"argwhere",
       {"x", [](const OpCall &c) -> Tensors { return {nonzero(c["x"])}; }}},
  };
}

TorchTable torchReductions() {
  TorchTable all = folds();
  all.merge(ordered());
  return all;
}

} // namespace sinter::goldens
