/// Elementwise ops beyond Arithmetic.td. A new one is written here: little of
/// the repository knows these, so little is built again.
#ifndef SINTER_OPS_ELEMENTWISE_TD
#define SINTER_OPS_ELEMENTWISE_TD

include "dialects/sinter/OpBase.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// To an integer; its gradient is 0.
class Sinter_Rounding<string mnemonic>
    : Sinter_Unary<mnemonic, Sinter_Numeric> {
  let domains = [Reals<"-4", "4">];
}
def Sinter_FloorOp : Sinter_Rounding<"floor"> {
  let summary = "Elementwise largest integer that is not above x.";
}
def Sinter_CeilOp : Sinter_Rounding<"ceil"> {
  let summary = "Elementwise smallest integer that is not below x.";
}
def Sinter_TruncOp : Sinter_Rounding<"trunc"> {
  let summary = "Elementwise x without its fraction.";
}
def Sinter_RoundOp : Sinter_Rounding<"round"> {
  let summary = "Elementwise nearest integer; halves go to the even one.";
}
def Sinter_Exp2Op : Sinter_FloatUnary<"exp2"> {
  let summary = "Elementwise 2^x; exact where x is an integer.";
}
def Sinter_Expm1Op : Sinter_FloatUnary<"expm1"> {
  let summary = "Elementwise e^x - 1, accurate near 0.";
}
def Sinter_Log2Op : Sinter_FloatUnary<"log2"> {
  let summary = "Elementwise logarithm to base 2; exact for powers of 2.";
  let domains = [Reals<"0.1", "8">];
}
def Sinter_Log10Op : Sinter_FloatUnary<"log10"> {
  let summary = "Elementwise logarithm to base 10.";
  let domains = [Reals<"0.1", "8">];
}
def Sinter_Log1pOp : Sinter_FloatUnary<"log1p"> {
  let summary = "Elementwise log(1 + x), accurate near 0.";
  let domains = [Reals<"-0.9", "8">];
}
def Sinter_AtanOp : Sinter_FloatUnary<"atan"> {
  let summary = "Elementwise inverse tangent, in [-pi/2, pi/2].";
}
def Sinter_ErfcOp : Sinter_FloatUnary<"erfc"> {
  let summary = "Elementwise 1 - erf(x), accurate where that is small.";
}

def Sinter_ErfinvOp : Sinter_FloatUnary<"erfinv"> {
  let summary = "Elementwise inverse of erf, on [-1, 1].";
  let domains = [Reals<"-0.95", "0.95">];
}
def Sinter_LgammaOp : Sinter_FloatUnary<"lgamma"> {
  let summary = "Elementwise logarithm of |gamma(x)|.";
  let domains = [Reals<"0.1", "8">];
}
def Sinter_DigammaOp : Sinter_FloatUnary<"digamma"> {
  let summary = "Elementwise derivative of lgamma.";
  // Above the root, beside which it is exact to a part of 1, not of itself.
  let domains = [Reals<"2", "8">];
}
def Sinter_PolygammaOp : Sinter_FloatUnary<"polygamma"> {
  let summary = "Elementwise derivative of digamma, `order` times.";
  let description = "An order above 20 is an error; 0 is digamma itself.";
  let arguments = (ins Sinter_Float:$x, Sinter_Integer:$order);
  let shapeRule = "polygamma";
  let domains = [Reals<"2", "8">];
  let example = "polygamma(x, 1)";
}

/// Two float operands; the frontend brings integers to f32.
class Sinter_FloatBinary<string mnemonic>
    : Sinter_Binary<mnemonic, Sinter_Float> {
  let promotion = "float";
}
def Sinter_PowOp : Sinter_Binary<"pow"> {
  let summary = "Elementwise lhs to the power of rhs.";
  let description = [{
    Of integers, in their dtype: it wraps, and a negative exponent gives what is
    left of 1 / lhs^-rhs: 0, but for 1 and -1.
  }];
  let handWritten = 1;
  let domains = [Reals<"0.2", "3">, Reals<"-2", "2">];
}
def Sinter_Atan2Op : Sinter_FloatBinary<"atan2"> {
  let summary = "Elementwise angle of the point (rhs, lhs), in [-pi, pi].";
  let domains = [Reals<"-4", "4", "0">];
}
def Sinter_CopysignOp : Sinter_FloatBinary<"copysign"> {
  let summary = "Elementwise |lhs| with the sign of rhs.";
  let domains = [Reals<"-4", "4", "0">];
}
def Sinter_FmodOp : Sinter_Binary<"fmod"> {
  let summary = "Elementwise remainder of lhs / rhs, with the sign of lhs.";
  let description = [{
    Exact. NaN for a divisor of 0 or an infinite lhs; of integers, lhs for a
    divisor of 0.
  }];
  let domains = [Reals<"0.2", "3.4">, Reals<"3.6", "7">];
}

//===----------------------------------------------------------------------===//
// Integers and bits
//===----------------------------------------------------------------------===//

class Sinter_Bitwise<string mnemonic, Type type = Sinter_Integral>
    : Sinter_Binary<mnemonic, type> {
  let domains = [Integers<"-9", "9">];
}
def Sinter_BitwiseAndOp : Sinter_Bitwise<"bitwise_and"> {
  let summary = "Elementwise and of bits; integers and bool.";
}
def Sinter_BitwiseOrOp : Sinter_Bitwise<"bitwise_or"> {
  let summary = "Elementwise or of bits; integers and bool.";
}
def Sinter_BitwiseXorOp : Sinter_Bitwise<"bitwise_xor"> {
  let summary = "Elementwise exclusive or of bits; integers and bool.";
}
def Sinter_BitwiseNotOp : Sinter_Unary<"bitwise_not", Sinter_Integral> {
  let summary = "Elementwise complement of bits; integers and bool.";
  let domains = [Integers<"-9", "9">];
}
class Sinter_Shift<string mnemonic>
    : Sinter_Bitwise<mnemonic, Sinter_OnlyInteger> {
  let domains = [Integers<"-9", "9">, Integers<"0", "7">];
}
def Sinter_ShiftLeftOp : Sinter_Shift<"bitwise_left_shift"> {
  let summary = "Elementwise lhs * 2^rhs on integers.";
  let description = [{
    0 where rhs is negative or not below the number of bits.
  }];
}
def Sinter_ShiftRightOp : Sinter_Shift<"bitwise_right_shift"> {
  let summary = "Elementwise floor(lhs / 2^rhs) on integers.";
  let description = [{
    0, or -1 for a negative lhs, where rhs is negative or not below the number
    of bits.
  }];
}

#endif // SINTER_OPS_ELEMENTWISE_TD
