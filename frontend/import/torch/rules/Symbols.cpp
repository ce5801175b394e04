/// Sizes: what is computed of them, and what is asserted about them.
#include "frontend/import/torch/rules/Rules.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sinter::torch {

//===- Of tensors ---------------------------------------------------------===//

static void sizeRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(Value::ofInteger(x.dim(call.axis("dim", x.rank()))));
}

static void elementsRule(Call &call) {
  Dim all(1);
  for (Dim dim : call.tensor("self").shape())
    all = all * dim;
  call.give(Value::ofInteger(all));
}

/// The value of a tensor, which this evaluates.
static void itemRule(Call &call) {
  Tensor x = call.tensor("self");
  if (isFloat(x.dtype()))
    call.give(Value::ofReal(x.item<double>()));
  else if (x.dtype() == DType::boolean)
    call.give(Value::ofBoolean(x.item<bool>()));
  else
    call.give(Value::ofInteger(x.item<int64_t>()));
}

//===- Arithmetic ---------------------------------------------------------===//

static bool isReal(const Value &value) {
  return value.kind == Value::Kind::real;
}
static double realOf(Call &call, const Value &value) {
  return numberOf(call, value).asReal();
}
static Dim integerOf(Call &call, const Value &value) {
  return value.isInteger() ? value.integer : Dim(numberOf(call, value).integer);
}
static bool isOpen(const Value &value) {
  return value.isInteger() ? !value.integer.isConstant() : value.isOpen;
}

template <Dim (*ofSizes)(Dim, Dim), double (*ofReals)(double, double)>
static void arithmeticRule(Call &call) {
  const Value &a = call.at(0), &b = call.at(1);
  if (isReal(a) || isReal(b))
    call.give(Value::ofReal(ofReals(realOf(call, a), realOf(call, b))));
  else
    call.give(
        Value::ofInteger(ofSizes(integerOf(call, a), integerOf(call, b))));
}

[[noreturn]] static void refuseSize() {
  throw Error(makeError(ErrorKind::invalid_argument,
                        "a size that does not fit 64 bits"));
}

/// What overflows is the smallest integer, which no size is.
static Dim checked(Dim size) {
  if (size.value == INT64_MIN)
    refuseSize();
  return size;
}

static Dim sumOf(Dim a, Dim b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a.value, b.value, &sum))
    refuseSize();
  return checked(a + b);
}
static Dim productOf(Dim a, Dim b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a.value, b.value, &product))
    refuseSize();
  return checked(a * b);
}
static Dim differenceOf(Dim a, Dim b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a.value, b.value, &difference))
    refuseSize();
  return checked(a - b);
}
static double realSum(double a, double b) { return a + b; }
static double realDifference(double a, double b) { return a - b; }
static double realProduct(double a, double b) { return a * b; }

/// Python rounds down, also of numbers below 0.
static Dim quotientOf(Dim a, Dim b) {
  if (b.value > 0)
    return floorDiv(a, b);
  int64_t top = fixed(a), bottom = fixed(b);
  if (bottom == 0)
    throw Error(makeError(ErrorKind::invalid_argument, "a division by zero"));
  if (bottom == -1)
    return differenceOf(Dim(0), a);
  return top / bottom - (top % bottom != 0 && (top < 0) != (bottom < 0));
}
static Dim remainderOf(Dim a, Dim b) {
  if (b.value > 0)
    return mod(a, b);
  return differenceOf(a, productOf(quotientOf(a, b), b));
}
static double realQuotient(double a, double b) { return std::floor(a / b); }
static double realRemainder(double a, double b) {
  return a - std::floor(a / b) * b;
}

/// Which is larger may change with the sizes.
static Dim larger(Dim a, Dim b) { return Dim(std::max(fixed(a), fixed(b))); }
static Dim smaller(Dim a, Dim b) { return Dim(std::min(fixed(a), fixed(b))); }
static double largerReal(double a, double b) { return std::max(a, b); }
static double smallerReal(double a, double b) { return std::min(a, b); }

static void trueDivRule(Call &call) {
  call.give(Value::ofReal(realOf(call, call.at(0)) / realOf(call, call.at(1))));
}

static void powerRule(Call &call) {
  const Value &base = call.at(0), &power = call.at(1);
  if (!isReal(base) && power.isInteger() && power.integer.isConstant() &&
      power.integer.value >= 0 && power.integer.value < 64) {
    Dim result(1), by = integerOf(call, base);
    for (int64_t i = 0; i < power.integer.value; ++i)
      result = productOf(result, by);
    call.give(Value::ofInteger(result));
    return;
  }
  call.give(Value::ofReal(std::pow(realOf(call, base), realOf(call, power))));
}

static void negRule(Call &call) {
  const Value &value = call.at(0);
  call.give(isReal(value) ? Value::ofReal(-value.real)
                          : Value::ofInteger(
                                differenceOf(Dim(0), integerOf(call, value))));
}
static void floatRule(Call &call) {
  call.give(Value::ofReal(realOf(call, call.at(0))));
}
static void intRule(Call &call) {
  const Value &value = call.at(0);
  call.give(isReal(value) ? Value::ofInteger(int64_t(std::trunc(value.real)))
                          : value);
}
static void rootRule(Call &call) {
  call.give(Value::ofReal(std::sqrt(realOf(call, call.at(0)))));
}
static void floorRule(Call &call) {
  call.give(Value::ofInteger(int64_t(std::floor(realOf(call, call.at(0))))));
}
static void ceilRule(Call &call) {
  call.give(Value::ofInteger(int64_t(std::ceil(realOf(call, call.at(0))))));
}

template <int64_t (*function)(int64_t, int64_t)>
static void bitsRule(Call &call) {
  const Value &a = call.at(0), &b = call.at(1);
  call.give(Value::ofInteger(
      function(fixed(integerOf(call, a)), fixed(integerOf(call, b)))));
}

//===- Truths -------------------------------------------------------------===//

/// True or false for the sizes of this recording.
template <typename Compare> static void compareRule(Call &call) {
  const Value &a = call.at(0), &b = call.at(1);
  bool open = isOpen(a) || isOpen(b);
  if (a.isInteger() && b.isInteger()) {
    call.give(
        Value::ofBoolean(Compare()(a.integer.value, b.integer.value), open));
    return;
  }
  auto nowOf = [&](const Value &value) {
    return value.isInteger()                    ? double(value.integer.value)
           : value.kind == Value::Kind::boolean ? double(value.isTrue)
                                                : value.real;
  };
  call.give(Value::ofBoolean(Compare()(nowOf(a), nowOf(b)), open));
}

static bool truthOf(Call &call, const Value &value) {
  if (value.isTensor())
    return value.stored->read().item<bool>();
  if (value.kind == Value::Kind::boolean)
    return value.isTrue;
  return numberOf(call, value).asReal() != 0;
}

/// `and` and `or`, of integers that of their bits.
template <bool isAnd> static void joinRule(Call &call) {
  const Value &a = call.at(0), &b = call.at(1);
  if (a.isInteger() && b.isInteger()) {
    int64_t x = fixed(a.integer), y = fixed(b.integer);
    call.give(Value::ofInteger(isAnd ? x & y : x | y));
    return;
  }
  bool first = truthOf(call, a), second = truthOf(call, b);
  call.give(Value::ofBoolean(isAnd ? first && second : first || second,
                             a.isOpen || b.isOpen));
}
static void notRule(Call &call) {
  const Value &value = call.at(0);
  call.give(Value::ofBoolean(!truthOf(call, value), value.isOpen));
}
static void chooseRule(Call &call) {
  const Value &condition = call.at(0);
  if (condition.isOpen)
    throw NeedsNumbers();
  const Value &then = call.at(1), &otherwise = call.at(2);
  call.give(condition.isTrue ? then : otherwise);
}

//===- Assertions ---------------------------------------------------------===//

/// Of sizes now. Of values that a run computes nothing is known here.
static void assertScalarRule(Call &call) {
  const Value &asserted = call.at(0);
  std::string message = call.text("assert_msg", "");
  if (asserted.isTensor())
    return;
  if (!truthOf(call, asserted))
    call.invalid(message.empty() ? "an assertion of the program fails"
                                 : message);
}

static void nothingRule(Call &call) {
  for (size_t i = 0; i < call.numArguments(); ++i)
    call.at(i);
}

static void rangeRule(Call &call) {
  const Value &size = call.at(0);
  call.ignore({"min", "max"});
  if (!size.isInteger())
    return;
  bool isLess = call.has("min") && size.integer.value < call.integer("min");
  bool isMore = call.has("max") && size.integer.value > call.integer("max");
  if (isLess || isMore)
    call.invalid("a size of " + std::to_string(size.integer.value) +
                 " is not one that the program was made for");
}

static int64_t shiftedLeft(int64_t a, int64_t b) {
  return b >= 0 && b < 63 ? a << b : 0;
}
static int64_t shiftedRight(int64_t a, int64_t b) {
  return b >= 0 && b < 63 ? a >> b : 0;
}

static constexpr Operator rows[] = {
    {"aten.sym_size.int", sizeRule},
    {"aten.sym_numel.default", elementsRule},
    {"aten.numel.default", elementsRule},
    {"aten.item.default", itemRule},
    {"aten._local_scalar_dense.default", itemRule},
    {"_operator.add", arithmeticRule<sumOf, realSum>},
    {"_operator.sub", arithmeticRule<differenceOf, realDifference>},
    {"_operator.mul", arithmeticRule<productOf, realProduct>},
    {"_operator.floordiv", arithmeticRule<quotientOf, realQuotient>},
    {"_operator.mod", arithmeticRule<remainderOf, realRemainder>},
    {"_operator.truediv", trueDivRule},
    {"_operator.pow", powerRule},
    {"_operator.neg", negRule},
    {"_operator.pos", [](Call &call) { call.give(call.at(0)); }},
    {"_operator.lshift", bitsRule<shiftedLeft>},
    {"_operator.rshift", bitsRule<shiftedRight>},
    {"_operator.eq", compareRule<std::equal_to<>>},
    {"_operator.ne", compareRule<std::not_equal_to<>>},
    {"_operator.lt", compareRule<std::less<>>},
    {"_operator.le", compareRule<std::less_equal<>>},
    {"_operator.gt", compareRule<std::greater<>>},
    {"_operator.ge", compareRule<std::greater_equal<>>},
    {"_operator.and_", joinRule<true>},
    {"_operator.or_", joinRule<false>},
    {"math.trunc", intRule},
    {"math.floor", floorRule},
    {"math.ceil", ceilRule},
    {"torch.sym_not", notRule},
    {"torch.sym_int", intRule},
    {"torch.sym_float", floatRule},
    {"torch.sym_ite", chooseRule},
    {"torch.sym_max", arithmeticRule<larger, largerReal>},
    {"torch.sym_min", arithmeticRule<smaller, smallerReal>},
    {"torch.sym_sqrt", rootRule},
    {"torch._sym_sqrt", rootRule},
    {"aten._assert_scalar.default", assertScalarRule},
    {"aten._assert_async.msg", assertScalarRule},
    {"aten._assert_tensor_metadata.default", nothingRule},
    {"aten.sym_constrain_range.default", rangeRule},
    {"aten.sym_constrain_range_for_size.default", rangeRule},
    {"aten._functional_assert_scalar.default", assertScalarRule},
};

std::span<const Operator> symbolRows() { return rows; }

} // namespace sinter::torch
