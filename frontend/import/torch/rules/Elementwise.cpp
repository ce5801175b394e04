/// Arithmetic and functions of numbers.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Complex.h>

#include <cmath>

namespace sinter::torch {

//===- Two operands -------------------------------------------------------===//

/// `other`, times `alpha` where that is given.
static Value scaledOther(Call &call, const Value &other, DType dtype) {
  const Value &alpha = call.value("alpha");
  bool isOne = alpha.isNone() ||
               (alpha.isInteger() && alpha.integer.isConstant() &&
                alpha.integer.value == 1) ||
               (alpha.kind == Value::Kind::real && alpha.real == 1);
  if (isOne)
    return other;
  return Value(applied<Tensor (*)(const Arg &, const Arg &)>(mul, call, other,
                                                             alpha, dtype));
}

static void addRule(Call &call) {
  DType dtype = call.outputDType();
  Value other = scaledOther(call, call.at(1), dtype);
  // Of bools a sum is an or.
  auto function = dtype == DType::boolean ? logical_or : add;
  call.give(applied(function, call, call.at(0), other, dtype));
}

static void subRule(Call &call) {
  DType dtype = call.outputDType();
  Value other = scaledOther(call, call.at(1), dtype);
  call.give(applied(sub, call, call.at(0), other, dtype));
}

static void rsubRule(Call &call) {
  DType dtype = call.outputDType();
  Value self = scaledOther(call, call.at(0), dtype);
  call.give(applied(sub, call, call.at(1), self, dtype));
}

static void mulRule(Call &call) {
  DType dtype = call.outputDType();
  auto function = dtype == DType::boolean ? logical_and : mul;
  call.give(applied(function, call, call.at(0), call.at(1), dtype));
}

static Tensor divided(const Arg &x, const Arg &y) { return div(x, y); }

static void divRule(Call &call) {
  std::string mode = call.text("rounding_mode", "");
  Rounding rounding = mode == "trunc"   ? Rounding::trunc
                      : mode == "floor" ? Rounding::floor
                                        : Rounding::none;
  if (!mode.empty() && rounding == Rounding::none)
    call.invalid("rounding_mode '" + mode + "'");
  auto function = [&](const Arg &x, const Arg &y) {
    return rounding == Rounding::none ? divided(x, y) : div(x, y, rounding);
  };
  call.give(
      applied(function, call, call.at(0), call.at(1), call.outputDType()));
}

/// A power that is a plain number stays one: squares and roots have forms of
/// their own.
static void powRule(Call &call) {
  DType dtype = call.outputDType();
  const Value &base = call.at(0), &power = call.at(1);
  bool isWhole = power.kind == Value::Kind::real &&
                 power.real == std::floor(power.real) &&
                 std::abs(power.real) < 1e6;
  if (base.isTensor() && isFloat(dtype) && isWhole) {
    call.give(pow(base.stored->read().to(dtype), int64_t(power.real)));
    return;
  }
  call.give(applied(pow, call, base, power, dtype));
}

static void atan2Rule(Call &call) {
  call.give(applied(atan2, call, call.at(0), call.at(1), call.outputDType()));
}

//===- One operand --------------------------------------------------------===//

/// That of NaN is 0, as that of 0.
static void signRule(Call &call) { call.give(sign(call.tensor("self"))); }
/// That of a complex number is one of size 1 in the same direction.
static void directionRule(Call &call) {
  Tensor x = call.tensor("self");
  if (x.dtype() != DType::c64 && x.dtype() != DType::c128) {
    call.give(sign(x));
    return;
  }
  Tensor size = abs(x);
  Tensor divisor = where(size == 0.0, ones_like(size), size);
  call.give(complex(real(x) / divisor, imag(x) / divisor));
}

static void clampRule(Call &call) {
  DType dtype = call.outputDType();
  Value x(call.tensor("self").to(dtype));
  // Where both bounds are plain numbers this is one op.
  const Value &low = call.value("min"), &high = call.value("max");
  if (!low.isNone())
    x = Value(applied(maximum, call, x, low, dtype));
  if (!high.isNone())
    x = Value(applied(minimum, call, x, high, dtype));
  call.give(x.stored->read());
}

static void roundRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t decimals = call.integer("decimals", 0);
  if (decimals == 0 || !isFloat(x.dtype())) {
    call.give(round(x));
    return;
  }
  double scale = std::pow(10.0, double(std::abs(decimals)));
  call.give(decimals > 0 ? round(x * scale) / scale : round(x / scale) * scale);
}

static void nanToNumRule(Call &call) {
  auto bound = [&](const char *name) {
    return call.has(name) ? std::optional(call.real(name)) : std::nullopt;
  };
  call.give(nan_to_num(call.tensor("self"), call.real("nan", 0),
                       bound("posinf"), bound("neginf")));
}

static void addcmulRule(Call &call) {
  call.give(addcmul(call.tensor("self"), call.tensor("tensor1"),
                    call.tensor("tensor2"), call.real("value", 1)));
}
static void addcdivRule(Call &call) {
  call.give(addcdiv(call.tensor("self"), call.tensor("tensor1"),
                    call.tensor("tensor2"), call.real("value", 1)));
}

static void lerpRule(Call &call) {
  DType dtype = call.outputDType();
  Tensor weight = asTensor(call, call.value("weight"), dtype);
  call.give(lerp(call.tensor("self"), call.tensor("end"), weight));
}

static Tensor squared(const Arg &x) { return square(x); }
static Tensor signedBit(const Arg &x) { return signbit(x); }
static Tensor absolute(const Arg &x) { return abs(x); }

static constexpr Operator rows[] = {
    {"aten.add.Tensor", addRule},
    {"aten.add.Scalar", addRule},
    {"aten.sub.Tensor", subRule},
    {"aten.sub.Scalar", subRule},
    {"aten.subtract.Tensor", subRule},
    {"aten.rsub.Scalar", rsubRule},
    {"aten.rsub.Tensor", rsubRule},
    {"aten.mul.Tensor", mulRule},
    {"aten.mul.Scalar", mulRule},
    {"aten.multiply.Tensor", mulRule},
    {"aten.div.Tensor", divRule},
    {"aten.div.Scalar", divRule},
    {"aten.div.Tensor_mode", divRule},
    {"aten.div.Scalar_mode", divRule},
    {"aten.divide.Tensor", divRule},
    {"aten.true_divide.Tensor", divRule},
    {"aten.floor_divide.default", binaryRule<floor_divide>},
    {"aten.floor_divide.Scalar", binaryRule<floor_divide>},
    {"aten.remainder.Tensor", binaryRule<remainder>},
    {"aten.remainder.Scalar", binaryRule<remainder>},
    {"aten.remainder.Scalar_Tensor", binaryRule<remainder>},
    {"aten.fmod.Tensor", binaryRule<fmod>},
    {"aten.fmod.Scalar", binaryRule<fmod>},
    {"aten.pow.Tensor_Scalar", powRule},
    {"aten.pow.Tensor_Tensor", powRule},
    {"aten.pow.Scalar", powRule},
    {"aten.float_power.Tensor_Scalar", powRule},
    {"aten.float_power.Tensor_Tensor", powRule},
    {"aten.maximum.default", binaryRule<maximum>},
    {"aten.minimum.default", binaryRule<minimum>},
    {"aten.max.other", binaryRule<maximum>},
    {"aten.min.other", binaryRule<minimum>},
    {"aten.fmax.default", binaryRule<fmax>},
    {"aten.fmin.default", binaryRule<fmin>},
    {"aten.atan2.default", atan2Rule},
    {"aten.arctan2.default", atan2Rule},
    {"aten.hypot.default", binaryRule<hypot>},
    {"aten.copysign.Tensor", binaryRule<copysign>},
    {"aten.copysign.Scalar", binaryRule<copysign>},
    {"aten.logaddexp.default", binaryRule<logaddexp>},
    {"aten.xlogy.Tensor", binaryRule<xlogy>},
    {"aten.xlogy.Scalar_Self", binaryRule<xlogy>},
    {"aten.xlogy.Scalar_Other", binaryRule<xlogy>},
    {"aten.abs.default", unaryRule<absolute>},
    {"aten.absolute.default", unaryRule<absolute>},
    {"aten.neg.default", unaryRule<neg>},
    {"aten.negative.default", unaryRule<neg>},
    {"aten.ceil.default", unaryRule<ceil>},
    {"aten.floor.default", unaryRule<floor>},
    {"aten.trunc.default", unaryRule<trunc>},
    {"aten.fix.default", unaryRule<trunc>},
    {"aten.frac.default", unaryRule<frac>},
    {"aten.round.default", roundRule},
    {"aten.round.decimals", roundRule},
    {"aten.sign.default", signRule},
    {"aten.sgn.default", directionRule},
    {"aten.signbit.default", unaryRule<signedBit>},
    {"aten.sqrt.default", unaryRule<sqrt>},
    {"aten.rsqrt.default", unaryRule<rsqrt>},
    {"aten.square.default", unaryRule<squared>},
    {"aten.reciprocal.default", unaryRule<reciprocal>},
    {"aten.exp.default", unaryRule<exp>},
    {"aten.exp2.default", unaryRule<exp2>},
    {"aten.expm1.default", unaryRule<expm1>},
    {"aten.log.default", unaryRule<log>},
    {"aten.log2.default", unaryRule<log2>},
    {"aten.log10.default", unaryRule<log10>},
    {"aten.log1p.default", unaryRule<log1p>},
    {"aten.sin.default", unaryRule<sin>},
    {"aten.cos.default", unaryRule<cos>},
    {"aten.tan.default", unaryRule<tan>},
    {"aten.asin.default", unaryRule<asin>},
    {"aten.acos.default", unaryRule<acos>},
    {"aten.atan.default", unaryRule<atan>},
    {"aten.sinh.default", unaryRule<sinh>},
    {"aten.cosh.default", unaryRule<cosh>},
    {"aten.asinh.default", unaryRule<asinh>},
    {"aten.acosh.default", unaryRule<acosh>},
    {"aten.atanh.default", unaryRule<atanh>},
    {"aten.sinc.default", unaryRule<sinc>},
    {"aten.erf.default", unaryRule<erf>},
    {"aten.erfc.default", unaryRule<erfc>},
    {"aten.erfinv.default", unaryRule<erfinv>},
    {"aten.lgamma.default", unaryRule<lgamma>},
    {"aten.digamma.default", unaryRule<digamma>},
    {"aten.deg2rad.default", unaryRule<deg2rad>},
    {"aten.rad2deg.default", unaryRule<rad2deg>},
    {"aten.clamp.default", clampRule},
    {"aten.clamp.Tensor", clampRule},
    {"aten.clamp_min.default", clampRule},
    {"aten.clamp_min.Tensor", clampRule},
    {"aten.clamp_max.default", clampRule},
    {"aten.clamp_max.Tensor", clampRule},
    {"aten.clip.default", clampRule},
    {"aten.nan_to_num.default", nanToNumRule},
    {"aten.addcmul.default", addcmulRule},
    {"aten.addcdiv.default", addcdivRule},
    {"aten.lerp.Scalar", lerpRule},
    {"aten.lerp.Tensor", lerpRule},
};

std::span<const Operator> elementwiseRows() { return rows; }

} // namespace sinter::torch
