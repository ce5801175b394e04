/// Reductions, prefixes and scatters beyond sums and extrema.
#ifndef SINTER_OPS_FOLDS_TD
#define SINTER_OPS_FOLDS_TD

include "dialects/sinter/OpBase.td"

def Sinter_ProdOp : Sinter_Reduction<"prod", "product"> {
  let summary = "Product over axes.";
  let description = [{
    Integers and bool are multiplied in i64; f16 and bf16 in f32, rounded once.
  }];
  let shapeRule = "sum";
  let domains = [Reals<"-1.5", "1.5">];
}
def Sinter_ArgminOp : Sinter_Search<"argmin"> {
  let summary = "Position of the smallest element along an axis; i64.";
  let description = "The first of several. NaN counts as the smallest.";
}
def Sinter_CumprodOp : Sinter_Prefix<"cumprod", "product"> {
  let summary = "Products of the elements up to each position along an axis.";
  let description = "From the end when `reverse`. Dtypes as in prod.";
  let results = (outs Sinter_Numeric:$result);
  let domains = [Reals<"-1.5", "1.5">];
}
/// The largest or smallest element so far; in x's dtype.
class Sinter_PrefixExtremum<string mnemonic, string foldName>
    : Sinter_Prefix<mnemonic, foldName> {
  let shapeRule = "sameAsFirst";
  let shapeArguments = [];
  let domains = [Distinct];
  let handWritten = 1;
  let example = mnemonic # "(x, 1).values";
}
def Sinter_CummaxOp : Sinter_PrefixExtremum<"cummax", "maximum"> {
  let summary = "Largest element up to each position along an axis.";
  let description = "From the end when `reverse`. NaN from the first NaN on.";
}
def Sinter_CumminOp : Sinter_PrefixExtremum<"cummin", "minimum"> {
  let summary = "Smallest element up to each position along an axis.";
  let description = "From the end when `reverse`. NaN from the first NaN on.";
}

def Sinter_LogcumsumexpOp : Sinter_Prefix<"logcumsumexp", "logsumexp"> {
  let summary = "log(sum(e^x)) of the elements up to each position along an "
                "axis, without overflow on the way.";
  let description = "From the end when `reverse`.";
  let arguments = (ins Sinter_Float:$x, Sinter_Axis:$axis,
                       Sinter_Boolean:$reverse);
  let results = (outs Sinter_Float:$result);
  let promotion = "float";
}

def Sinter_ScatterOp : Sinter_Scatter<"scatter", "assign"> {
  let summary = "x with updates put at given positions along an axis.";
  let description = [{
    Of several updates of one element the one of the largest position stays, and
    the gradient goes to it. A position out of range is an error.
  }];
}
def Sinter_ScatterProdOp : Sinter_Scatter<"scatter_prod", "product"> {
  let summary = "x multiplied by updates at given positions along an axis.";
  let description = "A position out of range is an error.";
  let domains = [Reals<"-1.2", "1.2">, Positions, Reals<"-1.2", "1.2">];
}
def Sinter_ScatterAmaxOp : Sinter_Scatter<"scatter_amax", "maximum"> {
  let summary = "The larger of x and updates at given positions along an axis.";
  let description = "A position out of range is an error.";
  let domains = [Distinct, Positions, Distinct];
}
def Sinter_ScatterAminOp : Sinter_Scatter<"scatter_amin", "minimum"> {
  let summary = "The smaller of x and updates at given positions along an axis.";
  let description = "A position out of range is an error.";
  let domains = [Distinct, Positions, Distinct];
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

/// Along axes, by other reductions.
class Sinter_Reducing<string mnemonic, Type type = Sinter_Float>
    : Sinter_Composite<mnemonic> {
  let arguments = (ins type:$x, Sinter_Axes:$axes, Sinter_Boolean:$keepdims);
  let precision = "full";
  let shapeRule = "reduce";
  let defaults = ["axes = {}", "keepdims = false"];
  let example = mnemonic # "(x, {1})";
}
class Sinter_Quantifier<string mnemonic>
    : Sinter_Reducing<mnemonic, Sinter_Tensor> {
  let results = (outs Sinter_Bool:$result);
  let precision = "any";
  let shapeRule = "quantifier";
  let promotion = "none";
  let domains = [Integers<"-1", "1">];
}
def Sinter_AllOp : Sinter_Quantifier<"all"> {
  let summary = "Whether no element over axes is 0; true for none.";
}
def Sinter_AnyOp : Sinter_Quantifier<"any"> {
  let summary = "Whether an element over axes is not 0; false for none.";
}
def Sinter_CountNonzeroOp : Sinter_Reducing<"count_nonzero", Sinter_Tensor> {
  let summary = "How many elements over axes are not 0; i64.";
  let results = (outs Sinter_I64:$result);
  let shapeRule = "count";
  let promotion = "none";
  let domains = [Integers<"-1", "1">];
}
def Sinter_LogsumexpOp : Sinter_Reducing<"logsumexp"> {
  let summary = "log(sum(e^x)) over axes, without overflow on the way.";
}
def Sinter_VectorNormOp : Sinter_Reducing<"l2_norm"> {
  let summary = "Square root of the sum of squares over axes.";
  let description = "Its gradient at 0 is 0.";
  let shapeRule = "sum";
}

#endif // SINTER_OPS_FOLDS_TD
