/// Gathers and scatters: an index tensor decides which element.
#ifndef SINTER_OPS_GATHER_TD
#define SINTER_OPS_GATHER_TD

include "dialects/sinter/OpBase.td"

def Sinter_GatherOp : Sinter_Op<"gather", "gather"> {
  let summary = "Elements of x at given positions along an axis.";
  let description = [{
    out[.., i, ..] = x[.., indices[.., i, ..], ..]: the indices have x's rank,
    and its dims but along `axis`. A position out of range is an error.
  }];
  let arguments = (ins Sinter_Moved:$x, Sinter_Index:$indices,
                       Sinter_Axis:$axis);
  let results = (outs Sinter_Moved:$result);
  let shapeRule = "gather";
  let handWritten = 1;
  let domains = [Reals<"-4", "4">, Positions];
  let example = "gather(x, indices, 1)";
}
def Sinter_ScatterAddOp : Sinter_Scatter<"scatter_add", "sum"> {
  let summary = "x with updates added at given positions along an axis.";
  let description = [{
    Several updates of one element are added in ascending order of their
    positions. A position out of range is an error.
  }];
  let arguments = (ins Sinter_Linear:$x, Sinter_Index:$indices,
                       Sinter_Linear:$updates, Sinter_Axis:$axis);
  let results = (outs Sinter_Linear:$result);
}
def Sinter_IndexSelectOp : Sinter_Composite<"index_select"> {
  let summary = "Slices of x at given positions along an axis.";
  let description = [{
    out[.., i, ..] = x[.., indices[i], ..]: the indices have one axis. A position
    out of range is an error.
  }];
  let arguments = (ins Sinter_Moved:$x, Sinter_Index:$indices,
                       Sinter_Axis:$axis);
  let results = (outs Sinter_Moved:$result);
  let shapeRule = "indexSelect";
  let promotion = "none";
  let domains = [Reals<"-4", "4">, Positions];
  let example = "index_select(x, indices, 1)";
}
def Sinter_EmbeddingOp : Sinter_Composite<"embedding"> {
  let summary = "Rows of a table, one for each index.";
  let description = [{
    weight[v, d] and indices of any shape give [..., d]. An index out of range is
    an error.
  }];
  let arguments = (ins Sinter_Moved:$weight, Sinter_Index:$indices);
  let results = (outs Sinter_Moved:$result);
  let shapeRule = "embedding";
  let promotion = "none";
  let domains = [Reals<"-4", "4">, Positions];
  let example = "embedding(weight, indices)";
}

#endif // SINTER_OPS_GATHER_TD
