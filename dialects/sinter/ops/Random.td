/// Random numbers: Philox4x32-10 of a key and a counter (docs/semantics.md).
#ifndef SINTER_OPS_RANDOM_TD
#define SINTER_OPS_RANDOM_TD

include "dialects/sinter/OpBase.td"

def Sinter_RandomUniformOp : Sinter_Random<"random_uniform"> {
  let summary = "Uniform numbers in [0, 1).";
  let example = "uniform({2, 3})";
}
def Sinter_RandomNormalOp : Sinter_Random<"random_normal"> {
  let summary = "Normal numbers of mean 0 and variance 1.";
  let example = "normal({2, 3})";
}
def Sinter_DropoutOp : Sinter_Composite<"dropout"> {
  let summary = "x with each element zero with probability p, the others "
                "divided by 1 - p.";
  let description = [{
    An element is kept where the uniform f32 number of its position is at least
    p. The gradient draws the same numbers again; no mask is stored.
  }];
  let arguments = (ins Sinter_Float:$x, Sinter_I64:$key_low,
                       Sinter_I64:$key_high, Sinter_I64:$counter,
                       Sinter_Real:$p);
  let shapeRule = "dropout";
  let handWritten = 1;
  let domains = [Reals<"-4", "4">, Integers<"0", "1000000">,
                 Integers<"0", "1000000">, Integers<"0", "1000000">];
  let example = "dropout(x, 0.5)";
}

#endif // SINTER_OPS_RANDOM_TD
