/// Golden cases of functions of numbers, of reductions and of prefixes.
#include "tests/goldens/Attrs.h"
#include "tests/goldens/Ops.h"

#include <sinter/Ops.h>

#include <limits>

namespace sinter::goldens {

namespace {
using Rule = Values (*)(const OpCall &c);
using Table = std::map<std::string, Rule, std::less<>>;
} // namespace

template <Tensor (*function)(const Arg &)>
static Values unary(const OpCall &c) {
  return one(function(c["x"]));
}
template <Tensor (*function)(const Arg &, const Arg &)>
static Values binary(const OpCall &c) {
  return one(function(c["a"], c["b"]));
}
template <Tensor (*function)(const Arg &, const Axes &, bool)>
static Values reduction(const OpCall &c) {
  return one(function(c["x"],
                      c.attrs.has("dims") ? Axes(c.attrs.list("dims"))
                                          : Axes(c.attrs.list("dim")),
                      c.attrs.flag("keepdim")));
}
template <Extremes (*function)(const Arg &, int64_t, bool)>
static Values extremes(const OpCall &c) {
  Extremes found =
      function(c["x"], c.attrs.integer("dim"), c.attrs.flag("keepdim"));
  return {{"values", found.values}, {"indices", found.indices}};
}
template <Rounding rounding> static Values rounded(const OpCall &c) {
  return one(div(c["a"], c["b"], rounding));
}

static Table unaryOps() {
  return {
      {"exp2", unary<exp2>},
      {"expm1", unary<expm1>},
      {"log2", unary<log2>},
      {"log10", unary<log10>},
      {"log1p", unary<log1p>},
      {"tan", unary<tan>},
      {"asin", unary<asin>},
      {"acos", unary<acos>},
      {"atan", unary<atan>},
      {"sinh", unary<sinh>},
      {"cosh", unary<cosh>},
      {"asinh", unary<asinh>},
      {"acosh", unary<acosh>},
      {"atanh", unary<atanh>},
      {"logsigmoid", unary<logsigmoid>},
      {"erfc", unary<erfc>},
      {"sinc", unary<sinc>},
      {"frac", unary<frac>},
      {"selu", unary<selu>},
      {"mish", unary<mish>},
      {"softsign", unary<softsign>},
      {"tanhshrink", unary<tanhshrink>},
      {"deg2rad", unary<deg2rad>},
      {"positive_part_squared",
       [](const OpCall &c) { return one(square(relu(c["x"]))); }},
      {"reciprocal", unary<reciprocal>},
      {"floor", unary<floor>},
      {"ceil", unary<ceil>},
      {"trunc", unary<trunc>},
      {"round_half_even", unary<round>},
      {"sign", unary<sign>},
      {"isnan", unary<isnan>},
      {"isinf", unary<isinf>},
      {"isfinite", unary<isfinite>},
      {"signbit", unary<signbit>},
      {"relu6", unary<relu6>},
      {"hardsigmoid", unary<hardsigmoid>},
      {"hardswish", unary<hardswish>},
      {"elu",
       [](const OpCall &c) {
         return one(elu(c["x"], c.attrs.number("alpha", 1)));
       }},
      {"celu",
       [](const OpCall &c) {
         return one(celu(c["x"], c.attrs.number("alpha", 1)));
       }},
      {"softplus",
       [](const OpCall &c) {
         return one(softplus(c["x"], c.attrs.number("beta", 1),
                             c.attrs.number("threshold", 20)));
       }},
      {"hardtanh",
       [](const OpCall &c) {
         return one(hardtanh(c["x"], c.attrs.number("min_val", -1),
                             c.attrs.number("max_val", 1)));
       }},
      {"leaky_relu",
       [](const OpCall &c) {
         return one(leaky_relu(c["x"], c.attrs.number("negative_slope", 0.01)));
       }},
      {"threshold",
       [](const OpCall &c) {
         return one(threshold(c["x"], c.attrs.number("threshold"),
                              c.attrs.number("value")));
       }},
      {"softshrink",
       [](const OpCall &c) {
         return one(softshrink(c["x"], c.attrs.number("lambd", 0.5)));
       }},
      {"hardshrink",
       [](const OpCall &c) {
         return one(hardshrink(c["x"], c.attrs.number("lambd", 0.5)));
       }},
      {"logit",
       [](const OpCall &c) {
         return one(c.attrs.has("eps") ? logit(c["x"], c.attrs.number("eps"))
                                       : logit(c["x"]));
       }},
      {"pow_scalar",
       [](const OpCall &c) {
         return one(pow(c["x"], c.attrs.number("exponent")));
       }},
      {"pow_int_of_negative",
       [](const OpCall &c) {
         return one(pow(c["x"], c.attrs.number("exponent")));
       }},
      {"scalar_pow",
       [](const OpCall &c) {
         return one(pow(c.attrs.number("base"), c["x"]));
       }},
      {"nan_to_num",
       [](const OpCall &c) {
         if (!c.attrs.has("posinf"))
           return one(nan_to_num(c["x"]));
         return one(nan_to_num(c["x"], c.attrs.number("nan"),
                               c.attrs.number("posinf"),
                               c.attrs.number("neginf")));
       }},
  };
}

static Table binaryOps() {
  return {
      {"add_alpha",
       [](const OpCall &c) {
         return one(c["a"] + c.attrs.number("alpha", 1) * c["b"]);
       }},
      {"pow", binary<pow>},
      {"atan2", binary<atan2>},
      {"hypot", binary<hypot>},
      {"logaddexp", binary<logaddexp>},
      {"xlogy", binary<xlogy>},
      {"copysign", binary<copysign>},
      {"fmax", binary<fmax>},
      {"fmin", binary<fmin>},
      {"remainder", binary<remainder>},
      {"fmod", binary<fmod>},
      {"floor_divide", rounded<Rounding::floor>},
      {"div_trunc", rounded<Rounding::trunc>},
      {"logical_and", binary<logical_and>},
      {"logical_or", binary<logical_or>},
      {"logical_xor", binary<logical_xor>},
      {"logical_not",
       [](const OpCall &c) {
         return one(logical_not(c.inputs.begin()->second));
       }},
      {"int_bitwise_and", binary<bitwise_and>},
      {"int_bitwise_or", binary<bitwise_or>},
      {"int_bitwise_xor", binary<bitwise_xor>},
      {"int_div_floor", rounded<Rounding::floor>},
      {"int_div_trunc", rounded<Rounding::trunc>},
      {"int_remainder_sign_of_divisor", binary<remainder>},
      {"int_fmod_sign_of_dividend", binary<fmod>},
      {"int_shift",
       [](const OpCall &c) {
         return one(c.attrs.flag("left") ? bitwise_left_shift(c["a"], c["b"])
                                         : bitwise_right_shift(c["a"], c["b"]));
       }},
      {"lerp",
       [](const OpCall &c) { return one(lerp(c["a"], c["b"], c["weight"])); }},
      {"addcmul",
       [](const OpCall &c) {
         return one(
             addcmul(c["x"], c["a"], c["b"], c.attrs.number("value", 1)));
       }},
      {"addcdiv",
       [](const OpCall &c) {
         return one(
             addcdiv(c["x"], c["a"], c["b"], c.attrs.number("value", 1)));
       }},
  };
}

static Table foldOps() {
  return {
      {"prod", reduction<prod>},
      {"logsumexp", reduction<logsumexp>},
      {"all", reduction<all>},
      {"any", reduction<any>},
      {"norm",
       [](const OpCall &c) {
         double p = c.attrs.number("p");
         if (std::string text = c.attrs.text("p"); !text.empty())
           p = text == "inf" ? std::numeric_limits<double>::infinity()
                             : -std::numeric_limits<double>::infinity();
         return one(
             norm(c["x"], p, c.attrs.list("dims"), c.attrs.flag("keepdim")));
       }},
      {"var_std",
       [](const OpCall &c) {
         auto function = c.attrs.text("which") == "var" ? var : std;
         return one(function(c["x"], c.attrs.list("dims"),
                             c.attrs.number("correction", 1),
                             c.attrs.flag("keepdim")));
       }},
      {"argmin",
       [](const OpCall &c) {
         return one(
             argmin(c["x"], c.attrs.integer("dim"), c.attrs.flag("keepdim")));
       }},
      {"max_dim_with_index", extremes<max>},
      {"min_dim_with_index", extremes<min>},
      {"cumprod",
       [](const OpCall &c) {
         return one(cumprod(c["x"], c.attrs.integer("dim")));
       }},
      {"cummax",
       [](const OpCall &c) {
         return one(cummax(c["x"], c.attrs.integer("dim")).values);
       }},
      {"cummin",
       [](const OpCall &c) {
         return one(cummin(c["x"], c.attrs.integer("dim")).values);
       }},
  };
}

static Table edgeOps() {
  return {
      {"edge_kink_gradients",
       [](const OpCall &c) {
         const Tensor &x = c["x"];
         return several({relu(x), abs(x), clamp(x, -1, 1), hardtanh(x),
                         relu6(x), leaky_relu(x, 0.1), sign(x), pow(x, 2),
                         hardswish(x)});
       }},
      {"edge_prod_with_zeros",
       [](const OpCall &c) { return one(prod(c["x"], 1)); }},
      {"edge_pow_zero_base",
       [](const OpCall &c) {
         return several({pow(c["x"], 2), pow(c["x"], 0), pow(c["x"], 1)});
       }},
      {"edge_norm_of_zero",
       [](const OpCall &c) { return one(norm(c["x"], 2, {-1})); }},
      {"edge_softmax_huge",
       [](const OpCall &c) {
         return several({softmax(c["x"], 1), log_softmax(c["x"], 1),
                         logsumexp(c["x"], 1)});
       }},
      {"edge_logsumexp_inf",
       [](const OpCall &c) { return one(logsumexp(c["x"], 1)); }},
      {"edge_reduce_empty",
       [](const OpCall &c) {
         const Tensor &x = c["x"];
         return several({sum(x, 0), prod(x, 0), mean(x, 0), sum(x), all(x > 0),
                         any(x > 0)});
       }},
      {"edge_var_shifted",
       [](const OpCall &c) { return one(var(c["x"], -1)); }},
      {"edge_sum_precision",
       [](const OpCall &c) {
         return several({sum(c["x"]), mean(c["x"]), var(c["x"], {}, 0)});
       }},
      {"edge_where_masks_nan_grad",
       [](const OpCall &c) {
         return one(sum(where(c["x"] > 0, c["x"], zeros_like(c["x"]))));
       }},
      {"edge_layer_norm_shifted",
       [](const OpCall &c) {
         Options options{c["x"].dtype(), {}};
         Dims last{c["x"].dim(-1)};
         return one(
             layer_norm(c["x"], ones(last, options), zeros(last, options)));
       }},
      {"edge_unused_input", [](const OpCall &c) { return one(exp(c["x"])); }},
  };
}

static const Table &rules() {
  static const Table table = [] {
    Table all = unaryOps();
    all.merge(binaryOps());
    all.merge(foldOps());
    all.merge(edgeOps());
    return all;
  }();
  return table;
}

std::optional<Values> recordMath(const Case &golden, const Values &inputs) {
  std::string_view op = golden.op;
  auto rule = rules().find(op);
  // `edge_exp2` is `exp2` on numbers at the edge.
  if (rule == rules().end() && op.starts_with("edge_"))
    rule = rules().find(op.substr(5));
  if (rule == rules().end())
    return std::nullopt;
  return rule->second({inputs, Attrs(golden.attrs)});
}

} // namespace sinter::goldens
