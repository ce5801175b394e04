/// Comparisons, logic and choices.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"
namespace sinter::torch {

template <Comparison predicate> static void compareRule(Call &call) {
  const Value &left = call.at(0), &right = call.at(1);
  DType dtype = promoted({&left, &right});
  auto function = [](const Arg &x, const Arg &y) {
    return compare(x, y, predicate);
  };
  call.give(applied(function, call, left, right, dtype));
}

template <Tensor (*function)(const Arg &, const Arg &)>
static void logicRule(Call &call) {
  DType dtype = DType::boolean;
  auto truth = [&](const Value &value) {
    Tensor x = asTensor(call, value, promoted({&value}));
    return x.dtype() == dtype ? x : x != 0;
  };
  call.give(function(truth(call.at(0)), truth(call.at(1))));
}

static void notRule(Call &call) { call.give(logical_not(call.tensor("self"))); }

template <Tensor (*ofBools)(const Arg &, const Arg &),
          Tensor (*ofBits)(const Arg &, const Arg &)>
static void bitsRule(Call &call) {
  DType dtype = call.outputDType();
  call.give(applied(dtype == DType::boolean ? ofBools : ofBits, call,
                    call.at(0), call.at(1), dtype));
}

static void bitsNotRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(x.dtype() == DType::boolean ? logical_not(x) : bitwise_not(x));
}

static void whereRule(Call &call) {
  Tensor condition = call.tensor("condition");
  if (condition.dtype() != DType::boolean)
    condition = condition != 0;
  DType dtype = call.outputDType();
  Operand x = operand(call, call.value("self"), dtype);
  Operand y = operand(call, call.value("other"), dtype);
  if (!x.isTensor() && !y.isTensor())
    x = Operand(asTensor(call, call.value("self"), dtype));
  call.give(where(condition, x.arg(), y.arg()));
}

static void maskedFillRule(Call &call) {
  Tensor x = call.tensor("self");
  Operand value = operand(call, call.value("value"), x.dtype());
  call.give(where(call.tensor("mask"), value.arg(), x));
}

static constexpr Operator rows[] = {
    {"aten.eq.Tensor", compareRule<Comparison::eq>},
    {"aten.eq.Scalar", compareRule<Comparison::eq>},
    {"aten.ne.Tensor", compareRule<Comparison::ne>},
    {"aten.ne.Scalar", compareRule<Comparison::ne>},
    {"aten.lt.Tensor", compareRule<Comparison::lt>},
    {"aten.lt.Scalar", compareRule<Comparison::lt>},
    {"aten.le.Tensor", compareRule<Comparison::le>},
    {"aten.le.Scalar", compareRule<Comparison::le>},
    {"aten.gt.Tensor", compareRule<Comparison::gt>},
    {"aten.gt.Scalar", compareRule<Comparison::gt>},
    {"aten.ge.Tensor", compareRule<Comparison::ge>},
    {"aten.ge.Scalar", compareRule<Comparison::ge>},
    {"aten.logical_and.default", logicRule<logical_and>},
    {"aten.logical_or.default", logicRule<logical_or>},
    {"aten.logical_xor.default", logicRule<logical_xor>},
    {"aten.logical_not.default", notRule},
    {"aten.bitwise_and.Tensor", bitsRule<logical_and, bitwise_and>},
    {"aten.bitwise_and.Scalar", bitsRule<logical_and, bitwise_and>},
    {"aten.bitwise_and.Scalar_Tensor", bitsRule<logical_and, bitwise_and>},
    {"aten.bitwise_or.Tensor", bitsRule<logical_or, bitwise_or>},
    {"aten.bitwise_or.Scalar", bitsRule<logical_or, bitwise_or>},
    {"aten.bitwise_or.Scalar_Tensor", bitsRule<logical_or, bitwise_or>},
    {"aten.bitwise_xor.Tensor", bitsRule<logical_xor, bitwise_xor>},
    {"aten.bitwise_xor.Scalar", bitsRule<logical_xor, bitwise_xor>},
    {"aten.bitwise_xor.Scalar_Tensor", bitsRule<logical_xor, bitwise_xor>},
    {"aten.__and__.Tensor", bitsRule<logical_and, bitwise_and>},
    {"aten.__and__.Scalar", bitsRule<logical_and, bitwise_and>},
    {"aten.__or__.Tensor", bitsRule<logical_or, bitwise_or>},
    {"aten.__or__.Scalar", bitsRule<logical_or, bitwise_or>},
    {"aten.__xor__.Tensor", bitsRule<logical_xor, bitwise_xor>},
    {"aten.__xor__.Scalar", bitsRule<logical_xor, bitwise_xor>},
    {"aten.bitwise_not.default", bitsNotRule},
    {"aten.bitwise_left_shift.Tensor", binaryRule<bitwise_left_shift>},
    {"aten.bitwise_left_shift.Tensor_Scalar", binaryRule<bitwise_left_shift>},
    {"aten.bitwise_right_shift.Tensor", binaryRule<bitwise_right_shift>},
    {"aten.bitwise_right_shift.Tensor_Scalar", binaryRule<bitwise_right_shift>},
    {"aten.bitwise_left_shift.Scalar_Tensor", binaryRule<bitwise_left_shift>},
    {"aten.bitwise_right_shift.Scalar_Tensor", binaryRule<bitwise_right_shift>},
    {"aten.isnan.default", unaryRule<isnan>},
    {"aten.isinf.default", unaryRule<isinf>},
    {"aten.isfinite.default", unaryRule<isfinite>},
    {"aten.where.self", whereRule},
    {"aten.where.ScalarSelf", whereRule},
    {"aten.where.ScalarOther", whereRule},
    {"aten.where.Scalar", whereRule},
    {"aten.masked_fill.Scalar", maskedFillRule},
    {"aten.masked_fill.Tensor", maskedFillRule},
};

std::span<const Operator> comparisonRows() { return rows; }

} // namespace sinter::torch
