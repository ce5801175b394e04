/// Complex numbers and their parts. What else is computed with complex numbers
/// is recorded over these (frontend/Complex.cpp); in programs each is two
/// tensors of floats (compiler/import/SplitComplex.cpp).
#ifndef SINTER_OPS_COMPLEX_TD
#define SINTER_OPS_COMPLEX_TD

include "dialects/sinter/OpBase.td"

def Sinter_ComplexOp : Sinter_Op<"complex", "view"> {
  let summary = "The complex numbers re + i im.";
  let description = "c64 of f32, c128 of f64.";
  let arguments = (ins Sinter_Part:$re, Sinter_Part:$im);
  let results = (outs Sinter_Complex:$result);
  let shapeRule = "complexOfParts";
  let promotion = "float";
  let broadcasts = 1;
  let example = "complex(re, im)";
}
/// One part of each number.
class Sinter_PartOf<string mnemonic> : Sinter_Op<mnemonic, "view"> {
  let arguments = (ins Sinter_Complex:$x);
  let results = (outs Sinter_Part:$result);
  let shapeRule = "partOfComplex";
  let handWritten = 1;
}
def Sinter_RealOp : Sinter_PartOf<"real"> {
  let summary = "The real parts of complex numbers.";
  let example = "real(complex(full({2}, 0.5), full({2}, 0.25)))";
}
def Sinter_ImagOp : Sinter_PartOf<"imag"> {
  let summary = "The imaginary parts of complex numbers.";
  let example = "imag(complex(full({2}, 0.5), full({2}, 0.25)))";
}

#endif // SINTER_OPS_COMPLEX_TD
