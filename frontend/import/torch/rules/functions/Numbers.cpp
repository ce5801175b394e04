/// Functions of numbers that are rare in networks.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Control.h>
#include <sinter/generated/functions/Folds.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter::torch {

/// A tensor as a float, as the file says what comes of integers.
static Tensor floatOf(Call &call, const char *name = "self") {
  return call.tensor(name).to(call.outputDType());
}

static void positiveRule(Call &call) { call.give(call.tensor("self")); }

template <int sign> static void infiniteRule(Call &call) {
  Tensor x = call.tensor("self");
  if (!isFloat(x.dtype())) {
    call.give(zeros_like(x) != 0);
    return;
  }
  call.give(logical_and(isinf(x), sign > 0 ? x > 0 : x < 0));
}

static void closeRule(Call &call) {
  DType dtype = promoted({&call.value("self"), &call.value("other")});
  call.give(isclose(asTensor(call, call.value("self"), dtype),
                    asTensor(call, call.value("other"), dtype),
                    call.real("rtol", 1e-5), call.real("atol", 1e-8),
                    call.flag("equal_nan")));
}

static void stepRule(Call &call) {
  Tensor x = call.tensor("self"), middle = call.tensor("values");
  Tensor step = where(x > 0, ones_like(x), zeros_like(x));
  call.give(where(isnan(x), x, where(x == 0, middle, step)));
}

static void ldexpRule(Call &call) {
  DType dtype = call.outputDType();
  call.give(call.tensor("self").to(dtype) *
            exp2(call.tensor("other").to(dtype)));
}

/// log2(2^x + 2^y): the larger one is taken out.
static void logaddexp2Rule(Call &call) {
  Tensor x = floatOf(call), y = floatOf(call, "other");
  Tensor most = maximum(x, y), distance = abs(x - y);
  Tensor more = log1p(exp2(-distance)) * (1 / std::numbers::ln2);
  call.give(where(logical_and(isinf(most), x == y), x, most + more));
}

static void polygammaRule(Call &call) {
  int64_t order = call.integer("n");
  constexpr int64_t mostOrder = 64;
  requireFew(call, order, "times derived", mostOrder);
  Tensor x = floatOf(call);
  call.give(order == 0 ? digamma(x) : polygamma(x, order));
}

/// The mean of exp(x cos t) over a circle, scaled by e^-|x|. The sum over equal
/// parts of it is exact once there are more parts than x is large.
static void bessel0Rule(Call &call) {
  Tensor x = abs(floatOf(call));
  constexpr int parts = 256; // four equal quarters: f32 ends near 88
  Tensor total;
  for (int i = 0; i <= parts / 4; ++i) {
    double turn = std::cos(2 * std::numbers::pi * i / parts);
    double weight = (i == 0 || i == parts / 4 ? 2.0 : 4.0) / (2.0 * parts);
    Tensor pair = (exp(x * (turn - 1)) + exp(x * (-turn - 1))) * weight;
    total = total.defined() ? total + pair : pair;
  }
  call.give(total * exp(x));
}

/// The result goes where the last operand is.
static void atan2OutRule(Call &call) {
  call.change("out", applied(sinter::atan2, call, call.at(0), call.at(1),
                             call.outputDType()));
  call.giveArgument("out");
}

//===- Numbers in a row
//----------------------------------------------------===//

/// `count` numbers of a function of their place, as a tensor of the result.
template <typename F>
static void giveRow(Call &call, int64_t count, F &&function) {
  call.ignore({"dtype", "layout", "device", "pin_memory", "requires_grad"});
  requireFew(call, count, "numbers");
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(function(double(i)));
  call.give(tensor(numbers, {count}, {DType::f64, call.device()})
                .to(call.outputDType()));
}

/// Sums of cosines; a periodic window is one longer, without its last number.
static void giveCosines(Call &call, std::vector<double> weights) {
  int64_t length = call.integer("window_length");
  requireFew(call, length, "numbers");
  bool isPeriodic = call.flag("periodic", true);
  if (length == 1)
    return giveRow(call, 1, [](double) { return 1.0; });
  double turn = 2 * std::numbers::pi / double(isPeriodic ? length : length - 1);
  giveRow(call, length, [&](double i) {
    double sum = 0, sign = 1;
    for (size_t k = 0; k < weights.size(); ++k, sign = -sign)
      sum += sign * weights[k] * std::cos(turn * double(k) * i);
    return sum;
  });
}
static void hannRule(Call &call) { giveCosines(call, {0.5, 0.5}); }
static void hammingRule(Call &call) {
  giveCosines(call, {call.real("alpha", 0.54), call.real("beta", 0.46)});
}
static void blackmanRule(Call &call) { giveCosines(call, {0.42, 0.5, 0.08}); }
static void bartlettRule(Call &call) {
  int64_t length = call.integer("window_length");
  requireFew(call, length, "numbers");
  bool isPeriodic = call.flag("periodic", true);
  double last = double(isPeriodic ? length : length - 1);
  giveRow(call, length, [&](double i) {
    return length == 1 ? 1 : 1 - std::fabs(2 * i / last - 1);
  });
}

/// Between numbers that are tensors without axes.
template <bool isPower> static void tensorSpaceRule(Call &call) {
  call.ignore({"dtype", "layout", "device", "pin_memory", "requires_grad"});
  DType dtype = call.outputDType();
  DType made = isFloat(dtype) ? dtype : DType::f64;
  Tensor first = asTensor(call, call.value("start"), made),
         last = asTensor(call, call.value("end"), made);
  int64_t count = call.integer("steps");
  if (count < 0)
    call.invalid(std::to_string(count) + " numbers");
  Tensor place = arange(count, {DType::i64, call.device()}).to(made);
  Tensor part = place / double(std::max<int64_t>(count - 1, 1));
  Tensor row = first + (last - first) * part;
  if constexpr (isPower)
    row = exp(row * std::log(call.real("base", 10)));
  call.give(row.to(dtype));
}

static void logspaceRule(Call &call) {
  double first = call.real("start"), last = call.real("end"),
         base = call.real("base", 10);
  int64_t count = call.integer("steps");
  requireFew(call, count, "numbers");
  giveRow(call, count, [&](double i) {
    double part = count > 1 ? i / double(count - 1) : 0;
    return std::pow(base, first + (last - first) * part);
  });
}

/// How often each of n numbers of a transform swings.
template <bool isHalf> static void frequenciesRule(Call &call) {
  int64_t count = call.integer("n");
  requireFew(call, count, "numbers");
  double width = double(count) * call.real("d", 1);
  int64_t upper = (count + 1) / 2;
  giveRow(call, isHalf ? count / 2 + 1 : count, [&](double i) {
    bool isBelow = !isHalf && i >= double(upper);
    return (isBelow ? i - double(count) : i) / width;
  });
}

//===- Integers -----------------------------------------------------------===//

/// Euclid's: as many rounds as the slowest element needs.
static Tensor commonDivisor(const Tensor &x, const Tensor &y) {
  auto goesOn = [](std::span<const Tensor> pair) { return any(pair[1] != 0); };
  auto round = [](std::span<const Tensor> pair) {
    Tensor isDone = pair[1] == 0;
    Tensor divisor = where(isDone, ones_like(pair[1]), pair[1]);
    Tensor rest = remainder(pair[0], divisor);
    return std::vector<Tensor>{where(isDone, pair[0], pair[1]),
                               where(isDone, zeros_like(rest), rest)};
  };
  Tensor both = abs(x) + zeros_like(y);
  return while_loop(goesOn, round, {both, abs(y) + zeros_like(x)})[0];
}

static void gcdRule(Call &call) {
  DType dtype = call.outputDType();
  call.give(commonDivisor(call.tensor("self").to(dtype),
                          call.tensor("other").to(dtype)));
}
static void lcmRule(Call &call) {
  DType dtype = call.outputDType();
  Tensor x = call.tensor("self").to(dtype), y = call.tensor("other").to(dtype);
  Tensor divisor = commonDivisor(x, y);
  call.give(abs(
      floor_divide(x, where(divisor == 0, ones_like(divisor), divisor)) * y));
}

//===- Quantized and back -------------------------------------------------===//

/// The nearest of the numbers that integers of [quant_min, quant_max] stand
/// for, and whether the element is within them.
static void giveQuantized(Call &call, const Tensor &scale, const Tensor &zero) {
  Tensor x = call.tensor("self");
  Tensor wide = widened(x);
  auto least = double(call.integer("quant_min")),
       most = double(call.integer("quant_max"));
  Tensor by = scale.to(wide.dtype()), offset = zero.to(wide.dtype());
  Tensor number = round(wide * (1.0 / by)) + offset;
  Tensor kept = clamp(number, least, most);
  call.give(((kept - offset) * by).to(x.dtype()));
  if (call.numOutputs() > 1)
    call.give(logical_and(number >= least, number <= most));
}

static void fakeQuantizeRule(Call &call) {
  giveQuantized(call, asTensor(call, call.value("scale"), DType::f32),
                asTensor(call, call.value("zero_point"), DType::f32));
}
static void fakeQuantizeChannelsRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("axis", x.rank());
  giveQuantized(call, alongAxis(call.tensor("scale"), axis, x.rank()),
                alongAxis(call.tensor("zero_point"), axis, x.rank()));
}

static constexpr Operator rows[] = {
    {"aten.positive.default", positiveRule},
    {"aten.isposinf.default", infiniteRule<1>},
    {"aten.isneginf.default", infiniteRule<-1>},
    {"aten.isclose.default", closeRule},
    {"aten.heaviside.default", stepRule},
    {"aten.ldexp.Tensor", ldexpRule},
    {"aten.logaddexp2.default", logaddexp2Rule},
    {"aten.polygamma.default", polygammaRule},
    {"aten.special_polygamma.default", polygammaRule},
    {"aten.i0.default", bessel0Rule},
    {"aten.special_i0.default", bessel0Rule},
    {"aten.atan2.out", atan2OutRule},
    {"aten.hann_window.default", hannRule},
    {"aten.hann_window.periodic", hannRule},
    {"aten.hamming_window.default", hammingRule},
    {"aten.hamming_window.periodic", hammingRule},
    {"aten.hamming_window.periodic_alpha", hammingRule},
    {"aten.hamming_window.periodic_alpha_beta", hammingRule},
    {"aten.blackman_window.default", blackmanRule},
    {"aten.blackman_window.periodic", blackmanRule},
    {"aten.bartlett_window.default", bartlettRule},
    {"aten.bartlett_window.periodic", bartlettRule},
    {"aten.logspace.default", logspaceRule},
    {"aten.linspace.Tensor_Tensor", tensorSpaceRule<false>},
    {"aten.linspace.Tensor_Scalar", tensorSpaceRule<false>},
    {"aten.linspace.Scalar_Tensor", tensorSpaceRule<false>},
    {"aten.logspace.Tensor_Tensor", tensorSpaceRule<true>},
    {"aten.logspace.Tensor_Scalar", tensorSpaceRule<true>},
    {"aten.logspace.Scalar_Tensor", tensorSpaceRule<true>},
    {"aten.fake_quantize_per_tensor_affine.default", fakeQuantizeRule},
    {"aten.fake_quantize_per_tensor_affine.tensor_qparams", fakeQuantizeRule},
    {"aten.fake_quantize_per_tensor_affine_cachemask.default",
     fakeQuantizeRule},
    {"aten.fake_quantize_per_channel_affine.default", fakeQuantizeChannelsRule},
    {"aten.fake_quantize_per_channel_affine_cachemask.default",
     fakeQuantizeChannelsRule},
    {"aten.fft_fftfreq.default", frequenciesRule<false>},
    {"aten.fft_rfftfreq.default", frequenciesRule<true>},
    {"aten.gcd.default", gcdRule},
    {"aten.lcm.default", lcmRule},
    {"aten.__lshift__.Tensor", binaryRule<bitwise_left_shift>},
    {"aten.__lshift__.Scalar", binaryRule<bitwise_left_shift>},
    {"aten.__rshift__.Tensor", binaryRule<bitwise_right_shift>},
    {"aten.__rshift__.Scalar", binaryRule<bitwise_right_shift>},
};

std::span<const Operator> numberRows() { return rows; }

} // namespace sinter::torch
