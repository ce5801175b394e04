/// Elementwise ops.
#include "frontend/export/onnx/rows/Rows.h"

#include "frontend/import/onnx/Records.h"

#include <array>
#include <cmath>
#include <numbers>

namespace sinter::onnx {

/// Of bools another operator: or, and.
template <size_t n> struct OpName {
  constexpr OpName(const char (&text)[n]) {
    std::copy(text, text + n, characters);
  }
  char characters[n];
};

template <OpName ofNumbers, OpName ofBools>
static void logicalOr(OpCall &call) {
  bool isBool = call.operandType(0) == DType::boolean;
  call.give(isBool ? ofBools.characters : ofNumbers.characters,
            call.elementwise());
}

static void rsqrtRule(OpCall &call) {
  call.give("Reciprocal", {call.make("Sqrt", {call.in(0)})});
}

static void truncRule(OpCall &call) {
  std::string x = call.in(0);
  std::string whole = call.make("Floor", {call.make("Abs", {x})});
  call.give("Mul", {whole, call.make("Sign", {x})});
}

static void squareRule(OpCall &call) {
  std::string x = call.in(0);
  call.give("Mul", {x, x});
}

static void exp2Rule(OpCall &call) {
  call.give("Pow", {call.number(2), call.in(0)});
}

/// 2 tanh(x/2) / (1 - tanh(x/2)) near 0, where e^x - 1 has few digits.
static void expm1Rule(OpCall &call) {
  std::string x = call.in(0), one = call.number(1);
  std::string t = call.make("Tanh", {call.make("Mul", {x, call.number(0.5)})});
  std::string near =
      call.make("Div", {call.make("Add", {t, t}), call.make("Sub", {one, t})});
  std::string far = call.make("Sub", {call.make("Exp", {x}), one});
  std::string isNear = call.make("Less", {call.make("Abs", {x}), one});
  call.give("Where", {isNear, near, far});
}

/// log(u) x / (u - 1) of the rounded u = 1 + x near 0.
static void log1pRule(OpCall &call) {
  std::string x = call.in(0), one = call.number(1);
  std::string u = call.make("Add", {x, one}), log = call.make("Log", {u});
  std::string rounded = call.make("Sub", {u, one});
  std::string near = call.make("Div", {call.make("Mul", {log, x}), rounded});
  std::string isNear =
      call.make("Less", {call.make("Abs", {x}), call.number(0.5)});
  std::string isNone = call.make("Equal", {rounded, call.number(0)});
  std::string small = call.make("Where", {isNone, x, near});
  call.give("Where", {isNear, small, log});
}

static void log2Rule(OpCall &call) {
  call.give("Mul",
            {call.make("Log", {call.in(0)}), call.number(std::numbers::log2e)});
}

static void log10Rule(OpCall &call) {
  call.give("Mul", {call.make("Log", {call.in(0)}),
                    call.number(std::numbers::log10e)});
}

static void fmodRule(OpCall &call) {
  call.give("Mod", call.elementwise(), {{"fmod", int64_t(1)}});
}

static void compareRule(OpCall &call) {
  enum Predicate : uint8_t { eq, ne, lt, le, gt, ge };
  auto predicate = call.attrs().choice<Predicate>();
  std::vector<std::string> operands = call.elementwise();
  bool isBool = call.operandType(0) == DType::boolean;
  if (isBool && predicate == ne)
    return call.give("Xor", operands);
  if (isBool && predicate != eq)
    for (std::string &operand : operands)
      operand = call.cast(operand, DType::i32);
  switch (predicate) {
  case eq:
    return call.give("Equal", operands);
  case ne:
    return call.give("Not", {call.make("Equal", operands)});
  case lt:
    return call.give("Less", operands);
  case le: // not a number is neither
    return call.give("LessOrEqual", operands);
  case gt:
    return call.give("Greater", operands);
  case ge:
    return call.give("GreaterOrEqual", operands);
  }
}

static void castRule(OpCall &call) {
  call.give("Cast", {call.in(0)}, call.castTo(call.dtype()));
}

static void sameRule(OpCall &call) { call.give("Identity", {call.in(0)}); }

/// Bits of bools are bools.
template <OpName ofBools, OpName ofBits> static void bitwiseRule(OpCall &call) {
  if (call.dtype() == DType::boolean)
    return call.give(ofBools.characters, call.elementwise());
  if (call.opset() < 18)
    call.unsupported("it needs opset 18");
  call.give(ofBits.characters, call.elementwise());
}

static void clampRule(OpCall &call) {
  Number least = call.attrs().number(), most = call.attrs().number();
  call.give("Clip", {call.in(0), call.number(call.dtype(), least),
                     call.number(call.dtype(), most)});
}

static void eluRule(OpCall &call) {
  call.give("Elu", {call.in(0)}, {{"alpha", call.attrs().real()}});
}

static void leakyReluRule(OpCall &call) {
  call.give("LeakyRelu", {call.in(0)}, {{"alpha", call.attrs().real()}});
}

static void siluRule(OpCall &call) {
  std::string x = call.in(0);
  call.give("Mul", {x, call.make("Sigmoid", {x})});
}

static void geluRule(OpCall &call) {
  enum Form : uint8_t { tanh, none };
  bool isTanh = call.attrs().choice<Form>() == tanh;
  call.give("Gelu", {call.in(0)}, {{"approximate", isTanh ? "tanh" : "none"}});
}

static constexpr WrittenOp rows[] = {
    {"add", logicalOr<"Add", "Or">},
    {"mul", logicalOr<"Mul", "And">},
    {"maximum", logicalOr<"Max", "Or">},
    {"minimum", logicalOr<"Min", "And">},
    {"sub", nullptr, "Sub"},
    {"div", nullptr, "Div"},
    {"neg", nullptr, "Neg"},
    {"abs", nullptr, "Abs"},
    {"exp", nullptr, "Exp"},
    {"log", nullptr, "Log"},
    {"tanh", nullptr, "Tanh"},
    {"sin", nullptr, "Sin"},
    {"cos", nullptr, "Cos"},
    {"erf", nullptr, "Erf"},
    {"sqrt", nullptr, "Sqrt"},
    {"rsqrt", rsqrtRule},
    {"floor", nullptr, "Floor"},
    {"ceil", nullptr, "Ceil"},
    {"round", nullptr, "Round"},
    {"trunc", truncRule},
    {"exp2", exp2Rule},
    {"expm1", expm1Rule},
    {"log1p", log1pRule},
    {"log2", log2Rule},
    {"log10", log10Rule},
    {"atan", nullptr, "Atan"},
    {"pow", nullptr, "Pow"},
    {"fmod", fmodRule},
    {"compare", compareRule},
    {"where", nullptr, "Where"},
    {"cast", castRule},
    {"bitwise_and", bitwiseRule<"And", "BitwiseAnd">},
    {"bitwise_or", bitwiseRule<"Or", "BitwiseOr">},
    {"bitwise_xor", bitwiseRule<"Xor", "BitwiseXor">},
    {"bitwise_not", bitwiseRule<"Not", "BitwiseNot">},
    {"square", squareRule},
    {"sign", nullptr, "Sign"},
    {"reciprocal", nullptr, "Reciprocal"},
    {"tan", nullptr, "Tan"},
    {"asin", nullptr, "Asin"},
    {"acos", nullptr, "Acos"},
    {"sinh", nullptr, "Sinh"},
    {"cosh", nullptr, "Cosh"},
    {"asinh", nullptr, "Asinh"},
    {"acosh", nullptr, "Acosh"},
    {"atanh", nullptr, "Atanh"},
    {"isnan", nullptr, "IsNaN"},
    {"relu", nullptr, "Relu"},
    {"sigmoid", nullptr, "Sigmoid"},
    {"softsign", nullptr, "Softsign"},
    {"hardswish", nullptr, "HardSwish"},
    {"clamp", clampRule},
    {"elu", eluRule},
    {"leaky_relu", leakyReluRule},
    {"silu", siluRule},
    {"gelu", geluRule, nullptr, 20},
    {"mish", nullptr, "Mish", 18},
    {"custom_gradient", sameRule},
    {"after", sameRule},
};

std::span<const WrittenOp> writtenArithmetic() { return rows; }

} // namespace sinter::onnx
