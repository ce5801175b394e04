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

#endif // SINTER_OPS_RANDOM_TD
