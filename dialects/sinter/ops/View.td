/// Views, and the sources that need no tensor: an index decides which element.
#ifndef SINTER_OPS_VIEW_TD
#define SINTER_OPS_VIEW_TD

include "dialects/sinter/OpBase.td"

def Sinter_ReshapeOp : Sinter_View<"reshape"> {
  let reorder = "reshape";
  let summary = "The same elements in row-major order under another shape.";
  let description = "One dim may be -1: what is left over.";
  let arguments = (ins Sinter_Moved:$x, Sinter_Dims:$shape);
  let resolves = "shape";
  let elidesIdentity = 1;
  let example = "reshape(x, {-1})";
}
def Sinter_TransposeOp : Sinter_View<"transpose"> {
  let reorder = "transpose";
  let summary = "Axes in another order: axis d of the result is axis "
                "permutation[d] of x.";
  let arguments = (ins Sinter_Moved:$x, Sinter_Permutation:$permutation);
  let example = "transpose(x, {1, 0})";
}
def Sinter_BroadcastOp : Sinter_View<"broadcast"> {
  let reorder = "broadcast";
  let summary = "Repeats x along dims of size 1 and new leading dims.";
  let arguments = (ins Sinter_Moved:$x, Sinter_Dims:$shape);
  let resolves = "shape";
  let elidesIdentity = 1;
  let example = "broadcast(x, {2, 3, 4})";
}
def Sinter_SliceOp : Sinter_View<"slice"> {
  let reorder = "slice";
  let handWritten = 1;
  let summary = "Every steps[d]-th element from starts[d] up to limits[d].";
  let arguments = (ins Sinter_Moved:$x, Sinter_Ints:$starts,
                       Sinter_Dims:$limits, Sinter_Ints:$steps);
  let example = "slice(x, {0, 1}, {3, 4}, {1, 2})";
}
// A primitive: the index is affine, where a gather would read and check it.
def Sinter_FlipOp : Sinter_View<"flip"> {
  let reorder = "sameEverywhere";
  let summary = "The elements in reverse order along axes.";
  let arguments = (ins Sinter_Moved:$x, Sinter_Axes:$axes);
  let shapeRule = "sameAsFirst";
  let shapeArguments = [];
  let example = "flip(x, {0})";
}
def Sinter_ConcatOp : Sinter_View<"concat"> {
  let reorder = "sameEverywhere";
  let summary = "The operands one after the other along an axis.";
  let arguments = (ins Variadic<Sinter_Moved>:$xs, Sinter_Axis:$axis);
  let promotion = "match";
  let defaults = ["axis = 0"];
  let example = "concat(xs, 0)";
}
def Sinter_PadOp : Sinter_View<"pad"> {
  let reorder = "pad";
  let summary = "x inside a tensor of `shape` that holds `value` elsewhere.";
  let description = [{
    Element i of x stands at low[d] + i * (interior[d] + 1) along axis d.
  }];
  let arguments = (ins Sinter_LinearOrBool:$x, Sinter_Ints:$low,
                       Sinter_Dims:$shape,
                       Sinter_Ints:$interior, Sinter_Number:$value);
  let shapeArguments = ["low", "shape", "interior"];
  let example = "pad(x, {0, 1}, {3, 9}, {0, 1}, 0.5)";
}
/// One axis from a start that a program is given, as a number of rank 0.
class Sinter_StartView<string mnemonic, string rule, TypeConstraint elements>
    : Sinter_View<mnemonic> {
  let arguments = (ins elements:$x, Sinter_I64:$start, Sinter_Axis:$axis,
                       Sinter_Dim:$size);
  let shapeRule = rule;
  let handWritten = 1;
  let domains = [Reals<"-4", "4">, Integers<"-2", "9">];
}
def Sinter_DynamicSliceOp
    : Sinter_StartView<"dynamic_slice", "dynamicSlice", Sinter_Moved> {
  let summary = "`size` elements along an axis from a start that is a number of "
                "the program.";
  let description = [{
    out[.., i, ..] = x[.., start + i, ..]. A start is brought to between 0 and
    the last one that leaves `size` elements.
  }];
  let example = "narrow(x, 1, start, 2)";
}
def Sinter_DynamicPadOp
    : Sinter_StartView<"dynamic_pad", "dynamicPad", Sinter_LinearOrBool> {
  let summary = "x from a start on, which is a number of the program, along an "
                "axis of `size` that holds 0 elsewhere.";
  let description = [{
    out[.., start + i, ..] = x[.., i, ..]. A start is brought to between 0 and
    the last one that leaves room for x.
  }];
  let example = "slice_assign(x, narrow(x, 1, 0, 2), {0, start})";
}

def Sinter_SqueezeOp : Sinter_Composite<"squeeze"> {
  let summary = "x without axes of size 1.";
  let description = [{
    Without axes, all of size 1 go. Named axes of another size stay.
  }];
  let arguments = (ins Sinter_Moved:$x, Sinter_Axes:$axes);
  let results = (outs Sinter_Moved:$result);
  let shapeRule = "squeeze";
  let promotion = "none";
  let elidesIdentity = 1;
  let handWritten = 1;
  let defaults = ["axes = {}"];
  let example = "squeeze(x, {0})";
}
def Sinter_UnsqueezeOp : Sinter_Composite<"unsqueeze"> {
  let summary = "x with a new axis of size 1.";
  let description = "The axis counts in the result; negative from its end.";
  let arguments = (ins Sinter_Moved:$x, Sinter_Integer:$axis);
  let results = (outs Sinter_Moved:$result);
  let shapeRule = "unsqueeze";
  let promotion = "none";
  let handWritten = 1;
  let example = "unsqueeze(x, -1)";
}

def Sinter_IotaOp : Sinter_Source<"iota"> {
  let summary = "Each element is its position along an axis.";
  let arguments = (ins Sinter_Dims:$shape, Sinter_Axis:$axis,
                       Sinter_DType:$dtype);
  let example = "iota({2, 3}, 1)";
}
def Sinter_FullOp : Sinter_Source<"full"> {
  let shapeRule = "full";
  let reorder = "full";
  let summary = "Every element is `value`.";
  let arguments = (ins Sinter_Dims:$shape, Sinter_Number:$value,
                       Sinter_DType:$dtype);
  let results = (outs Sinter_LinearOrBool:$result);
  let makesConstants = 1;
  let example = "full({2, 3}, 0.5)";
}
def Sinter_ExtentOp : Sinter_Source<"extent"> {
  let summary = "A dim's value as a number of rank 0.";
  let arguments = (ins Sinter_Dim:$size, Sinter_DType:$dtype);
  let shapeRule = "scalar";
  let shapeArguments = ["dtype"];
  let example = "mean(full({2, 3}, 0.5), {0})"; // divides by an extent
}

#endif // SINTER_OPS_VIEW_TD
