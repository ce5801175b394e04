/// Loops over steps, as ordinary values: no op has a region of its own.
///
/// What depends on a loop's index, carries or slices is the loop's body; what
/// does not is computed once. `compiler/fuse/FormLoops.cpp` gathers a body in a
/// `program.for`; `runtime/graph/Loops.h` finds it in a recorded graph.
#ifndef SINTER_OPS_SCAN_TD
#define SINTER_OPS_SCAN_TD

include "dialects/sinter/OpBase.td"

/// A part of a loop. Users record them all at once, by `scan`.
class Sinter_Loop<string mnemonic> : Sinter_Op<mnemonic, "loop"> {
  let results = (outs Sinter_Tensor:$result);
  let shapeRule = mnemonic;
  let handWritten = 1;
  let example = "scan([](auto carries, auto xs) { "
                "Tensor next = carries[0] * xs[0]; "
                "return ScanStep{{next}, {exp(next)}}; }, "
                "{full({2}, 0.5)}, {full({3, 2}, 0.25)}).ys[0]";
}

def Sinter_ScanIndexOp : Sinter_Loop<"scan_index"> {
  let summary = "A loop, and the step that it is at.";
  let description = [{
    A token: it has the type bool[length] and no value. Two of them are two
    loops. With `reverse` the last slice comes first.
  }];
  let arguments = (ins Sinter_Dim:$length, Sinter_Boolean:$reverse);
  let results = (outs Sinter_Bool:$result);
  let shapeRule = "scanIndex";
  let shapeArguments = ["length"];
}
def Sinter_ScanCarryOp : Sinter_Loop<"scan_carry"> {
  let summary = "What the step before passed on; `init` in the first step.";
  let arguments = (ins Sinter_Bool:$index, Sinter_Tensor:$init);
  let shapeRule = "scanCarry";
}
def Sinter_ScanSliceOp : Sinter_Loop<"scan_slice"> {
  let summary = "xs[step]: the step's slice along the first axis.";
  let arguments = (ins Sinter_Bool:$index, Sinter_Tensor:$xs);
  let shapeRule = "scanSlice";
}
def Sinter_ScanEndOp : Sinter_Loop<"scan_end"> {
  let summary = "Says what a step passes on: the end of the loop.";
  let description = [{
    The index, each carry followed by its next value, and then values that may
    be stacked: what depends on the index and is reached from here is the body.
    A token as the index. With a `condition` of k > 0 a step begins only while
    carry k - 1, a boolean scalar, is true; with k < 0 only while carry -k - 1 is
    false. Nothing of such a loop is stacked.
  }];
  let arguments = (ins Variadic<Sinter_Tensor>:$parts, Sinter_Integer:$carries,
                       Sinter_Integer:$condition);
  let results = (outs Sinter_Bool:$result);
  let shapeRule = "scanEnd";
}
def Sinter_ScanLastOp : Sinter_Loop<"scan_last"> {
  let summary = "What a carry is after the last step.";
  let arguments = (ins Sinter_Bool:$end, Sinter_Tensor:$carry);
  let shapeRule = "scanLast";
}
def Sinter_ScanStackOp : Sinter_Loop<"scan_stack"> {
  let summary = "A value of each step, along a new first axis.";
  let arguments = (ins Sinter_Bool:$end, Sinter_Tensor:$y);
  let shapeRule = "scanStack";
}

#endif // SINTER_OPS_SCAN_TD
