/// Reductions and prefixes along axes.
#ifndef SINTER_OPS_REDUCE_TD
#define SINTER_OPS_REDUCE_TD

include "dialects/sinter/OpBase.td"

def Sinter_SumOp : Sinter_Reduction<"sum", "sum"> {
  let summary = "Sum over axes.";
  let description = [{
    Integers and bool are summed in i64; f16 and bf16 in f32, rounded once.
  }];
  let arguments = (ins Sinter_LinearOrBool:$x, Sinter_Axes:$axes,
                       Sinter_Boolean:$keepdims);
  let results = (outs Sinter_LinearOrBool:$result);
  let shapeRule = "sum";
}
def Sinter_AmaxOp : Sinter_Reduction<"amax", "maximum"> {
  let summary = "Largest element over axes; NaN if there is one.";
  let domains = [Distinct];
}
// A primitive: -amax(-x) is wrong for u8, bool and the least integers.
def Sinter_AminOp : Sinter_Reduction<"amin", "minimum"> {
  let summary = "Smallest element over axes; NaN if there is one.";
  let domains = [Distinct];
}
def Sinter_ArgmaxOp : Sinter_Search<"argmax"> {
  let summary = "Position of the largest element along an axis; i64.";
  let description = "The first of several. NaN counts as the largest.";
}
def Sinter_CumsumOp : Sinter_Prefix<"cumsum", "sum"> {
  let summary = "Sums of the elements up to each position along an axis.";
  let description = "From the end when `reverse`. Dtypes as in sum.";
  let arguments = (ins Sinter_LinearOrBool:$x, Sinter_Axis:$axis,
                       Sinter_Boolean:$reverse);
  let results = (outs Sinter_Linear:$result);
}

#endif // SINTER_OPS_REDUCE_TD
