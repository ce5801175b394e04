/// PyTorch's functions of numbers and of matrices.
#include "tests/goldens/torch/TorchCall.h"

#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <cmath>
#include <limits>

namespace sinter::goldens {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// A function of one tensor, or of two by the order of PyTorch's arguments.
template <Tensor (*function)(const Arg &)>
static Tensors unary(const OpCall &c) {
  return {function(c["x"])};
}
template <Tensor (*function)(const Arg &, const Arg &)>
static Tensors binary(const OpCall &c) {
  return {function(operand(c, "a"), operand(c, "b"))};
}
template <Tensor (*function)(const Arg &, const Arg &)>
static Tensors reflected(const OpCall &c) {
  return {function(operand(c, "b"), operand(c, "a"))};
}

static Tensor scaled(const OpCall &c, const Tensor &x) {
  double alpha = c.attrs.number("alpha", 1);
  return alpha == 1 ? x : x * alpha;
}

static Tensors clampOf(const OpCall &c) {
  Tensor x = c["x"];
  if (auto min = given(c, "min"))
    x = maximum(x, *min);
  if (auto max = given(c, "max"))
    x = minimum(x, *max);
  return {clamp(x, c.attrs.number("min", -infinity),
                c.attrs.number("max", infinity))};
}

static TorchTable arithmetic() {
  return {
      {"add",
       {"a b alpha",
        [](const OpCall &c) -> Tensors {
          return {c["a"] + scaled(c, operand(c, "b"))};
        }}},
      {"sub",
       {"a b alpha",
        [](const OpCall &c) -> Tensors {
          return {c["a"] - scaled(c, operand(c, "b"))};
        }}},
      {"rsub",
       {"a b alpha",
        [](const OpCall &c) -> Tensors {
          return {operand(c, "b") - scaled(c, c["a"])};
        }}},
      {"mul", {"a b", binary<mul>}},
      {"true_divide", {"a b", binary<div>}},
      {"div.no_rounding_mode", {"a b", binary<div>}},
      {"div.trunc_rounding", {"a b rounding_mode", nullptr, "div_trunc"}},
      {"div.floor_rounding", {"a b rounding_mode", nullptr, "floor_divide"}},
      {"clamp_max", {"a b", binary<minimum>}},
      {"clamp_min", {"a b", binary<maximum>}},
      {"max.binary", {"a b", binary<maximum>}},
      {"min.binary", {"a b", binary<minimum>}},
      {"clamp", {"x min max", clampOf}},
      {"pow", {"a b", binary<pow>}},
      {"__radd__", {"a b", binary<add>}},
      {"__rmul__", {"a b", binary<mul>}},
      {"__rsub__", {"a b", reflected<sub>}},
      {"__rdiv__", {"a b", reflected<div>}},
      {"__rmod__", {"a b", reflected<remainder>}},
      {"__rpow__", {"a b", reflected<pow>}},
      {"__rmatmul__", {"a b", reflected<matmul>}},
      {"addcmul", {"x a b value"}},
      {"addcdiv", {"x a b value"}},
      {"lerp",
       {"a b weight",
        [](const OpCall &c) -> Tensors {
          return {lerp(c["a"], c["b"], operand(c, "weight"))};
        }}},
      {"ldexp",
       {"a b",
        [](const OpCall &c) -> Tensors { return {c["a"] * exp2(c["b"])}; }}},
      {"heaviside",
       {"a b",
        [](const OpCall &c) -> Tensors {
          return {where(c["a"] == 0, c["b"], cast(c["a"] > 0, DType::f32))};
        }}},
      {"isclose",
       {"a b rtol atol equal_nan",
        [](const OpCall &c) -> Tensors {
          return {isclose(c["a"], c["b"], c.attrs.number("rtol", 1e-5),
                          c.attrs.number("atol", 1e-8),
                          c.attrs.flag("equal_nan"))};
        }}},
      {"where",
       {"x condition other",
        [](const OpCall &c) -> Tensors {
          return {where(c["condition"], c["x"], operand(c, "other"))};
        }}},
      {"masked_fill",
       {"x mask value",
        [](const OpCall &c) -> Tensors {
          return {masked_fill(c["x"], c["mask"], operand(c, "value"))};
        }}},
  };
}

static Tensors roundOf(const OpCall &c) {
  double scale = std::pow(10., c.attrs.number("decimals"));
  return {scale == 1 ? round(c["x"]) : round(c["x"] * scale) / scale};
}

static TorchTable functions() {
  return {
      {"round", {"x decimals", roundOf}},
      {"round.decimals_0", {"x decimals", roundOf}},
      {"round.decimals_3", {"x decimals", roundOf}},
      {"round.decimals_neg_3", {"x decimals", roundOf}},
      {"sgn", {"x", unary<sign>}},
      {"rad2deg", {"x", unary<rad2deg>}},
      {"isposinf",
       {"x", [](const OpCall &c) -> Tensors { return {c["x"] == infinity}; }}},
      {"isneginf",
       {"x", [](const OpCall &c) -> Tensors { return {c["x"] == -infinity}; }}},
      {"nan_to_num", {"x nan posinf neginf"}},
      {"logit", {"x eps"}},
      {"nn.functional.elu", {"x alpha"}},
      {"nn.functional.celu", {"x alpha"}},
      {"nn.functional.gelu", {"x approximate"}},
      {"nn.functional.hardshrink", {"x lambd"}},
      {"nn.functional.hardtanh", {"x min_val max_val"}},
      {"nn.functional.leaky_relu", {"x negative_slope"}},
      {"nn.functional.softplus", {"x beta threshold"}},
      {"nn.functional.softshrink", {"x lambd"}},
      {"nn.functional.threshold", {"x threshold value"}},
  };
}

static Tensors tensordotOf(const OpCall &c) {
  if (c.attrs.find("dims")->is(runtime::json::Kind::array))
    refuse("tensordot: lists of axes");
  int64_t count = c.attrs.integer("dims");
  std::vector<int64_t> left, right;
  for (int64_t i = 0; i < count; ++i) {
    left.push_back(c["a"].rank() - count + i);
    right.push_back(i);
  }
  return {tensordot(c["a"], c["b"], left, right)};
}

/// beta * x + alpha * product. Of beta 0 nothing of x counts.
static Tensor added(const OpCall &c, const Tensor &product) {
  double beta = c.attrs.number("beta", 1);
  Tensor x = beta == 0 ? zeros_like(c["x"]) : c["x"] * beta;
  return x + product * c.attrs.number("alpha", 1);
}

static TorchTable products() {
  return {
      {"mm", {"a b", binary<matmul>}},
      {"bmm", {"a b", binary<matmul>}},
      {"mv", {"a b", binary<matmul>}},
      {"dot", {"a b", binary<dot>}},
      {"vdot", {"a b", binary<dot>}},
      {"inner", {"a b", binary<dot>}},
      {"outer", {"a b", binary<outer>}},
      {"addmm", {"c a b beta alpha"}},
      {"addmm.decomposed", {"c a b beta alpha", nullptr, "addmm"}},
      {"addmv", {"c a b beta alpha", nullptr, "addmm"}},
      {"baddbmm", {"c a b beta alpha"}},
      {"addbmm",
       {"x a b beta alpha",
        [](const OpCall &c) -> Tensors {
          return {added(c, sum(matmul(c["a"], c["b"]), 0))};
        }}},
      {"addr",
       {"x a b beta alpha",
        [](const OpCall &c) -> Tensors {
          return {added(c, outer(c["a"], c["b"]))};
        }}},
      {"cross", {"a b dim"}},
      {"linalg.cross", {"a b dim", nullptr, "cross"}},
      {"cdist", {"a b p compute_mode"}},
      {"dist",
       {"a b p",
        [](const OpCall &c) -> Tensors {
          return {norm(c["a"] - c["b"], c.attrs.number("p", 2))};
        }}},
      {"einsum",
       {"xs equation",
        [](const OpCall &c) -> Tensors {
          Tensors xs = tensorList(c, "xs");
          return {einsum(c.attrs.text("equation"), xs)};
        }}},
      {"tensordot", {"a b dims", tensordotOf}},
      {"trace", {"x", unary<trace>}},
      {"linalg.matrix_power", {"x n", nullptr, "matrix_power"}},
      {"linalg.vecdot",
       {"a b dim",
        [](const OpCall &c) -> Tensors {
          return {sum(c["a"] * c["b"], c.attrs.integer("dim", -1))};
        }}},
      {"nn.functional.linear", {"x weight bias"}},
      {"nn.functional.bilinear",
       {"input1 input2 weight bias",
        [](const OpCall &c) -> Tensors {
          Tensor y = bilinear(c["input1"], c["input2"], c["weight"]);
          auto bias = given(c, "bias");
          return {bias ? y + *bias : y};
        }}},
  };
}

TorchTable torchMath() {
  TorchTable all = arithmetic();
  all.merge(functions());
  all.merge(products());
  return all;
}

} // namespace sinter::goldens
