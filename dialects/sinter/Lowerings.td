/// What each op is made of: the scalar body of a pointwise op, a composite's
/// decomposition, or the mark of a structured op.
include "mlir/Dialect/Arith/IR/ArithOps.td"
include "mlir/Dialect/Math/IR/MathOps.td"
include "dialects/sinter/Centered.td"
include "dialects/sinter/Ops.td"

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

def : Scalar<Sinter_AddOp,
             (Arith_AddFOp $lhs, $rhs), (Arith_AddIOp $lhs, $rhs),
             (Arith_AddIOp $lhs, $rhs), (Arith_OrIOp $lhs, $rhs)>;
def : Scalar<Sinter_SubOp, (Arith_SubFOp $lhs, $rhs), (Arith_SubIOp $lhs, $rhs)>;
def : Scalar<Sinter_MulOp,
             (Arith_MulFOp $lhs, $rhs), (Arith_MulIOp $lhs, $rhs),
             (Arith_MulIOp $lhs, $rhs), (Arith_AndIOp $lhs, $rhs)>;
def : ScalarFn<Sinter_DivOp, "emitDivision">;
def : Scalar<Sinter_MaximumOp,
             (Arith_MaximumFOp $lhs, $rhs), (Arith_MaxSIOp $lhs, $rhs),
             (Arith_MaxUIOp $lhs, $rhs), (Arith_OrIOp $lhs, $rhs)>;
def : Scalar<Sinter_MinimumOp,
             (Arith_MinimumFOp $lhs, $rhs), (Arith_MinSIOp $lhs, $rhs),
             (Arith_MinUIOp $lhs, $rhs), (Arith_AndIOp $lhs, $rhs)>;
def : Scalar<Sinter_NegOp, (Arith_NegFOp $x), (Arith_SubIOp (literal "0"), $x)>;
def : Scalar<Sinter_AbsOp, (Math_AbsFOp $x), (Math_AbsIOp $x),
             (Arith_AddIOp $x, (literal "0"))>;
def : Scalar<Sinter_ExpOp, (Math_ExpOp $x)>;
def : Scalar<Sinter_LogOp, (Math_LogOp $x)>;
def : Scalar<Sinter_TanhOp, (Math_TanhOp $x)>;
def : Scalar<Sinter_SinOp, (Math_SinOp $x)>;
def : Scalar<Sinter_CosOp, (Math_CosOp $x)>;
def : Scalar<Sinter_ErfOp, (Math_ErfOp $x)>;
def : Scalar<Sinter_SqrtOp, (Math_SqrtOp $x)>;
def : Scalar<Sinter_RsqrtOp, (Math_RsqrtOp $x)>;
def : ScalarFn<Sinter_CompareOp, "emitComparison">;
def : ScalarFn<Sinter_WhereOp, "emitSelection">;
def : ScalarFn<Sinter_CastOp, "emitConversion">;

//===----------------------------------------------------------------------===//
// Structured
//===----------------------------------------------------------------------===//

def : Structured<Sinter_ReshapeOp>;
def : Structured<Sinter_TransposeOp>;
def : Structured<Sinter_BroadcastOp>;
def : Structured<Sinter_SliceOp>;
def : Structured<Sinter_FlipOp>;
def : Structured<Sinter_ConcatOp>;
def : Structured<Sinter_PadOp>;
def : Structured<Sinter_DynamicSliceOp>;
def : Structured<Sinter_DynamicPadOp>;
def : Structured<Sinter_WindowOp>;
def : Structured<Sinter_UnwindowOp>;
def : Structured<Sinter_IotaOp>;
def : Structured<Sinter_FullOp>;
def : Structured<Sinter_ExtentOp>;
def : Structured<Sinter_SumOp>;
def : Structured<Sinter_AmaxOp>;
def : Structured<Sinter_AminOp>;
def : Structured<Sinter_ArgmaxOp>;
def : Structured<Sinter_CumsumOp>;
def : Structured<Sinter_SortOp>;
def : Structured<Sinter_ArgsortOp>;
def : Structured<Sinter_MatmulOp>;
def : Structured<Sinter_GatherOp>;
def : Structured<Sinter_ScatterAddOp>;
def : Structured<Sinter_RandomUniformOp>;
def : Structured<Sinter_RandomNormalOp>;

// Gathered in a `program.for`; what is left of them moves no number.
def : Structured<Sinter_ScanIndexOp>;
def : Structured<Sinter_ScanCarryOp>;
def : Structured<Sinter_ScanSliceOp>;
def : Structured<Sinter_ScanEndOp>;
def : Structured<Sinter_ScanLastOp>;
def : Structured<Sinter_ScanStackOp>;
def : Structured<Sinter_CustomOp>;

// Gone from programs before kernels are formed.
def : Structured<Sinter_ComplexOp>;
def : Structured<Sinter_RealOp>;
def : Structured<Sinter_ImagOp>;

//===----------------------------------------------------------------------===//
// Composites: f16 and bf16 are computed in f32 and rounded at the end.
//===----------------------------------------------------------------------===//

/// What stands beside x, a number for each of its elements.
class AsWideAsX<dag wide> {
  dag value = (Sinter_BroadcastOp wide, (shape_of $x));
}
def : Decomposition<Sinter_AxpbyOp,
    (Sinter_CastOp
        (Sinter_AddOp
            (Sinter_MulOp
                (Sinter_CastOp $x, (compute_dtype $x)),
                AsWideAsX<(Sinter_CastOp $a, (compute_dtype $x))>.value),
            (Sinter_MulOp
                AsWideAsX<(Sinter_CastOp $y, (compute_dtype $x))>.value,
                AsWideAsX<(Sinter_CastOp $b, (compute_dtype $x))>.value)),
        (dtype_of $x))>;

def : Decomposition<Sinter_AdaptiveStepOp,
    (Sinter_CastOp
        (Sinter_SubOp
            (Sinter_CastOp $x, (compute_dtype $x)),
            (Sinter_DivOp
                (Sinter_MulOp
                    AsWideAsX<(Sinter_CastOp $direction,
                                             (compute_dtype $x))>.value,
                    AsWideAsX<(Sinter_CastOp $rate, (compute_dtype $x))>.value),
                (Sinter_AddOp
                    (Sinter_MulOp
                        AsWideAsX<(Sinter_SqrtOp
                            (Sinter_CastOp $square,
                                           (compute_dtype $x)))>.value,
                        AsWideAsX<(Sinter_CastOp $scale,
                                                 (compute_dtype $x))>.value),
                    AsWideAsX<(Sinter_CastOp $eps, (compute_dtype $x))>.value))),
        (dtype_of $x))>;

def : Decomposition<Sinter_MeanOp,
    (Sinter_CastOp
        (Sinter_DivOp
            (Sinter_SumOp:$total
                (Sinter_CastOp $x, (compute_dtype $x)), $axes, $keepdims),
            (Sinter_BroadcastOp
                (Sinter_ExtentOp (count_of $x, $axes), (compute_dtype $x)),
                (shape_of $total))),
        (dtype_of $x))>;

def : Decomposition<Sinter_VarOp,
    (Sinter_CastOp
        (Sinter_DivOp
            (Sinter_SumOp:$total
                (Sinter_MulOp
                    Centered<(Sinter_MeanOp:$mean $wide, $axes, true),
                             (Sinter_MeanOp leftOfMean, $axes, true)>.rule,
                    $centered),
                $axes, $keepdims),
            (Sinter_BroadcastOp freedom, (shape_of $total))),
        (dtype_of $x))>;

def : Decomposition<Sinter_SoftmaxOp,
    (Sinter_CastOp
        (Sinter_DivOp
            (Sinter_ExpOp:$exponential
                (Sinter_SubOp
                    (Sinter_CastOp:$wide $x, (compute_dtype $x)),
                    (Sinter_BroadcastOp (Sinter_AmaxOp $wide, $axis, true),
                                        (shape_of $x)))),
            (Sinter_BroadcastOp (Sinter_SumOp $exponential, $axis, true),
                                (shape_of $x))),
        (dtype_of $x))>;

// As softmax with a 0 more in each row.
def : Decomposition<Sinter_QuietSoftmaxOp,
    (Sinter_CastOp
        (Sinter_DivOp
            (Sinter_ExpOp:$exponential
                (Sinter_SubOp
                    (Sinter_CastOp:$wide $x, (compute_dtype $x)),
                    (Sinter_BroadcastOp
                        (Sinter_MaximumOp:$largest
                            (Sinter_AmaxOp $wide, $axis, true), "0"),
                        (shape_of $x)))),
            (Sinter_BroadcastOp
                (Sinter_AddOp (Sinter_SumOp $exponential, $axis, true),
                              (Sinter_ExpOp (Sinter_NegOp $largest))),
                (shape_of $x))),
        (dtype_of $x))>;

def : Decomposition<Sinter_LogSoftmaxOp,
    (Sinter_CastOp
        (Sinter_SubOp
            (Sinter_SubOp:$shifted
                (Sinter_CastOp:$wide $x, (compute_dtype $x)),
                (Sinter_BroadcastOp (Sinter_AmaxOp $wide, $axis, true),
                                    (shape_of $x))),
            (Sinter_BroadcastOp
                (Sinter_LogOp
                    (Sinter_SumOp (Sinter_ExpOp $shifted), $axis, true)),
                (shape_of $x))),
        (dtype_of $x))>;

def : Decomposition<Sinter_ReluOp, (Sinter_MaximumOp $x, "0")>;

def : Decomposition<Sinter_SquareOp, (Sinter_MulOp $x, $x)>;

// A bound that an integer dtype cannot hold does not bind.
def : Decomposition<Sinter_ClampOp,
    (Sinter_MinimumOp
        (Sinter_MaximumOp $x,
            (Sinter_FullOp (shape_of $x), (within $x, $min), (dtype_of $x))),
        (Sinter_FullOp (shape_of $x), (within $x, $max), (dtype_of $x)))>;

def : Decomposition<Sinter_SigmoidOp,
    (Sinter_CastOp
        (Sinter_DivOp "1",
            (Sinter_AddOp
                (Sinter_ExpOp
                    (Sinter_NegOp (Sinter_CastOp $x, (compute_dtype $x)))),
                "1")),
        (dtype_of $x))>;

def : Decomposition<Sinter_SiluOp,
    (Sinter_CastOp
        (Sinter_DivOp
            (Sinter_CastOp:$wide $x, (compute_dtype $x)),
            (Sinter_AddOp (Sinter_ExpOp (Sinter_NegOp $wide)), "1")),
        (dtype_of $x))>;

def : Decomposition<Sinter_GeluOp,
    (Sinter_CastOp
        (Sinter_MulOp
            (Sinter_MulOp (Sinter_CastOp:$wide $x, (compute_dtype $x)), "0.5"),
            (Sinter_AddOp
                (Sinter_TanhOp
                    (Sinter_MulOp
                        (Sinter_AddOp $wide,
                            (Sinter_MulOp
                                (Sinter_MulOp (Sinter_MulOp $wide, $wide),
                                              $wide),
                                "0.044715")),
                        "0.7978845608028654")),
                "1")),
        (dtype_of $x)), "tanh">;
def : Decomposition<Sinter_GeluOp,
    (Sinter_CastOp
        (Sinter_MulOp
            (Sinter_MulOp (Sinter_CastOp:$wide $x, (compute_dtype $x)), "0.5"),
            (Sinter_AddOp
                (Sinter_ErfOp (Sinter_MulOp $wide, "0.7071067811865476")),
                "1")),
        (dtype_of $x)), "none">;

def : Decomposition<Sinter_LayerNormOp,
    (Sinter_CastOp
        (Sinter_AddOp
            (Sinter_MulOp
                (Sinter_MulOp
                    Centered<(Sinter_MeanOp:$mean $wide, (last_axis $x), true),
                             (Sinter_MeanOp leftOfMean, (last_axis $x),
                                            true)>.rule,
                    (Sinter_BroadcastOp
                        (Sinter_RsqrtOp
                            (Sinter_AddOp
                                (Sinter_MeanOp
                                    (Sinter_MulOp $centered, $centered),
                                    (last_axis $x), true),
                                $eps)),
                        (shape_of $x))),
                (Sinter_BroadcastOp
                    (Sinter_CastOp $weight, (compute_dtype $x)),
                    (shape_of $x))),
            (Sinter_BroadcastOp (Sinter_CastOp $bias, (compute_dtype $x)),
                                (shape_of $x))),
        (dtype_of $x))>;

def : Decomposition<Sinter_CustomGradientOp, (identity $value)>;
def : Decomposition<Sinter_AfterOp, (identity $value)>;
def : Decomposition<Sinter_CrossEntropyOp,
    (Sinter_NegOp
        (Sinter_MeanOp
            (Sinter_GatherOp:$picked
                (Sinter_LogSoftmaxOp $logits, 1),
                (Sinter_ReshapeOp $labels, (column_shape $labels)), 1),
            (all_axes $picked), false))>;

//===----------------------------------------------------------------------===//
// Composites that move elements
//===----------------------------------------------------------------------===//

def : Decomposition<Sinter_SqueezeOp,
    (Sinter_ReshapeOp $x, (squeezed_shape $x, $axes))>;
def : Decomposition<Sinter_UnsqueezeOp,
    (Sinter_ReshapeOp $x, (unsqueezed_shape $x, $axis))>;

def : Decomposition<Sinter_IndexSelectOp,
    (Sinter_GatherOp $x,
        (Sinter_BroadcastOp
            (Sinter_ReshapeOp $indices, (along_shape $x, $indices, $axis)),
            (selected_shape $x, $indices, $axis)),
        $axis)>;
def : Decomposition<Sinter_EmbeddingOp,
    (Sinter_ReshapeOp
        (Sinter_IndexSelectOp $weight,
            (Sinter_ReshapeOp $indices, (flat_shape $indices)), 0),
        (embedded_shape $weight, $indices))>;

def : Decomposition<Sinter_DropoutOp,
    (Sinter_CastOp
        (Sinter_WhereOp
            (Sinter_CompareOp
                (Sinter_RandomUniformOp $key_low, $key_high, $counter,
                                        (shape_of $x), "f32"),
                $p, "ge"),
            (Sinter_MulOp
                (Sinter_CastOp $x, (compute_dtype $x)),
                (Sinter_FullOp (shape_of $x), (kept_scale $p),
                               (compute_dtype $x))),
            "0"),
        (dtype_of $x))>;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

def : DecompositionFn<Sinter_ConvOp, "decomposeConv">;
def : DecompositionFn<Sinter_ConvTransposeOp, "decomposeConvTranspose">;
def : DecompositionFn<Sinter_ConvWeightGradOp, "decomposeConvWeight">;
def : DecompositionFn<Sinter_MaxPoolOp, "decomposeMaxPool">;
def : DecompositionFn<Sinter_AvgPoolOp, "decomposeAvgPool">;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

// Recorded in the operands' own dtype, step by step as a user would.
defvar recordedScores =
    (Sinter_AddOp:$scores
        (Sinter_MatmulOp
            (Sinter_MulOp $query, $scale),
            (Sinter_TransposeOp $key, (swap_last_two $key))),
        (Sinter_BroadcastOp $mask, (scores_shape $query, $key)));
// The keys that causal attention lets a query see.
defvar seenKeys =
    (Sinter_CompareOp
        (Sinter_IotaOp (scores_shape $query, $key), (row_axis $query), "i32"),
        (Sinter_IotaOp (scores_shape $query, $key), (last_axis $query), "i32"),
        "ge");

/// A query that sees no key weighs none: its row has a softmax of other
/// numbers, which is not taken.
class RecordedAttention<dag scores> {
  dag body =
      (Sinter_MatmulOp
          (Sinter_WhereOp
              (Sinter_CompareOp:$hidden
                  (Sinter_BroadcastOp
                      (Sinter_AmaxOp scores, (last_axis $query), true),
                      (scores_shape $query, $key)),
                  minusInfinity, "eq"),
              "0",
              (Sinter_SoftmaxOp (Sinter_WhereOp $hidden, "0", $scores),
                                (last_axis $query))),
          $value);
}
def : Decomposition<Sinter_ScaledDotProductAttentionOp,
                    RecordedAttention<recordedScores>.body, "all">;
def : Decomposition<Sinter_ScaledDotProductAttentionOp,
    RecordedAttention<(Sinter_WhereOp:$scores seenKeys, recordedScores,
                                              minusInfinity)>.body, "causal">;

/// What a kernel of attention computes, said in other ops for the reference.
class WideScores {
  dag all =
      (Sinter_AddOp
          (Sinter_MulOp
              (Sinter_MatmulOp
                  (Sinter_CastOp $query, (compute_dtype $query)),
                  (Sinter_TransposeOp
                      (Sinter_CastOp $key, (compute_dtype $query)),
                      (swap_last_two $key))),
              $scale),
          (Sinter_BroadcastOp (Sinter_CastOp $mask, (compute_dtype $query)),
                              (scores_shape $query, $key)));
  dag causal = (Sinter_WhereOp seenKeys, all, minusInfinity);
}

/// e to the scores less `$base`, the largest of their row where it is finite;
/// their sum, which counts as 1 for a query that sees no key.
class WeightsOf<dag scores> {
  dag base =
      (Sinter_WhereOp:$base
          (Sinter_CompareOp
              (Sinter_AmaxOp:$largest scores, (last_axis $query), true),
              minusInfinity, "eq"),
          "0", $largest);
  dag weights =
      (Sinter_ExpOp:$weights
          (Sinter_SubOp scores,
              (Sinter_BroadcastOp base, (scores_shape $query, $key))));
  dag total =
      (Sinter_WhereOp
          (Sinter_CompareOp
              (Sinter_SumOp:$total weights, (last_axis $query), true),
              "0", "eq"),
          "1", $total);
}

class AttentionOf<dag scores> {
  dag body =
      (Sinter_CastOp
          (Sinter_MatmulOp
              (Sinter_DivOp WeightsOf<scores>.weights,
                  (Sinter_BroadcastOp WeightsOf<scores>.total,
                                      (scores_shape $query, $key))),
              (Sinter_CastOp $value, (compute_dtype $query))),
          (dtype_of $query));
}
def : Decomposition<Sinter_AttentionOp, AttentionOf<WideScores<>.all>.body,
                    "all">;
def : Decomposition<Sinter_AttentionOp, AttentionOf<WideScores<>.causal>.body,
                    "causal">;

class LogsumexpOf<dag scores> {
  dag body = (Sinter_AddOp WeightsOf<scores>.base,
                           (Sinter_LogOp WeightsOf<scores>.total));
}
def : Decomposition<Sinter_AttentionLogsumexpOp,
                    LogsumexpOf<WideScores<>.all>.body, "all">;
def : Decomposition<Sinter_AttentionLogsumexpOp,
                    LogsumexpOf<WideScores<>.causal>.body, "causal">;

class ProbabilitiesOf<dag scores> {
  dag body =
      (Sinter_ExpOp
          (Sinter_SubOp scores,
              (Sinter_BroadcastOp
                  (Sinter_CastOp $logsumexp, (compute_dtype $query)),
                  (scores_shape $query, $key))));
}
class ScoreGradientOf<dag scores> {
  dag body =
      (Sinter_MulOp ProbabilitiesOf<scores>.body,
          (Sinter_SubOp
              (Sinter_MatmulOp
                  (Sinter_CastOp $grad, (compute_dtype $query)),
                  (Sinter_TransposeOp
                      (Sinter_CastOp $value, (compute_dtype $query)),
                      (swap_last_two $value))),
              (Sinter_BroadcastOp
                  (Sinter_CastOp $delta, (compute_dtype $query)),
                  (scores_shape $query, $key))));
}
class AttentionGradients<dag scores> {
  dag query =
      (Sinter_CastOp
          (Sinter_MulOp
              (Sinter_MatmulOp ScoreGradientOf<scores>.body,
                  (Sinter_CastOp $key, (compute_dtype $query))),
              $factor),
          (dtype_of $query));
  dag key =
      (Sinter_CastOp
          (Sinter_MulOp
              (Sinter_MatmulOp
                  (Sinter_TransposeOp ScoreGradientOf<scores>.body,
                                      (swap_last_two $query)),
                  (Sinter_CastOp $query, (compute_dtype $query))),
              $factor),
          (dtype_of $query));
  dag value =
      (Sinter_CastOp
          (Sinter_MulOp
              (Sinter_MatmulOp
                  (Sinter_TransposeOp ProbabilitiesOf<scores>.body,
                                      (swap_last_two $query)),
                  (Sinter_CastOp $grad, (compute_dtype $query))),
              $factor),
          (dtype_of $query));
}
foreach span = ["all", "causal"] in {
  defvar scores =
      !if(!eq(span, "all"), WideScores<>.all, WideScores<>.causal);
  def : Decomposition<Sinter_AttentionQueryGradientOp,
                      AttentionGradients<scores>.query, span>;
  def : Decomposition<Sinter_AttentionKeyGradientOp,
                      AttentionGradients<scores>.key, span>;
  def : Decomposition<Sinter_AttentionValueGradientOp,
                      AttentionGradients<scores>.value, span>;
}

//===----------------------------------------------------------------------===//
// Complex operands: recorded over their parts
//===----------------------------------------------------------------------===//

def : OnComplex<Sinter_MulOp, "complexMul">;
def : OnComplex<Sinter_DivOp, "complexDiv">;
def : OnComplex<Sinter_CompareOp, "complexCompare">;
def : OnComplex<Sinter_AbsOp, "complexAbs">;
def : OnComplex<Sinter_ExpOp, "complexExp">;
def : OnComplex<Sinter_LogOp, "complexLog">;
def : OnComplex<Sinter_SqrtOp, "complexSqrt">;
def : OnComplex<Sinter_ReciprocalOp, "complexReciprocal">;
def : OnComplex<Sinter_SquareOp, "complexSquare">;
def : OnComplex<Sinter_MeanOp, "complexMean">;
