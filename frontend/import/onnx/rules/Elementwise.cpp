/// Arithmetic and functions of numbers.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <cmath>
#include <numbers>

namespace sinter::onnx {

//===- Two operands -------------------------------------------------------===//

static std::pair<Tensor, Tensor> operands(Call &call) {
  call.sameDTypes();
  Tensor x = call.tensor(0);
  return {x, rightOperand(call, x)};
}

template <Tensor (*function)(const Arg &, const Arg &)>
static void binaryRule(Call &call) {
  auto [x, y] = operands(call);
  call.give(function(x, y));
}

static void divRule(Call &call) {
  auto [x, y] = operands(call);
  call.give(isFloat(x.dtype()) ? div(x, y) : div(x, y, Rounding::trunc));
}

static void modRule(Call &call) {
  auto [x, y] = operands(call);
  if (call.flag("fmod"))
    return call.give(fmod(x, y));
  if (isFloat(x.dtype()) && call.opset() < 28)
    call.invalid("floats need fmod=1");
  call.give(remainder(x, y));
}

/// The result has the base's dtype.
// A power of integers may round to just below a whole number, of which a cast
// would leave the one before.
static Tensor wholePower(const Tensor &x, const Tensor &y) {
  Tensor power = pow(x, y), whole = round(power);
  double most = x.dtype() == DType::f64 ? 0x1p-50 : 0x1p-20;
  return where(abs(power - whole) <= abs(power) * most, whole, power);
}

static void powRule(Call &call) {
  Tensor x = call.tensor(0);
  Tensor y = rightOperand(call, x);
  if (isFloat(x.dtype()))
    return call.give(pow(x, y.to(x.dtype())));
  if (!isFloat(y.dtype()))
    return call.give(pow(x, y).to(x.dtype()));
  // f32 does not hold all integers of these.
  bool isWide = x.dtype() == DType::i32 || x.dtype() == DType::i64 ||
                y.dtype() == DType::f64;
  DType wide = isWide ? DType::f64 : DType::f32;
  call.give(wholePower(x.to(wide), y.to(wide)).to(x.dtype()));
}

static void shiftRule(Call &call) {
  auto [x, y] = operands(call);
  std::string direction = call.text("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    call.invalid("direction '" + direction + "'");
  bool isLeft = direction == "LEFT";
  call.give(isLeft ? bitwise_left_shift(x, y) : bitwise_right_shift(x, y));
}

//===- Any number of operands ---------------------------------------------===//

template <Tensor (*function)(const Arg &, const Arg &)>
static Tensor folded(Call &call) {
  call.sameDTypes();
  Tensor all = call.tensor(0);
  for (size_t i = 1; i < call.numInputs(); ++i)
    all = function(all, call.tensor(i));
  return all;
}
template <Tensor (*function)(const Arg &, const Arg &)>
static void foldRule(Call &call) {
  call.give(folded<function>(call));
}
static void meanRule(Call &call) {
  call.give(folded<add>(call) / double(call.numInputs()));
}

//===- One operand --------------------------------------------------------===//

/// Integers are wrong only where an opset does not have them.
static void isInfRule(Call &call) {
  Tensor x = call.tensor(0);
  Tensor found = isinf(x);
  if (!call.flag("detect_negative"))
    found = logical_and(found, x > 0);
  if (!call.flag("detect_positive"))
    found = logical_and(found, x < 0);
  call.give(found);
}

/// That of NaN is NaN.
static void signRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(isFloat(x.dtype()) ? where(x == x, sign(x), x) : sign(x));
}

static void clipRule(Call &call) {
  Tensor x = call.tensor(0);
  auto bound = [&](size_t input, Tensor (*function)(const Arg &, const Arg &)) {
    if (!call.has(input))
      return;
    if (call.value(input).dtype() != x.dtype())
      call.invalid("a bound has another dtype than the tensor");
    Tensor limit = call.tensor(input);
    x = function(x, limit.rank() == 0 ? limit : reshape(limit, {}));
  };
  bound(1, maximum);
  bound(2, minimum);
  call.give(x);
}

/// From opset 6 on bounds that are not given are the ends of f32.
static void oldClipRule(Call &call) {
  Tensor x = call.tensor(0);
  double most = call.opset() < 6 ? std::numeric_limits<double>::infinity()
                                 : double(std::numeric_limits<float>::max());
  call.give(clamp(x, call.given("min") ? call.real("min") : -most,
                  call.given("max") ? call.real("max") : most));
}

static void swishRule(Call &call) {
  Tensor x = call.tensor(0);
  double alpha = call.real("alpha");
  call.give(alpha == 1 ? silu(x) : x * sigmoid(x * alpha));
}

static constexpr const char *oldBinary = "axis:int broadcast:int=0 "
                                         "consumed_inputs:ints";
static constexpr const char *consumed = "consumed_inputs:ints";

static constexpr Operator rows[] = {
    {"Add", 1, 6, oldBinary, binaryRule<add>},
    {"Add", 7, 0, "", binaryRule<add>},
    {"Sub", 1, 6, oldBinary, binaryRule<sub>},
    {"Sub", 7, 0, "", binaryRule<sub>},
    {"Mul", 1, 6, oldBinary, binaryRule<mul>},
    {"Mul", 7, 0, "", binaryRule<mul>},
    {"Div", 1, 6, oldBinary, divRule},
    {"Div", 7, 0, "", divRule},
    {"Pow", 1, 6, "axis:int broadcast:int=0", powRule},
    {"Pow", 7, 0, "", powRule},
    {"Mod", 10, 0, "fmod:int=0", modRule},
    {"BitShift", 11, 0, "direction:string!", shiftRule},
    {"BitwiseAnd", 18, 0, "", binaryRule<bitwise_and>},
    {"BitwiseOr", 18, 0, "", binaryRule<bitwise_or>},
    {"BitwiseXor", 18, 0, "", binaryRule<bitwise_xor>},
    {"BitwiseNot", 18, 0, "", unaryRule<bitwise_not>},
    {"Max", 1, 0, consumed, foldRule<maximum>},
    {"Min", 1, 0, consumed, foldRule<minimum>},
    {"Sum", 1, 0, consumed, foldRule<add>},
    {"Mean", 1, 0, consumed, meanRule},
    {"Neg", 1, 0, consumed, unaryRule<neg>},
    {"Abs", 1, 0, consumed, unaryRule<abs>},
    {"Floor", 1, 0, consumed, unaryRule<floor>},
    {"Ceil", 1, 0, consumed, unaryRule<ceil>},
    {"Round", 11, 0, "", unaryRule<round>},
    {"Sqrt", 1, 0, consumed, unaryRule<sqrt>},
    {"Exp", 1, 0, consumed, unaryRule<exp>},
    {"Log", 1, 0, consumed, unaryRule<log>},
    {"Reciprocal", 1, 0, consumed, unaryRule<reciprocal>},
    {"Sign", 9, 0, "", signRule},
    {"Erf", 9, 0, "", unaryRule<erf>},
    {"Sin", 7, 0, "", unaryRule<sin>},
    {"Cos", 7, 0, "", unaryRule<cos>},
    {"Tan", 7, 0, "", unaryRule<tan>},
    {"Asin", 7, 0, "", unaryRule<asin>},
    {"Acos", 7, 0, "", unaryRule<acos>},
    {"Atan", 7, 0, "", unaryRule<atan>},
    {"Sinh", 9, 0, "", unaryRule<sinh>},
    {"Cosh", 9, 0, "", unaryRule<cosh>},
    {"Asinh", 9, 0, "", unaryRule<asinh>},
    {"Acosh", 9, 0, "", unaryRule<acosh>},
    {"Atanh", 9, 0, "", unaryRule<atanh>},
    {"Tanh", 1, 0, consumed, unaryRule<tanh>},
    {"IsNaN", 9, 0, "", unaryRule<isnan>},
    {"IsInf", 10, 0, "detect_negative:int=1 detect_positive:int=1", isInfRule},
    {"Clip", 1, 10, "max:float min:float consumed_inputs:ints", oldClipRule},
    {"Clip", 11, 0, "", clipRule},
    {"Swish", 24, 0, "alpha:float=1.0", swishRule},
};

std::span<const Operator> elementwiseRows() { return rows; }

} // namespace sinter::onnx
