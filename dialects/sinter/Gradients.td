/// How each op is differentiated: one record per op.
///
/// A composite without a record here is differentiated through its
/// decomposition.
include "dialects/sinter/Centered.td"
include "dialects/sinter/Ops.td"

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def : Gradient<Sinter_AddOp, [(identity $grad), (identity $grad)]>;
def : Gradient<Sinter_SubOp, [(identity $grad), (Sinter_NegOp $grad)]>;
def : Gradient<Sinter_MulOp, [(Sinter_MulOp $grad, $rhs),
                              (Sinter_MulOp $grad, $lhs)]>;
def : Gradient<Sinter_DivOp, [
    (Sinter_DivOp $grad, $rhs),
    (Sinter_NegOp (Sinter_DivOp (Sinter_MulOp $grad, $result), $rhs))]>;
// Where both are equal, half goes to each.
def : Gradient<Sinter_MaximumOp, [
    (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "eq"),
        (Sinter_MulOp $grad, "0.5"),
        (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "gt"), $grad, "0")),
    (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "eq"),
        (Sinter_MulOp $grad, "0.5"),
        (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "lt"), $grad, "0"))]>;
def : Gradient<Sinter_MinimumOp, [
    (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "eq"),
        (Sinter_MulOp $grad, "0.5"),
        (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "lt"), $grad, "0")),
    (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "eq"),
        (Sinter_MulOp $grad, "0.5"),
        (Sinter_WhereOp (Sinter_CompareOp $lhs, $rhs, "gt"), $grad, "0"))]>;
def : Gradient<Sinter_NegOp, [(Sinter_NegOp $grad)]>;
def : Gradient<Sinter_AbsOp, [
    (Sinter_WhereOp (Sinter_CompareOp $x, "0", "gt"), $grad,
        (Sinter_WhereOp (Sinter_CompareOp $x, "0", "lt"),
                        (Sinter_NegOp $grad), "0"))]>;
def : Gradient<Sinter_ExpOp, [(Sinter_MulOp $grad, $result)]>;
def : Gradient<Sinter_LogOp, [(Sinter_DivOp $grad, $x)]>;
def : Gradient<Sinter_TanhOp, [
    (Sinter_MulOp $grad, (Sinter_SubOp "1", (Sinter_MulOp $result, $result)))]>;
def : Gradient<Sinter_SinOp, [(Sinter_MulOp $grad, (Sinter_CosOp $x))]>;
def : Gradient<Sinter_CosOp, [
    (Sinter_NegOp (Sinter_MulOp $grad, (Sinter_SinOp $x)))]>;
// 2 / sqrt(pi) * e^(-x^2)
def : Gradient<Sinter_ErfOp, [
    (Sinter_MulOp $grad,
        (Sinter_MulOp (Sinter_ExpOp (Sinter_NegOp (Sinter_MulOp $x, $x))),
                      "1.1283791670955126"))]>;
def : Gradient<Sinter_SqrtOp, [
    (Sinter_DivOp (Sinter_MulOp $grad, "0.5"), $result)]>;
def : Gradient<Sinter_RsqrtOp, [
    (Sinter_MulOp (Sinter_MulOp $grad, "-0.5"),
                  (Sinter_DivOp $result, $x))]>;
def : NotDifferentiable<Sinter_CompareOp>;
def : Gradient<Sinter_WhereOp, [
    (none),
    (Sinter_WhereOp $condition, $grad, "0"),
    (Sinter_WhereOp $condition, "0", $grad)]>;
def : Gradient<Sinter_CastOp, [(Sinter_CastOp $grad, (dtype_of $x))]>;

//===----------------------------------------------------------------------===//
// Views and sources
//===----------------------------------------------------------------------===//

def : Gradient<Sinter_ReshapeOp, [(Sinter_ReshapeOp $grad, (shape_of $x))]>;
def : Gradient<Sinter_TransposeOp, [
    (Sinter_TransposeOp $grad, (inverse_of $permutation))]>;
def : GradientFn<Sinter_BroadcastOp, "broadcastGradient">;
def : Gradient<Sinter_SliceOp, [
    (Sinter_PadOp $grad, $starts, (shape_of $x), (minus_one $steps), "0")]>;
def : Gradient<Sinter_FlipOp, [(Sinter_FlipOp $grad, $axes)]>;
def : GradientFn<Sinter_ConcatOp, "concatGradient">;
def : Gradient<Sinter_PadOp, [
    (Sinter_SliceOp $grad, $low, (padded_limits $x, $low, $interior),
                    (plus_one $interior))]>;
def : Gradient<Sinter_DynamicSliceOp, [
    (Sinter_DynamicPadOp $grad, $start, $axis, (size_of $x, $axis)), (none)]>;
def : Gradient<Sinter_DynamicPadOp, [
    (Sinter_DynamicSliceOp $grad, $start, $axis, (size_of $x, $axis)),
    (none)]>;
def : Gradient<Sinter_WindowOp, [
    (Sinter_SumOp
        (Sinter_UnwindowOp $grad, (shape_of $x), $axes, $sizes, $strides,
                           $dilations),
        (window_axes $x, $axes), false)]>;
def : GradientFn<Sinter_UnwindowOp, "unwindowGradient">;
def : NotDifferentiable<Sinter_IotaOp>;
def : NotDifferentiable<Sinter_FullOp>;
def : NotDifferentiable<Sinter_ExtentOp>;

//===----------------------------------------------------------------------===//
// Reductions and prefixes
//===----------------------------------------------------------------------===//

def : Gradient<Sinter_SumOp, [
    (Sinter_BroadcastOp (Sinter_ReshapeOp $grad, (kept_shape $x, $axes)),
                        (shape_of $x))]>;
// Shared evenly by all elements that are the largest, or the smallest. They are
// found anew: when x is computed again its last bit may differ from that of the
// x whose result is known, and then none would be equal to it. Where x and the
// result are one program's, this is the same op. Where there are NaNs, these
// are the result.
defvar isNan = (Sinter_CompareOp $x, $x, "ne");
def : Gradient<Sinter_AmaxOp, [
    (Sinter_MulOp
        (Sinter_CastOp:$mask
            (Sinter_AddOp
                (Sinter_CompareOp $x,
                    (Sinter_BroadcastOp
                        (Sinter_ReshapeOp (Sinter_AmaxOp $x, $axes, $keepdims),
                                          (kept_shape $x, $axes)),
                        (shape_of $x)), "eq"),
                isNan),
            (dtype_of $x)),
        (Sinter_BroadcastOp
            (Sinter_DivOp (Sinter_ReshapeOp $grad, (kept_shape $x, $axes)),
                          (Sinter_SumOp $mask, $axes, true)),
            (shape_of $x)))]>;
def : Gradient<Sinter_AminOp, [
    (Sinter_MulOp
        (Sinter_CastOp:$mask
            (Sinter_AddOp
                (Sinter_CompareOp $x,
                    (Sinter_BroadcastOp
                        (Sinter_ReshapeOp (Sinter_AminOp $x, $axes, $keepdims),
                                          (kept_shape $x, $axes)),
                        (shape_of $x)), "eq"),
                isNan),
            (dtype_of $x)),
        (Sinter_BroadcastOp
            (Sinter_DivOp (Sinter_ReshapeOp $grad, (kept_shape $x, $axes)),
                          (Sinter_SumOp $mask, $axes, true)),
            (shape_of $x)))]>;
def : NotDifferentiable<Sinter_ArgmaxOp>;
def : Gradient<Sinter_CumsumOp, [(Sinter_CumsumOp $grad, $axis,
                                                  (not $reverse))]>;
def : Gradient<Sinter_SortOp, [
    (Sinter_ScatterAddOp (Sinter_FullOp (shape_of $x), "0", (dtype_of $x)),
        (Sinter_ArgsortOp $x, $axis, $descending, $count), $grad, $axis)]>;
def : NotDifferentiable<Sinter_ArgsortOp>;

//===----------------------------------------------------------------------===//
// Contractions, gathers, random numbers
//===----------------------------------------------------------------------===//

def : Gradient<Sinter_MatmulOp, [
    (Sinter_MatmulOp $grad, (Sinter_TransposeOp $rhs, (swap_last_two $rhs))),
    (Sinter_MatmulOp (Sinter_TransposeOp $lhs, (swap_last_two $lhs)), $grad)]>;
def : Gradient<Sinter_GatherOp, [
    (Sinter_ScatterAddOp (Sinter_FullOp (shape_of $x), "0", (dtype_of $x)),
                         $indices, $grad, $axis),
    (none)]>;
def : Gradient<Sinter_ScatterAddOp, [
    (identity $grad), (none), (Sinter_GatherOp $grad, $indices, $axis)]>;
def : NotDifferentiable<Sinter_RandomUniformOp>;
def : NotDifferentiable<Sinter_RandomNormalOp>;

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

def : Gradient<Sinter_VarOp, [
    (Sinter_CastOp
        (Sinter_MulOp
            Centered<(Sinter_MeanOp:$mean $wide, $axes, true),
                     (Sinter_MeanOp leftOfMean, $axes, true)>.rule,
            (Sinter_BroadcastOp
                (Sinter_ReshapeOp
                    (Sinter_DivOp
                        (Sinter_MulOp
                            (Sinter_CastOp $grad, (compute_dtype $x)), "2"),
                        (Sinter_BroadcastOp freedom, (shape_of $grad))),
                    (kept_shape $x, $axes)),
                (shape_of $x))),
        (dtype_of $x))]>;
def : GradientFn<Sinter_LayerNormOp, "layerNormGradient", ["x", "weight"]>;
foreach op = [Sinter_SoftmaxOp, Sinter_QuietSoftmaxOp] in
  def : Gradient<op, [
      (Sinter_MulOp $result,
          (Sinter_SubOp $grad,
              (Sinter_BroadcastOp
                  (Sinter_SumOp (Sinter_MulOp $grad, $result), $axis, true),
                  (shape_of $x))))]>;
def : Gradient<Sinter_LogSoftmaxOp, [
    (Sinter_SubOp $grad,
        (Sinter_MulOp (Sinter_ExpOp $result),
            (Sinter_BroadcastOp (Sinter_SumOp $grad, $axis, true),
                                (shape_of $x))))]>;
def : Gradient<Sinter_ReluOp, [
    (Sinter_WhereOp (Sinter_CompareOp $result, "0", "gt"), $grad, "0")]>;
def : Gradient<Sinter_CustomGradientOp, [(identity $grad), (none)]>;
def : Gradient<Sinter_AfterOp, [(identity $grad), (none)]>;
// (softmax - one-hot labels) / rows: pointwise, no scatter. The labels are
// gathered from 0, 1, 2, ..., which is what they are, so that one out of range
// is an error here too: nothing else may read them when the loss is not read.
def : Gradient<Sinter_CrossEntropyOp, [
    (Sinter_MulOp
        (Sinter_SubOp
            (Sinter_SoftmaxOp $logits, 1),
            (Sinter_CastOp
                (Sinter_CompareOp
                    (Sinter_IotaOp:$classes
                        (shape_of $logits), 1, (dtype_of $labels)),
                    (Sinter_BroadcastOp
                        (Sinter_GatherOp $classes,
                            (Sinter_ReshapeOp $labels, (column_shape $labels)),
                            1),
                        (shape_of $logits)), "eq"),
                (dtype_of $logits))),
        (Sinter_BroadcastOp
            (Sinter_DivOp $grad, (Sinter_ExtentOp
                (count_of $labels, (all_axes $labels)), (dtype_of $logits))),
            (shape_of $logits))),
    (none)]>;
def : Gradient<Sinter_SquareOp, [
    (Sinter_MulOp $grad, (Sinter_MulOp $x, "2"))]>;
def : Gradient<Sinter_ClampOp, [
    (Sinter_WhereOp (Sinter_CompareOp $x, $min, "ge"),
        (Sinter_WhereOp (Sinter_CompareOp $x, $max, "le"), $grad, "0"), "0")]>;
def : Gradient<Sinter_SigmoidOp, [
    (Sinter_MulOp $grad,
        (Sinter_MulOp $result, (Sinter_SubOp "1", $result)))]>;
// s + x s (1 - s) with s = sigmoid(x); the decomposition's would make
// infinities of large negative x.
def : Gradient<Sinter_SiluOp, [
    (Sinter_MulOp $grad,
        (Sinter_MulOp (Sinter_SigmoidOp:$s $x),
            (Sinter_AddOp
                (Sinter_MulOp $x, (Sinter_SubOp "1", $s)), "1")))]>;
// The same numbers keep the same elements.
def : Gradient<Sinter_DropoutOp, [
    (Sinter_DropoutOp $grad, $key_low, $key_high, $counter, $p),
    (none), (none), (none)]>;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

// The three are each other's: products of an image, a weight and a result's
// gradient, of which two are given.
def : GradientFn<Sinter_ConvOp, "convGradient", ["x", "weight"]>;
def : GradientFn<Sinter_ConvTransposeOp, "convTransposeGradient",
                 ["x", "weight"]>;
def : GradientFn<Sinter_ConvWeightGradOp, "convWeightGradient", ["x", "grad"]>;
def : GradientFn<Sinter_MaxPoolOp, "maxPoolGradient", ["x"]>;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

// Made by the compiler alone.
def : NotDifferentiable<Sinter_AttentionOp>;
def : NotDifferentiable<Sinter_AttentionLogsumexpOp>;
def : NotDifferentiable<Sinter_AttentionQueryGradientOp>;
def : NotDifferentiable<Sinter_AttentionKeyGradientOp>;
def : NotDifferentiable<Sinter_AttentionValueGradientOp>;

// Loops are differentiated as a whole: runtime/autodiff/LoopGradient.cpp.
def : GradientFn<Sinter_ScanCarryOp, "loopPart">;
def : GradientFn<Sinter_ScanSliceOp, "loopPart">;
def : GradientFn<Sinter_ScanLastOp, "loopPart">;
def : GradientFn<Sinter_ScanStackOp, "loopPart">;
def : NotDifferentiable<Sinter_ScanIndexOp>;
def : NotDifferentiable<Sinter_ScanEndOp>;

//===----------------------------------------------------------------------===//
// Code of users; the frontend records their gradients
//===----------------------------------------------------------------------===//

def : NotDifferentiable<Sinter_CustomOp>;

//===----------------------------------------------------------------------===//
// Complex numbers: the gradient's parts are those by the number's parts
//===----------------------------------------------------------------------===//

def : Gradient<Sinter_ComplexOp, [(Sinter_RealOp $grad), (Sinter_ImagOp $grad)]>;
def : Gradient<Sinter_RealOp, [(Sinter_ComplexOp $grad, "0")]>;
def : Gradient<Sinter_ImagOp, [(Sinter_ComplexOp "0", $grad)]>;
