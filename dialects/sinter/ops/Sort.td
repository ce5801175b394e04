/// Sorting along an axis.
#ifndef SINTER_OPS_SORT_TD
#define SINTER_OPS_SORT_TD

include "dialects/sinter/OpBase.td"

/// The first `count` elements along an axis in their order, or something of
/// them. Both kinds of result come from one walk over x.
class Sinter_Ordering<string mnemonic, string rule> : Sinter_Op<mnemonic, "sort"> {
  let arguments = (ins Sinter_Tensor:$x, Sinter_Axis:$axis,
                       Sinter_Boolean:$descending, Sinter_Dim:$count);
  let shapeRule = rule;
  let shapeArguments = ["axis", "count"];
  let handWritten = 1;
  let domains = [Distinct];
}
def Sinter_SortOp : Sinter_Ordering<"sort", "sorted"> {
  let summary = "The first `count` elements along an axis in ascending order.";
  let description = [{
    In descending order if so asked. Equal elements keep their order in both;
    NaN counts as the largest, and both zeros as equal.
  }];
  let results = (outs Sinter_Tensor:$result);
  let example = "sort(x, 1).values";
}
def Sinter_ArgsortOp : Sinter_Ordering<"argsort", "sortedPositions"> {
  let summary = "Positions of the first `count` elements in order; i64.";
  let description = "Of the elements that `sort` gives.";
  let results = (outs Sinter_I64:$result);
  let example = "argsort(x, 1)";
}

#endif // SINTER_OPS_SORT_TD
