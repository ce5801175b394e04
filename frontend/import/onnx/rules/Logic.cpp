/// Comparisons, logic, and conversions.
#include "frontend/import/onnx/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

namespace sinter::onnx {

template <Comparison predicate> static void compareRule(Call &call) {
  call.sameDTypes();
  Tensor x = call.tensor(0);
  call.give(compare(x, rightOperand(call, x), predicate));
}

template <Tensor (*function)(const Arg &, const Arg &)>
static void logicRule(Call &call) {
  call.sameDTypes();
  Tensor x = call.tensor(0);
  call.give(function(x, rightOperand(call, x)));
}

static void whereRule(Call &call) {
  if (call.value(1).dtype() != call.value(2).dtype())
    call.invalid("the two values have different dtypes");
  call.give(where(call.tensor(0), call.tensor(1), call.tensor(2)));
}

static void castRule(Call &call) {
  call.give(converted(call, call.tensor(0), call.dtypeAttribute("to"),
                      call.flag("saturate")));
}

/// Before opset 6 dtypes are named.
static void oldCastRule(Call &call) {
  std::string to = call.text("to");
  for (int32_t code = 1; code <= lastElementType; ++code)
    if (elementName(ElementType(code)) == to)
      if (auto dtype = computedAs(ElementType(code)))
        return call.give(call.tensor(0).to(*dtype));
  call.unsupported(to + " cannot be computed with");
}

static void castLikeRule(Call &call) {
  call.give(converted(call, call.tensor(0), call.value(1).dtype(),
                      call.flag("saturate")));
}

static constexpr const char *oldBinary = "axis:int broadcast:int=0";

static constexpr Operator rows[] = {
    {"Equal", 1, 6, oldBinary, compareRule<Comparison::eq>},
    {"Equal", 7, 0, "", compareRule<Comparison::eq>},
    {"Greater", 1, 6, oldBinary, compareRule<Comparison::gt>},
    {"Greater", 7, 0, "", compareRule<Comparison::gt>},
    {"Less", 1, 6, oldBinary, compareRule<Comparison::lt>},
    {"Less", 7, 0, "", compareRule<Comparison::lt>},
    {"GreaterOrEqual", 12, 0, "", compareRule<Comparison::ge>},
    {"LessOrEqual", 12, 0, "", compareRule<Comparison::le>},
    {"And", 1, 6, oldBinary, logicRule<logical_and>},
    {"And", 7, 0, "", logicRule<logical_and>},
    {"Or", 1, 6, oldBinary, logicRule<logical_or>},
    {"Or", 7, 0, "", logicRule<logical_or>},
    {"Xor", 1, 6, oldBinary, logicRule<logical_xor>},
    {"Xor", 7, 0, "", logicRule<logical_xor>},
    {"Not", 1, 0, "", unaryRule<logical_not>},
    {"Where", 9, 0, "", whereRule},
    {"Cast", 1, 5, "to:string!", oldCastRule},
    {"Cast", 6, 0, "to:int! saturate:int=1 round_mode:string=up", castRule},
    {"CastLike", 15, 0, "saturate:int=1 round_mode:string=up", castLikeRule},
};

std::span<const Operator> logicRows() { return rows; }

} // namespace sinter::onnx
