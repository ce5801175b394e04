/// The elementwise ops that gradients, compositions and passes are made of: a
/// closed set, which most of the repository knows. Others: Elementwise.td.
#ifndef SINTER_OPS_ARITHMETIC_TD
#define SINTER_OPS_ARITHMETIC_TD

include "dialects/sinter/OpBase.td"

def Sinter_AddOp : Sinter_Binary<"add", Sinter_LinearOrBool> {
  let summary = "Elementwise lhs + rhs; on bool, or.";
}
def Sinter_SubOp : Sinter_Binary<"sub", Sinter_Linear> {
  let summary = "Elementwise lhs - rhs.";
}
def Sinter_MulOp : Sinter_Binary<"mul", Sinter_Tensor> {
  let summary = "Elementwise lhs * rhs; on bool, and.";
}
def Sinter_DivOp : Sinter_Binary<"div"> {
  let summary = "Elementwise lhs / rhs.";
  let description = [{
    Integers are brought to f32 first. (In the IR, integer division truncates
    toward zero; x / 0 has all bits set, and the least number divided by -1 is
    itself.)
  }];
  let promotion = "float";
  let domains = [Reals<"-4", "4">, Reals<"-4", "4", "0">];
}
def Sinter_MaximumOp : Sinter_Binary<"maximum", Sinter_Tensor> {
  let summary = "Elementwise larger of lhs and rhs; NaN if either is NaN.";
  let domains = [Distinct];
}
def Sinter_MinimumOp : Sinter_Binary<"minimum", Sinter_Tensor> {
  let summary = "Elementwise smaller of lhs and rhs; NaN if either is NaN.";
  let domains = [Distinct];
}

def Sinter_NegOp : Sinter_Unary<"neg", Sinter_Linear> {
  let summary = "Elementwise -x.";
}
// A primitive: on u8, and on the least integer, it is no choice between x and
// -x, and on floats it is one instruction.
def Sinter_AbsOp : Sinter_Unary<"abs", Sinter_Numeric> {
  let summary = "Elementwise |x|; its gradient at 0 is 0.";
  let domains = [Reals<"-4", "4", "0">];
}
def Sinter_ExpOp : Sinter_FloatUnary<"exp"> {
  let summary = "Elementwise e^x.";
}
def Sinter_LogOp : Sinter_FloatUnary<"log"> {
  let summary = "Elementwise natural logarithm.";
  let domains = [Reals<"0.1", "8">];
}
def Sinter_TanhOp : Sinter_FloatUnary<"tanh"> {
  let summary = "Elementwise hyperbolic tangent.";
}
def Sinter_SinOp : Sinter_FloatUnary<"sin"> {
  let summary = "Elementwise sine of x in radians.";
}
def Sinter_CosOp : Sinter_FloatUnary<"cos"> {
  let summary = "Elementwise cosine of x in radians.";
}
def Sinter_ErfOp : Sinter_FloatUnary<"erf"> {
  let summary = "Elementwise error function.";
}
def Sinter_SqrtOp : Sinter_FloatUnary<"sqrt"> {
  let summary = "Elementwise square root.";
  let domains = [Reals<"0.1", "8">];
}
def Sinter_RsqrtOp : Sinter_FloatUnary<"rsqrt"> {
  let summary = "Elementwise 1 / sqrt(x).";
  let domains = [Reals<"0.1", "8">];
}

def Sinter_Comparison
    : Sinter_Choice<"Comparison", ["eq", "ne", "lt", "le", "gt", "ge"]>;

def Sinter_CompareOp : Sinter_Pointwise<"compare"> {
  let summary = "Elementwise comparison; bool.";
  let description = "Comparisons with NaN are false, but for `ne`.";
  let arguments = (ins Sinter_Stored:$lhs, Sinter_Stored:$rhs,
                       Sinter_Comparison:$predicate);
  let results = (outs Sinter_Bool:$result);
  let shapeRule = "compare";
  let shapeArguments = [];
  let promotion = "match";
  let broadcasts = 1;
  let domains = [Integers<"-2", "2">];
  let example = "compare(lhs, rhs, Comparison::lt)";
}

def Sinter_WhereOp : Sinter_Pointwise<"where"> {
  let summary = "Elementwise lhs where the condition holds, else rhs.";
  let arguments = (ins Sinter_Bool:$condition, Sinter_Moved:$lhs,
                       Sinter_Moved:$rhs);
  let results = (outs Sinter_Moved:$result);
  let shapeRule = "where";
  let promotion = "match";
  let promoted = ["lhs", "rhs"];
  let broadcasts = 1;
  let domains = [Integers<"0", "1">, Reals<"-4", "4">, Reals<"-4", "4">];
  let example = "where(condition, lhs, rhs)";
}

def Sinter_CastOp : Sinter_Pointwise<"cast"> {
  let summary = "Elementwise conversion to another dtype.";
  let description = [{
    Float to integer truncates toward zero and saturates; NaN gives 0. Integer
    to a narrower integer keeps the low bits. To bool: not equal to 0. To a
    float of a byte or less by way of f32, to nearest even; what is too large is
    infinity, else NaN, else the largest number.
  }];
  let arguments = (ins Sinter_Moved:$x, Sinter_DType:$dtype);
  let results = (outs Sinter_Moved:$result);
  let shapeRule = "cast";
  let elidesIdentity = 1;
  let example = "cast(x, DType::f32)";
}

#endif // SINTER_OPS_ARITHMETIC_TD
