/// Golden ops by name, with PyTorch's attributes.
#include "tests/goldens/Ops.h"

#include "tests/goldens/Attrs.h"

#include <sinter/Complex.h>

#include <algorithm>

namespace sinter::goldens {

namespace {

using Operands = std::span<const Tensor>;
using Rule = Tensor (*)(Operands x, const Attrs &attrs);

/// A rule, and the attributes that it understands.
struct Entry {
  size_t operands;
  std::vector<std::string_view> attrs;
  Rule rule;
};

} // namespace

/// The axes of a reduction: every one when none is named.
static Axes axesOf(const Attrs &attrs) {
  for (std::string_view key : {"dims", "dim"})
    if (attrs.has(key))
      return Axes(attrs.list(key));
  return {};
}

static Tensor sliceOf(const Tensor &x, const Attrs &attrs) {
  std::vector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  Dims limits = x.shape();
  int64_t dim = attrs.integer("dim");
  starts[dim] = attrs.integer("start");
  limits[dim] = Dim(attrs.integer("stop"));
  steps[dim] = attrs.integer("step", 1);
  return slice(x, starts, limits, steps);
}

static Tensor padOf(const Tensor &x, const Attrs &attrs) {
  std::vector<int64_t> low(x.rank(), 0), interior(x.rank(), 0);
  Dims shape = x.shape();
  int64_t dim = attrs.integer("dim"), before = attrs.integer("before");
  low[dim] = before;
  shape[dim] = shape[dim] + Dim(before + attrs.integer("after"));
  return pad(x, low, shape, interior, attrs.number("value"));
}

static Tensor indexSelectOf(const Tensor &x, const Attrs &attrs) {
  return index_select(x, tensor(attrs.list("index")), attrs.integer("dim"));
}

static Tensor clampOf(const Tensor &x, const Attrs &attrs) {
  double infinity = std::numeric_limits<double>::infinity();
  return clamp(x, attrs.number("min", -infinity),
               attrs.number("max", infinity));
}

static Tensor layerNormOf(const Tensor &x, const Attrs &attrs) {
  Dims last{x.dim(-1)};
  return layer_norm(x, ones(last, {x.dtype(), {}}),
                    zeros(last, {x.dtype(), {}}), attrs.number("eps", 1e-5));
}

/// A function of one tensor without attributes.
template <Tensor (*function)(const Arg &)>
static Tensor unary(Operands x, const Attrs &) {
  return function(x[0]);
}
template <Tensor (*function)(const Arg &, const Arg &)>
static Tensor binary(Operands x, const Attrs &) {
  return function(x[0], x[1]);
}
template <Tensor (*function)(const Arg &, const Axes &, bool)>
static Tensor reduction(Operands x, const Attrs &attrs) {
  return function(x[0], axesOf(attrs), attrs.flag("keepdim"));
}

using Table = std::map<std::string, Entry, std::less<>>;

static Table pointwiseOps() {
  return {
      {"neg", {1, {}, unary<neg>}},
      {"abs", {1, {}, unary<abs>}},
      {"real", {1, {}, unary<real>}},
      {"exp", {1, {}, unary<exp>}},
      {"log", {1, {}, unary<log>}},
      {"sqrt", {1, {}, unary<sqrt>}},
      {"rsqrt", {1, {}, unary<rsqrt>}},
      {"square", {1, {}, unary<square>}},
      {"sin", {1, {}, unary<sin>}},
      {"cos", {1, {}, unary<cos>}},
      {"tanh", {1, {}, unary<tanh>}},
      {"erf", {1, {}, unary<erf>}},
      {"sigmoid", {1, {}, unary<sigmoid>}},
      {"silu", {1, {}, unary<silu>}},
      {"relu", {1, {}, unary<relu>}},
      {"add", {2, {}, binary<add>}},
      {"sub", {2, {}, binary<sub>}},
      {"mul", {2, {}, binary<mul>}},
      {"div", {2, {}, binary<div>}},
      {"maximum", {2, {}, binary<maximum>}},
      {"minimum", {2, {}, binary<minimum>}},
      {"matmul", {2, {}, binary<matmul>}},
      {"sum", {1, {"dims", "dim", "keepdim"}, reduction<sum>}},
      {"mean", {1, {"dims", "dim", "keepdim"}, reduction<mean>}},
      {"amax", {1, {"dims", "dim", "keepdim"}, reduction<amax>}},
      {"amin", {1, {"dims", "dim", "keepdim"}, reduction<amin>}},
      {"reciprocal",
       {1, {}, [](Operands x, const Attrs &) { return 1.0 / x[0]; }}},
      {"sqrt_abs",
       {1,
        {},
        [](Operands x, const Attrs &) { return sqrt(abs(x[0]) + 0.5); }}},
      {"log_abs1",
       {1, {}, [](Operands x, const Attrs &) { return log(abs(x[0]) + 1.0); }}},
      {"recip_abs1",
       {1,
        {},
        [](Operands x, const Attrs &) { return 1.0 / (abs(x[0]) + 1.0); }}},
      {"div_abs1",
       {2,
        {},
        [](Operands x, const Attrs &) { return x[0] / (abs(x[1]) + 1.0); }}},
      {"where_gt",
       {2,
        {},
        [](Operands x, const Attrs &) {
          return where(x[0] > x[1], x[0] * 0.5, x[1]);
        }}},
      {"add_scalar",
       {1,
        {"value"},
        [](Operands x, const Attrs &a) { return x[0] + a.number("value"); }}},
      {"mul_scalar",
       {1,
        {"value"},
        [](Operands x, const Attrs &a) { return x[0] * a.number("value"); }}},
      {"rsub_scalar",
       {1,
        {"value"},
        [](Operands x, const Attrs &a) { return a.number("value") - x[0]; }}},
      {"rdiv_scalar",
       {1,
        {"value"},
        [](Operands x, const Attrs &a) { return a.number("value") / x[0]; }}},
      {"gelu",
       {1,
        {"approximate"},
        [](Operands x, const Attrs &a) {
          return gelu(x[0], a.text("approximate") == "tanh" ? GeluForm::tanh
                                                            : GeluForm::none);
        }}},
      {"relu6",
       {1, {}, [](Operands x, const Attrs &) { return clamp(x[0], 0, 6); }}},
      {"clamp",
       {1,
        {"min", "max"},
        [](Operands x, const Attrs &a) { return clampOf(x[0], a); }}},
      {"where",
       {3,
        {},
        [](Operands x, const Attrs &) { return where(x[0], x[1], x[2]); }}},
  };
}

static Table structuralOps() {
  return {
      {"permute",
       {1,
        {"dims"},
        [](Operands x, const Attrs &a) {
          return transpose(x[0], a.list("dims"));
        }}},
      {"reshape",
       {1,
        {"shape"},
        [](Operands x, const Attrs &a) {
          return reshape(x[0], dimsOf(a.list("shape")));
        }}},
      {"expand",
       {1,
        {"shape"},
        [](Operands x, const Attrs &a) {
          return broadcast(x[0], dimsOf(a.list("shape")));
        }}},
      {"unsqueeze",
       {1,
        {"dim"},
        [](Operands x, const Attrs &a) {
          return unsqueeze(x[0], a.integer("dim"));
        }}},
      {"squeeze",
       {1,
        {"dim"},
        [](Operands x, const Attrs &a) {
          return squeeze(x[0], a.integer("dim"));
        }}},
      {"flip",
       {1,
        {"dims"},
        [](Operands x, const Attrs &a) { return flip(x[0], a.list("dims")); }}},
      {"slice",
       {1,
        {"dim", "start", "stop", "step"},
        [](Operands x, const Attrs &a) { return sliceOf(x[0], a); }}},
      {"pad",
       {1,
        {"dim", "before", "after", "value"},
        [](Operands x, const Attrs &a) { return padOf(x[0], a); }}},
      {"cat",
       {2,
        {"dim"},
        [](Operands x, const Attrs &a) {
          return concat(x, a.integer("dim"));
        }}},
      {"softmax",
       {1,
        {"dim"},
        [](Operands x, const Attrs &a) {
          return softmax(x[0], a.integer("dim"));
        }}},
      {"log_softmax",
       {1,
        {"dim"},
        [](Operands x, const Attrs &a) {
          return log_softmax(x[0], a.integer("dim"));
        }}},
      {"cumsum",
       {1,
        {"dim"},
        [](Operands x, const Attrs &a) {
          return cumsum(x[0], a.integer("dim"));
        }}},
      {"layer_norm",
       {1,
        {"eps"},
        [](Operands x, const Attrs &a) { return layerNormOf(x[0], a); }}},
      {"index_select",
       {1,
        {"dim", "index"},
        [](Operands x, const Attrs &a) { return indexSelectOf(x[0], a); }}},
  };
}

static const Table &entries() {
  static const Table table = [] {
    Table all = pointwiseOps();
    all.merge(structuralOps());
    return all;
  }();
  return table;
}

std::optional<Tensor> applyOp(std::string_view op, std::span<const Tensor> x,
                              const Json &attrs) {
  auto found = entries().find(op);
  if (found == entries().end() || found->second.operands != x.size())
    return std::nullopt;
  const Entry &entry = found->second;
  for (const std::string &key : attrs.keys)
    if (std::ranges::count(entry.attrs, key) == 0)
      return std::nullopt;
  return entry.rule(x, Attrs(attrs));
}

static const Json &instructionsOf(const Case &golden) {
  static const Json none;
  const Json *list = golden.attrs.find("program");
  return list ? *list : none;
}

size_t countInstructions(const Case &golden) {
  return instructionsOf(golden).elements.size();
}

std::optional<Values> recordProgram(const Case &golden, const Values &inputs,
                                    const std::set<size_t> &cuts) {
  Values values = inputs;
  const Json &instructions = instructionsOf(golden);
  for (size_t i = 0; i < instructions.elements.size(); ++i) {
    const Json &instruction = instructions.elements[i];
    std::vector<Tensor> operands;
    for (const Json &name : instruction.find("in")->elements)
      operands.push_back(values.find(name.string)->second);
    std::optional<Tensor> result = applyOp(
        instruction.find("op")->string, operands, *instruction.find("attrs"));
    if (!result)
      return std::nullopt;
    if (cuts.contains(i))
      result->eval();
    values.insert_or_assign(instruction.find("out")->string,
                            std::move(*result));
  }
  return values;
}

} // namespace sinter::goldens
