"""Operators of one element each."""

import torch
from torch.nn import functional as F

from ops.table import A, c, case, f, i, p, positive, special, unit

ANYWHERE = ("abs atan ceil cos erf exp expm1 floor isinf isnan neg relu round "
            "sigmoid sign sin sinh tan tanh trunc asinh cosh erfc exp2 frac "
            "isfinite sgn signbit sinc square positive isposinf isneginf "
            "deg2rad rad2deg nan_to_num i0").split()
POSITIVE = ("log log10 log1p log2 reciprocal rsqrt sqrt lgamma "
            "digamma").split()
UNIT = "acos asin atanh erfinv".split()
OF_WHOLE = ("abs sign neg relu floor ceil round trunc sin reciprocal rsqrt exp "
            "sigmoid bitwise_not logical_not square").split()


def rule(name):
    packet = getattr(A, name)
    return packet.default


for each in ANYWHERE:
    case(each, rule(each), lambda b: [f(b, 3, 4) * 2])
    if each not in ("tan", "i0", "sinc", "frac"):
        case(each + "_special", rule(each), lambda b: [special(b, 4)])
for each in POSITIVE:
    case(each, rule(each), lambda b: [positive(b, 3)])
    if each not in ("lgamma", "digamma"):
        case(each + "_special", rule(each), lambda b: [special(b, 4)])
for each in UNIT:
    case(each, rule(each), lambda b: [unit(b, 3)])
case("acosh", A.acosh.default, lambda b: [positive(b, 3) + 1])
for each in OF_WHOLE:
    case(each + "_int", rule(each), lambda b: [i(6, b, 3, low=-5)])
case("bitwise_not_bool", A.bitwise_not.default, lambda b: [p(b, 3)])
case("logical_not", A.logical_not.default, lambda b: [f(b, 3).round()])
case("logical_not_bool", A.logical_not.default, lambda b: [p(b, 3)])
case("round_half", A.round.default,
     lambda b: [torch.arange(b * 4).reshape(b, 4) - 4.5])
case("round_decimals", lambda x: A.round.decimals(x, decimals=2),
     lambda b: [f(b, 5)])
case("abs_int8", A.abs.default,
     lambda b: [i(100, b, 3, low=-100).to(torch.int8)])
case("exp_f16", A.exp.default, lambda b: [f(b, 3).half()], rtol=2e-3)
case("sigmoid_bf16", A.sigmoid.default, lambda b: [f(b, 3).bfloat16()],
     rtol=2e-2)
case("exp_f64", A.exp.default, lambda b: [f(b, 3).double()])
case("abs_complex", A.abs.default, lambda b: [c(b, 3)])
case("exp_complex", A.exp.default, lambda b: [c(b, 3)])
case("nan_to_num_values", lambda x: torch.nan_to_num(x, 1.0, 2.0, -3.0),
     lambda b: [special(b, 4)])
case("logit_eps", lambda x: A.logit.default(x, 1e-2), lambda b: [
    torch.rand(b, 4)])

#===- Activations ----------------------------------------------------------===#

case("elu", A.elu.default, lambda b: [f(b, 5)])
case("elu_scales", lambda x: A.elu.default(x, 0.7, 1.3, 0.9),
     lambda b: [f(b, 5)])
case("gelu", A.gelu.default, lambda b: [f(b, 5)])
case("gelu_tanh", lambda x: A.gelu.default(x, approximate="tanh"),
     lambda b: [f(b, 5)])
case("hardtanh", A.hardtanh.default, lambda b: [f(b, 5) * 2])
case("hardtanh_limits", lambda x: A.hardtanh.default(x, -0.5, 2),
     lambda b: [f(b, 5) * 2])
case("leaky_relu", A.leaky_relu.default, lambda b: [f(b, 5)])
case("leaky_relu_slope", lambda x: A.leaky_relu.default(x, 0.3),
     lambda b: [f(b, 5)])
for each in ("silu mish softplus hardswish hardsigmoid selu celu logsigmoid "
             "softsign softshrink hardshrink tanhshrink relu6").split():
    case(each, getattr(F, each), lambda b: [f(b, 5) * 3])
case("softplus_beta", lambda x: F.softplus(x, 2.0, 3.0),
     lambda b: [f(b, 5) * 3])
case("threshold", lambda x: F.threshold(x, 0.2, -7.0), lambda b: [f(b, 5)])
case("prelu", F.prelu, lambda b: [f(b, 3, 4), positive(3)])
case("prelu_one", F.prelu, lambda b: [f(b, 3, 4), positive(1)])
case("glu", lambda x: F.glu(x, 1), lambda b: [f(b, 6)])
case("rrelu_eval", lambda x: F.rrelu(x), lambda b: [f(b, 6)])
case("softmax", lambda x: torch.softmax(x, -1), lambda b: [f(b, 6)])
case("softmax_dtype", lambda x: torch.softmax(x, 0, dtype=torch.float64),
     lambda b: [f(b, 6)])
case("softmax_raw", lambda x: A._softmax.default(x, 1, False),
     lambda b: [f(b, 4, 2)])
case("softmax_infinite", lambda x: torch.softmax(x, -1),
     lambda b: [torch.where(p(b, 6) | (torch.arange(6) == 0), f(b, 6),
                            -torch.inf)])
case("log_softmax", lambda x: torch.log_softmax(x, 0), lambda b: [f(b, 6)])
case("log_softmax_raw", lambda x: A._log_softmax.default(x, -1, False),
     lambda b: [f(b, 4, 2)])
case("softmin", lambda x: F.softmin(x, 1), lambda b: [f(b, 6)])
case("gumbel_logits", lambda x: torch.logsumexp(x, [0, 2], True),
     lambda b: [f(b, 3, 2)])

#===- Two operands ---------------------------------------------------------===#

case("add", A.add.Tensor, lambda b: [f(b, 3), f(b, 3)])
case("add_alpha", lambda x, y: A.add.Tensor(x, y, alpha=-2),
     lambda b: [f(b, 3), f(3)])
case("add_broadcast", A.add.Tensor, lambda b: [f(b, 1, 3), f(4, 1)])
case("add_scalar", lambda x: A.add.Scalar(x, 2.5), lambda b: [f(b, 3)])
case("add_scalar_alpha", lambda x: A.add.Scalar(x, 2, 3), lambda b: [f(b, 3)])
case("add_promote", A.add.Tensor, lambda b: [i(9, b, 3), f(b, 3)])
case("add_rank0_keeps", A.add.Tensor,
     lambda b: [f(b, 3), torch.tensor(2.0, dtype=torch.float64)])
case("add_rank0_int", A.add.Tensor, lambda b: [i(9, b, 3), torch.tensor(1.5)])
case("add_int_float_scalar", lambda x: x + 0.5, lambda b: [i(9, b, 3)])
case("add_bool", A.add.Tensor, lambda b: [p(b, 3), p(b, 3)])
case("add_int8_int32", A.add.Tensor,
     lambda b: [i(9, b, 3).to(torch.int8), i(9, b, 3).int()])
case("add_f16_f32", A.add.Tensor, lambda b: [f(b, 3).half(), f(b, 3)])
case("add_complex", A.add.Tensor, lambda b: [c(b, 3), f(b, 3)])
case("sub", A.sub.Tensor, lambda b: [f(b, 3), f(b, 3)])
case("sub_alpha", lambda x, y: A.sub.Tensor(x, y, alpha=0.5),
     lambda b: [f(b, 3), f(1)])
case("sub_scalar", lambda x: A.sub.Scalar(x, 2, 3), lambda b: [i(9, b, 3)])
case("rsub", lambda x: 2 - x, lambda b: [f(b, 3)])
case("rsub_alpha", lambda x, y: A.rsub.Tensor(x, y, alpha=2),
     lambda b: [f(b, 3), f(b, 3)])
case("mul", A.mul.Tensor, lambda b: [f(b, 3), f(b, 1)])
case("mul_scalar", lambda x: A.mul.Scalar(x, 0.5), lambda b: [f(b, 3)])
case("mul_int_scalar", lambda x: x * 0.5, lambda b: [i(9, b, 3)])
case("mul_bool", A.mul.Tensor, lambda b: [p(b, 3), p(b, 3)])
case("mul_bool_float", A.mul.Tensor, lambda b: [p(b, 3), f(b, 3)])
case("mul_complex", A.mul.Tensor, lambda b: [c(b, 3), c(b, 3)])
case("div", A.div.Tensor, lambda b: [f(b, 3), positive(b, 3)])
case("div_by_zero", A.div.Tensor, lambda b: [special(b, 4), special(b, 4)])
case("div_int", A.div.Tensor, lambda b: [i(9, b, 3), i(9, b, 3, low=1)])
case("div_scalar", lambda x: A.div.Scalar(x, 3), lambda b: [i(9, b, 3)])
for mode in ("floor", "trunc"):
    case(f"div_{mode}", lambda x, y, mode=mode: A.div.Tensor_mode(
        x, y, rounding_mode=mode), lambda b: [f(b, 3) * 9, f(b, 3) + 3])
    case(f"div_{mode}_int", lambda x, y, mode=mode: A.div.Tensor_mode(
        x, y, rounding_mode=mode),
        lambda b: [i(20, b, 3, low=-20), i(9, b, 3, low=1) * -1])
    case(f"div_scalar_{mode}", lambda x, mode=mode: A.div.Scalar_mode(
        x, 3, rounding_mode=mode), lambda b: [i(20, b, 3, low=-20)])
case("div_mode_none", lambda x, y: A.div.Tensor_mode(x, y, rounding_mode=None),
     lambda b: [i(9, b, 3), i(9, b, 3, low=1)])
case("floor_divide", lambda x, y: x // y,
     lambda b: [i(20, b, 3, low=-20), i(9, b, 3, low=1)])
case("fmod", A.fmod.Tensor, lambda b: [f(b, 3) * 9, f(b, 3) + 3])
case("fmod_int", A.fmod.Tensor,
     lambda b: [i(20, b, 3, low=-20), i(9, b, 3, low=1)])
case("fmod_scalar", lambda x: A.fmod.Scalar(x, -2.5), lambda b: [f(b, 3) * 9])
case("remainder", A.remainder.Tensor, lambda b: [f(b, 3) * 9, f(b, 3) + 3])
case("remainder_int", A.remainder.Tensor,
     lambda b: [i(20, b, 3, low=-20), -i(9, b, 3, low=1)])
case("remainder_scalar", lambda x: A.remainder.Scalar(x, -2.5),
     lambda b: [f(b, 3) * 9])
case("remainder_of_scalar", lambda x: torch.remainder(7, x),
     lambda b: [i(9, b, 3, low=1)])
case("pow", A.pow.Tensor_Tensor, lambda b: [positive(b, 3), f(b, 3)])
case("pow_int", A.pow.Tensor_Tensor, lambda b: [i(5, b, 3), i(4, b, 3)])
case("pow_negative_base", A.pow.Tensor_Tensor,
     lambda b: [f(b, 4), i(4, b, 4, low=-3).float()])
for exponent in (2, 3, 0.5, -1, -2, 1, 0, 2.5):
    case(f"pow_scalar_{exponent}",
         lambda x, exponent=exponent: A.pow.Tensor_Scalar(x, exponent),
         lambda b: [positive(b, 3)])
case("pow_scalar_negative", lambda x: x ** 3.0, lambda b: [f(b, 3)])
case("pow_scalar_int", lambda x: x ** 3, lambda b: [i(5, b, 3, low=-4)])
case("pow_of_scalar", lambda x: A.pow.Scalar(2.5, x), lambda b: [f(b, 3)])
case("pow_of_one", lambda x: A.pow.Scalar(1, x), lambda b: [i(5, b, 3)])
case("maximum", A.maximum.default, lambda b: [special(b, 4), f(b, 4)])
case("minimum", A.minimum.default, lambda b: [special(b, 4), f(b, 4)])
case("maximum_int", A.maximum.default, lambda b: [i(9, b, 4), i(9, b, 4)])
case("maximum_promote", A.maximum.default, lambda b: [i(9, b, 4), f(b, 4)])
case("fmax", torch.fmax, lambda b: [special(b, 4), f(b, 4)])
case("fmin", torch.fmin, lambda b: [special(b, 4), f(b, 4)])
case("atan2", A.atan2.default, lambda b: [f(b, 4), f(b, 4)])
case("atan2_int", A.atan2.default, lambda b: [i(9, b, 4), i(9, b, 4)])
case("atan2_out", lambda x, y: A.atan2.out(x, y, out=torch.empty_like(x)),
     lambda b: [f(b, 4), f(b, 4)])
for each in ("hypot", "copysign", "logaddexp", "logaddexp2", "xlogy",
             "heaviside", "nextafter"):
    case(each, getattr(torch, each), lambda b: [positive(b, 4), f(b, 4)])
case("xlogy_zero", torch.xlogy, lambda b: [torch.zeros(b, 4), f(b, 4)])
case("ldexp", torch.ldexp, lambda b: [f(b, 4), i(5, b, 4, low=-3)])
case("gcd", torch.gcd, lambda b: [i(40, b, 4, low=-40), i(40, b, 4)])
case("lcm", torch.lcm, lambda b: [i(20, b, 4, low=1), i(20, b, 4, low=1)])
case("lerp", torch.lerp, lambda b: [f(b, 4), f(b, 4), torch.rand(b, 4)])
case("lerp_scalar", lambda x, y: torch.lerp(x, y, 0.3),
     lambda b: [f(b, 4), f(b, 4)])
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5),
     lambda b: [f(b, 4), f(b, 4), f(b, 1)])
case("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5),
     lambda b: [f(b, 4), f(b, 4), positive(b, 1)])
case("polygamma", lambda x: torch.polygamma(1, x), lambda b: [positive(b, 4)])

#===- Limits and choices ---------------------------------------------------===#

case("clamp", lambda x: A.clamp.default(x, -0.5, 0.7), lambda b: [special(b, 4)])
case("clamp_min", lambda x: torch.clamp(x, min=0.1), lambda b: [f(b, 4)])
case("clamp_max", lambda x: A.clamp.default(x, None, 0.1), lambda b: [f(b, 4)])
case("clamp_crossed", lambda x: A.clamp.default(x, 1.0, -1.0),
     lambda b: [f(b, 4)])
case("clamp_int", lambda x: A.clamp.default(x, -2, 2),
     lambda b: [i(9, b, 4, low=-9)])
case("clamp_int_float", lambda x: torch.clamp(x, -1.5, 2.5),
     lambda b: [i(9, b, 4, low=-9)])
case("clamp_tensor", A.clamp.Tensor, lambda b: [f(b, 4), -positive(4),
                                                positive(b, 1)])
case("clamp_tensor_min", lambda x, y: torch.clamp(x, min=y),
     lambda b: [f(b, 4), f(b, 4)])
case("where", A.where.self, lambda b: [p(b, 4), f(b, 4), f(4)])
case("where_promote", torch.where, lambda b: [p(b, 4), f(b, 4), i(9, b, 4)])
case("where_scalar", lambda m, x: torch.where(m, x, 0.5),
     lambda b: [p(b, 4), f(b, 4)])
case("where_scalars", lambda m: torch.where(m, 1.0, 0.0), lambda b: [p(b, 4)])
case("masked_fill", lambda x, m: x.masked_fill(m, -1e9),
     lambda b: [f(b, 4), p(b, 4)])
case("masked_fill_tensor", lambda x, m, v: x.masked_fill(m, v),
     lambda b: [f(b, 4), p(1, 4), f()])
case("fill", lambda x: A.fill.Scalar(x, 3), lambda b: [f(b, 4)])
case("copy", A.copy.default, lambda b: [f(b, 4), i(9, 4)])

#===- Comparisons and bits -------------------------------------------------===#

for each in ("eq", "ne", "lt", "le", "gt", "ge"):
    packet = getattr(A, each)
    case(each, packet.Tensor, lambda b: [i(3, b, 4).float(),
                                         i(3, b, 4).float()])
    case(each + "_special", packet.Tensor,
         lambda b: [special(b, 4), special(b, 4)])
    case(each + "_promote", packet.Tensor, lambda b: [i(3, b, 4), f(4).round()])
    case(each + "_scalar", lambda x, packet=packet: packet.Scalar(x, 1),
         lambda b: [i(3, b, 4).float()])
    case(each + "_int_scalar", lambda x, packet=packet: packet.Scalar(x, 0.5),
         lambda b: [i(3, b, 4)])
case("eq_bool", A.eq.Tensor, lambda b: [p(b, 4), p(b, 4)])
for each in ("and", "or", "xor"):
    logical = getattr(A, "logical_" + each)
    case("logical_" + each, logical.default, lambda b: [p(b, 4), p(4)])
    case(f"logical_{each}_float", logical.default,
         lambda b: [f(b, 4).round(), f(b, 4).round()])
    bits = getattr(A, "bitwise_" + each)
    case("bitwise_" + each, bits.Tensor,
         lambda b: [i(99, b, 4, low=-99), i(99, b, 4)])
    case(f"bitwise_{each}_bool", bits.Tensor, lambda b: [p(b, 4), p(b, 1)])
    case(f"bitwise_{each}_uint8", bits.Tensor,
         lambda b: [i(256, b, 4).byte(), i(256, b, 4).byte()])
    case(f"bitwise_{each}_scalar", lambda x, bits=bits: bits.Scalar(x, 5),
         lambda b: [i(99, b, 4).int()])
case("shift_left", lambda x, y: x << y, lambda b: [i(99, b, 4), i(5, b, 4)])
case("shift_right", lambda x, y: x >> y,
     lambda b: [i(99, b, 4, low=-99), i(5, b, 4)])
case("shift_left_scalar", lambda x: x << 2, lambda b: [i(99, b, 4)])
case("isclose", torch.isclose, lambda b: [f(b, 4).round(), f(b, 4).round()])
case("allclose_equal", lambda x: torch.isin(x, torch.tensor([1, 3])),
     lambda b: [i(5, b, 4)])
