/// Functions of numbers that are written in other ops.
#ifndef SINTER_OPS_MATH_TD
#define SINTER_OPS_MATH_TD

include "dialects/sinter/OpBase.td"

//===----------------------------------------------------------------------===//
// Composites of one operand
//===----------------------------------------------------------------------===//

def Sinter_SignOp : Sinter_Composite<"sign"> {
  let summary = "Elementwise -1, 0 or 1; its gradient is 0.";
  let description = "0 for NaN.";
  let arguments = (ins Sinter_Numeric:$x);
  let results = (outs Sinter_Numeric:$result);
  let shapeRule = "sameAsFirst";
  let promotion = "none";
  let domains = [Reals<"-4", "4", "0">];
  let example = "sign(x)";
}
def Sinter_ReciprocalOp : Sinter_MathComposite<"reciprocal"> {
  let summary = "Elementwise 1 / x.";
  let domains = [Reals<"-4", "4", "0">];
}
def Sinter_FracOp : Sinter_MathComposite<"frac"> {
  let summary = "Elementwise x - trunc(x).";
  let domains = [Reals<"0.1", "0.9">];
}
def Sinter_Deg2radOp : Sinter_MathComposite<"deg2rad"> {
  let summary = "Elementwise degrees as radians.";
}
def Sinter_Rad2degOp : Sinter_MathComposite<"rad2deg"> {
  let summary = "Elementwise radians as degrees.";
}
def Sinter_TanOp : Sinter_MathComposite<"tan"> {
  let summary = "Elementwise tangent of x in radians.";
  let domains = [Reals<"-1.2", "1.2">];
}
def Sinter_AsinOp : Sinter_MathComposite<"asin"> {
  let summary = "Elementwise inverse sine, in [-pi/2, pi/2].";
  let domains = [Reals<"-0.9", "0.9">];
}
def Sinter_AcosOp : Sinter_MathComposite<"acos"> {
  let summary = "Elementwise inverse cosine, in [0, pi].";
  let domains = [Reals<"-0.9", "0.9">];
}
def Sinter_SinhOp : Sinter_MathComposite<"sinh"> {
  let summary = "Elementwise hyperbolic sine.";
}
def Sinter_CoshOp : Sinter_MathComposite<"cosh"> {
  let summary = "Elementwise hyperbolic cosine.";
}
def Sinter_AsinhOp : Sinter_MathComposite<"asinh"> {
  let summary = "Elementwise inverse hyperbolic sine.";
}
def Sinter_AcoshOp : Sinter_MathComposite<"acosh"> {
  let summary = "Elementwise inverse hyperbolic cosine.";
  let domains = [Reals<"1.2", "8">];
}
def Sinter_AtanhOp : Sinter_MathComposite<"atanh"> {
  let summary = "Elementwise inverse hyperbolic tangent.";
  let domains = [Reals<"-0.9", "0.9">];
}
def Sinter_SincOp : Sinter_MathComposite<"sinc"> {
  let summary = "Elementwise sin(pi x) / (pi x), which is 1 at 0.";
  let domains = [Reals<"-2", "2", "0">];
}
def Sinter_NanToNumOp : Sinter_Composite<"nan_to_num"> {
  let summary = "Elementwise x with NaN and infinities replaced.";
  let arguments = (ins Sinter_Float:$x, Sinter_Number:$nan,
                       Sinter_Number:$posinf, Sinter_Number:$neginf);
  let shapeRule = "sameAsFirst";
  let shapeArguments = [];
  let handWritten = 1;
  let example = "nan_to_num(x)";
}

/// A question about each element; bool.
class Sinter_Predicate<string mnemonic, Type type = Sinter_Float>
    : Sinter_Composite<mnemonic> {
  let arguments = (ins type:$x);
  let results = (outs Sinter_Bool:$result);
  let shapeRule = "compare";
  let example = mnemonic # "(x)";
}
def Sinter_IsnanOp : Sinter_Predicate<"isnan"> {
  let summary = "Elementwise whether x is NaN.";
}
def Sinter_IsinfOp : Sinter_Predicate<"isinf"> {
  let summary = "Elementwise whether x is an infinity.";
}
def Sinter_IsfiniteOp : Sinter_Predicate<"isfinite"> {
  let summary = "Elementwise whether x is neither NaN nor an infinity.";
}
def Sinter_SignbitOp : Sinter_Predicate<"signbit"> {
  let summary = "Elementwise whether x is negative, or -0.";
}
def Sinter_LogicalNotOp : Sinter_Predicate<"logical_not", Sinter_Tensor> {
  let summary = "Elementwise whether x is 0.";
  let promotion = "none";
  let domains = [Integers<"-1", "1">];
}

//===----------------------------------------------------------------------===//
// Composites of two operands
//===----------------------------------------------------------------------===//

class Sinter_BinaryComposite<string mnemonic, Type type = Sinter_Float>
    : Sinter_Composite<mnemonic> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let shapeRule = "elementwise";
  let broadcasts = 1;
  let example = mnemonic # "(lhs, rhs)";
}
class Sinter_LogicalOp<string mnemonic>
    : Sinter_BinaryComposite<mnemonic, Sinter_Tensor> {
  let results = (outs Sinter_Bool:$result);
  let shapeRule = "compare";
  let promotion = "match";
  let domains = [Integers<"-1", "1">];
}
def Sinter_LogicalAndOp : Sinter_LogicalOp<"logical_and"> {
  let summary = "Elementwise whether both operands are not 0.";
}
def Sinter_LogicalOrOp : Sinter_LogicalOp<"logical_or"> {
  let summary = "Elementwise whether one operand at least is not 0.";
}
def Sinter_LogicalXorOp : Sinter_LogicalOp<"logical_xor"> {
  let summary = "Elementwise whether just one operand is not 0.";
}
def Sinter_FmaxOp : Sinter_BinaryComposite<"fmax"> {
  let summary = "Elementwise larger of lhs and rhs; the other one of NaN.";
  let description = "Where both are equal the gradient goes to lhs.";
  let domains = [Distinct];
}
def Sinter_FminOp : Sinter_BinaryComposite<"fmin"> {
  let summary = "Elementwise smaller of lhs and rhs; the other one of NaN.";
  let description = "Where both are equal the gradient goes to lhs.";
  let domains = [Distinct];
}
def Sinter_RemainderOp
    : Sinter_BinaryComposite<"remainder", Sinter_Numeric> {
  let summary = "Elementwise remainder of lhs / rhs, with the sign of rhs.";
  let description = "As fmod, plus rhs where the signs differ.";
  let promotion = "match";
  let domains = [Reals<"0.2", "3.4">, Reals<"3.6", "7">];
}
def Sinter_FloorDivideOp
    : Sinter_BinaryComposite<"floor_divide", Sinter_Numeric> {
  let summary = "Elementwise floor(lhs / rhs).";
  let description = [{
    Of the exact quotient. A divisor of 0 gives what `div` does; integers stay
    integers.
  }];
  let promotion = "match";
  let domains = [Reals<"0.2", "3.4">, Reals<"3.6", "7">];
}
def Sinter_HypotOp : Sinter_BinaryComposite<"hypot"> {
  let summary = "Elementwise sqrt(lhs^2 + rhs^2), without overflow on the way.";
  let domains = [Reals<"-4", "4", "0">];
}
def Sinter_LogaddexpOp : Sinter_BinaryComposite<"logaddexp"> {
  let summary = "Elementwise log(e^lhs + e^rhs), without overflow on the way.";
}
def Sinter_XlogyOp : Sinter_BinaryComposite<"xlogy"> {
  let summary = "Elementwise lhs * log(rhs), which is 0 where lhs is.";
  let domains = [Reals<"-4", "4", "0">, Reals<"0.1", "8">];
}

#endif // SINTER_OPS_MATH_TD
