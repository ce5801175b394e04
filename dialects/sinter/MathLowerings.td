/// What the ops of ops/Elementwise.td, Math.td, Activations.td and Folds.td are
/// made of.
include "mlir/Dialect/Arith/IR/ArithOps.td"
include "mlir/Dialect/Math/IR/MathOps.td"
include "dialects/sinter/Ops.td"

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

// An integer is rounded.
defvar unchanged = (Arith_AddIOp $x, (literal "0"));
def : Scalar<Sinter_FloorOp, (Math_FloorOp $x), unchanged>;
def : Scalar<Sinter_CeilOp, (Math_CeilOp $x), unchanged>;
def : Scalar<Sinter_TruncOp, (Math_TruncOp $x), unchanged>;
def : Scalar<Sinter_RoundOp, (Math_RoundEvenOp $x), unchanged>;
def : Scalar<Sinter_Exp2Op, (Math_Exp2Op $x)>;
def : Scalar<Sinter_Expm1Op, (Math_ExpM1Op $x)>;
def : Scalar<Sinter_Log2Op, (Math_Log2Op $x)>;
def : Scalar<Sinter_Log10Op, (Math_Log10Op $x)>;
def : Scalar<Sinter_Log1pOp, (Math_Log1pOp $x)>;
def : Scalar<Sinter_AtanOp, (Math_AtanOp $x)>;
def : Scalar<Sinter_ErfcOp, (Math_ErfcOp $x)>;
def : ScalarFn<Sinter_ErfinvOp, "emitInverseErf">;
def : ScalarFn<Sinter_LgammaOp, "emitLogGamma">;
def : ScalarFn<Sinter_DigammaOp, "emitDigamma">;
def : ScalarFn<Sinter_PolygammaOp, "emitPolygamma">;
def : ScalarFn<Sinter_PowOp, "emitPower">;
def : Scalar<Sinter_Atan2Op, (Math_Atan2Op $lhs, $rhs)>;
def : ScalarFn<Sinter_CopysignOp, "emitCopySign">;
def : ScalarFn<Sinter_FmodOp, "emitRemainder">;

def : Scalar<Sinter_BitwiseAndOp, (unsupported), (Arith_AndIOp $lhs, $rhs),
             (Arith_AndIOp $lhs, $rhs), (Arith_AndIOp $lhs, $rhs)>;
def : Scalar<Sinter_BitwiseOrOp, (unsupported), (Arith_OrIOp $lhs, $rhs),
             (Arith_OrIOp $lhs, $rhs), (Arith_OrIOp $lhs, $rhs)>;
def : Scalar<Sinter_BitwiseXorOp, (unsupported), (Arith_XOrIOp $lhs, $rhs),
             (Arith_XOrIOp $lhs, $rhs), (Arith_XOrIOp $lhs, $rhs)>;
defvar complement = (Arith_XOrIOp $x, (literal "-1"));
def : Scalar<Sinter_BitwiseNotOp, (unsupported), complement, complement,
             complement>;
def : ScalarFn<Sinter_ShiftLeftOp, "emitShiftLeft">;
def : ScalarFn<Sinter_ShiftRightOp, "emitShiftRight">;

//===----------------------------------------------------------------------===//
// Composites of one operand: computed in f32 for f16 and bf16
//===----------------------------------------------------------------------===//

defvar wide = (Sinter_CastOp $x, (compute_dtype $x));
class Narrow<dag body> { dag rule = (Sinter_CastOp body, (dtype_of $x)); }
defvar magnitude = (Sinter_AbsOp wide);

// 1 or 0 first: Mesa (seen in 22.3) makes of -1 or 0 a -0.
def : Decomposition<Sinter_SignOp,
    (Sinter_WhereOp (Sinter_CompareOp $x, "0", "lt"),
        (Sinter_FullOp (shape_of $x), "-1", (dtype_of $x)),
        (Sinter_WhereOp (Sinter_CompareOp $x, "0", "gt"),
            (Sinter_FullOp (shape_of $x), "1", (dtype_of $x)),
            (Sinter_FullOp (shape_of $x), "0", (dtype_of $x))))>;
def : Decomposition<Sinter_ReciprocalOp, (Sinter_DivOp "1", $x)>;
def : Decomposition<Sinter_FracOp, (Sinter_SubOp $x, (Sinter_TruncOp $x))>;
def : Decomposition<Sinter_Deg2radOp,
    (Sinter_MulOp $x, "0.017453292519943295")>;
def : Decomposition<Sinter_Rad2degOp, (Sinter_MulOp $x, "57.29577951308232")>;

def : Decomposition<Sinter_TanOp,
    Narrow<(Sinter_DivOp (Sinter_SinOp wide), (Sinter_CosOp wide))>.rule>;
def : Decomposition<Sinter_AsinOp,
    Narrow<(Sinter_MulOp
        (Sinter_AtanOp
            (Sinter_DivOp wide,
                (Sinter_AddOp
                    (Sinter_SqrtOp
                        (Sinter_MulOp (Sinter_SubOp "1", wide),
                                      (Sinter_AddOp "1", wide))),
                    "1"))),
        "2")>.rule>;
def : Decomposition<Sinter_AcosOp,
    Narrow<(Sinter_MulOp
        (Sinter_AtanOp
            (Sinter_SqrtOp
                (Sinter_DivOp (Sinter_SubOp "1", wide),
                              (Sinter_AddOp "1", wide)))),
        "2")>.rule>;

// Where e^-|x| no longer counts; half of e^|x|, by its square root.
defvar isLarge = (Sinter_CompareOp magnitude, "20", "gt");
defvar root = (Sinter_ExpOp (Sinter_MulOp magnitude, "0.5"));
defvar halfPower = (Sinter_MulOp (Sinter_MulOp root, "0.5"), root);
def : Decomposition<Sinter_SinhOp,
    Narrow<(Sinter_CopysignOp
        (Sinter_WhereOp isLarge, halfPower,
            (Sinter_MulOp
                (Sinter_AddOp
                    (Sinter_Expm1Op:$less magnitude),
                    (Sinter_DivOp $less, (Sinter_AddOp $less, "1"))),
                "0.5")),
        wide)>.rule>;
def : Decomposition<Sinter_CoshOp,
    Narrow<(Sinter_WhereOp isLarge, halfPower,
        (Sinter_MulOp
            (Sinter_AddOp
                (Sinter_ExpOp:$power magnitude),
                (Sinter_DivOp "1", $power)),
            "0.5"))>.rule>;

// Where the square would overflow: log(2 |x|).
defvar isHuge = (Sinter_CompareOp magnitude, "1e8", "gt");
defvar logOfTwice = (Sinter_AddOp (Sinter_LogOp magnitude),
                                  "0.6931471805599453");
def : Decomposition<Sinter_AsinhOp,
    Narrow<(Sinter_CopysignOp
        (Sinter_WhereOp isHuge, logOfTwice,
            (Sinter_Log1pOp
                (Sinter_AddOp magnitude,
                    (Sinter_DivOp
                        (Sinter_MulOp:$square wide, wide),
                        (Sinter_AddOp
                            (Sinter_SqrtOp (Sinter_AddOp $square, "1")),
                            "1"))))),
        wide)>.rule>;
def : Decomposition<Sinter_AcoshOp,
    Narrow<(Sinter_WhereOp (Sinter_CompareOp wide, "1e8", "gt"), logOfTwice,
        (Sinter_Log1pOp
            (Sinter_AddOp
                (Sinter_SubOp:$above wide, "1"),
                (Sinter_SqrtOp
                    (Sinter_MulOp $above,
                                  (Sinter_AddOp $above, "2"))))))>.rule>;
def : Decomposition<Sinter_AtanhOp,
    Narrow<(Sinter_CopysignOp
        (Sinter_MulOp
            (Sinter_Log1pOp
                (Sinter_DivOp (Sinter_AddOp magnitude, magnitude),
                              (Sinter_SubOp "1", magnitude))),
            "0.5"),
        wide)>.rule>;

def : Decomposition<Sinter_SincOp,
    Narrow<(Sinter_WhereOp (Sinter_CompareOp wide, "0", "eq"),
        (Sinter_FullOp (shape_of $x), "1", (compute_dtype $x)),
        (Sinter_DivOp
            (Sinter_SinOp (Sinter_MulOp:$angle wide, "3.141592653589793")),
            $angle))>.rule>;
def : Decomposition<Sinter_NanToNumOp,
    (Sinter_WhereOp (Sinter_CompareOp $x, $x, "ne"), $nan,
        (Sinter_WhereOp (Sinter_CompareOp $x, infinity, "eq"), $posinf,
            (Sinter_WhereOp (Sinter_CompareOp $x, minusInfinity, "eq"),
                            $neginf, $x)))>;

def : Decomposition<Sinter_IsnanOp, (Sinter_CompareOp $x, $x, "ne")>;
def : Decomposition<Sinter_IsinfOp,
    (Sinter_CompareOp (Sinter_AbsOp $x), infinity, "eq")>;
def : Decomposition<Sinter_IsfiniteOp,
    (Sinter_CompareOp (Sinter_AbsOp $x), infinity, "lt")>;
def : Decomposition<Sinter_SignbitOp,
    (Sinter_CompareOp
        (Sinter_CopysignOp (Sinter_FullOp (shape_of $x), "1", (dtype_of $x)),
                           $x),
        "0", "lt")>;
def : Decomposition<Sinter_LogicalNotOp, (Sinter_CompareOp $x, "0", "eq")>;

//===----------------------------------------------------------------------===//
// Composites of two operands
//===----------------------------------------------------------------------===//

defvar leftHolds = (Sinter_CompareOp $lhs, "0", "ne");
defvar rightHolds = (Sinter_CompareOp $rhs, "0", "ne");
def : Decomposition<Sinter_LogicalAndOp, (Sinter_MulOp leftHolds, rightHolds)>;
def : Decomposition<Sinter_LogicalOrOp, (Sinter_AddOp leftHolds, rightHolds)>;
def : Decomposition<Sinter_LogicalXorOp,
    (Sinter_CompareOp leftHolds, rightHolds, "ne")>;

defvar leftIsNan = (Sinter_CompareOp $lhs, $lhs, "ne");
defvar rightIsNan = (Sinter_CompareOp $rhs, $rhs, "ne");
def : Decomposition<Sinter_FmaxOp,
    (Sinter_WhereOp rightIsNan, $lhs,
        (Sinter_WhereOp leftIsNan, $rhs, (Sinter_MaximumOp $lhs, $rhs)))>;
def : Decomposition<Sinter_FminOp,
    (Sinter_WhereOp rightIsNan, $lhs,
        (Sinter_WhereOp leftIsNan, $rhs, (Sinter_MinimumOp $lhs, $rhs)))>;

// Whether the quotient was rounded up, away from where it is to go.
defvar restHasOtherSign =
    (Sinter_MulOp
        (Sinter_CompareOp (Sinter_FmodOp:$rest $lhs, $rhs), "0", "ne"),
        (Sinter_CompareOp (Sinter_CompareOp $rest, "0", "lt"),
                          (Sinter_CompareOp $rhs, "0", "lt"), "ne"));
def : Decomposition<Sinter_RemainderOp,
    (Sinter_WhereOp restHasOtherSign, (Sinter_AddOp $rest, $rhs), $rest)>;
// What remains is taken away first, so that the quotient is nearly an integer:
// what has the sign of `lhs`, as integers overflow nowhere then.
def : Decomposition<Sinter_FloorDivideOp,
    (Sinter_WhereOp (Sinter_CompareOp $rhs, "0", "eq"),
        (Sinter_DivOp $lhs, $rhs),
        (Sinter_WhereOp restHasOtherSign,
            (Sinter_SubOp
                (Sinter_RoundOp:$whole
                    (Sinter_DivOp (Sinter_SubOp $lhs, $rest), $rhs)),
                "1"),
            $whole))>;

// Of two operands; `lhs` speaks for both dtypes.
defvar wideLeft = (Sinter_CastOp $lhs, (compute_dtype $lhs));
defvar wideRight = (Sinter_CastOp $rhs, (compute_dtype $lhs));
class NarrowPair<dag body> { dag rule = (Sinter_CastOp body, (dtype_of $lhs)); }
defvar larger = (Sinter_MaximumOp (Sinter_AbsOp wideLeft),
                                  (Sinter_AbsOp wideRight));
defvar smaller = (Sinter_MinimumOp (Sinter_AbsOp wideLeft),
                                   (Sinter_AbsOp wideRight));
def : Decomposition<Sinter_HypotOp,
    NarrowPair<(Sinter_WhereOp
        (Sinter_AddOp (Sinter_CompareOp (Sinter_AbsOp wideLeft), infinity, "eq"),
                      (Sinter_CompareOp (Sinter_AbsOp wideRight), infinity,
                                        "eq")),
        infinity,
        (Sinter_WhereOp (Sinter_CompareOp larger, "0", "eq"), larger,
            (Sinter_MulOp larger,
                (Sinter_SqrtOp
                    (Sinter_AddOp
                        (Sinter_MulOp (Sinter_DivOp:$ratio smaller, larger),
                                      $ratio),
                        "1")))))>.rule>;
// Equal infinities have no difference.
def : Decomposition<Sinter_LogaddexpOp,
    NarrowPair<(Sinter_WhereOp
        (Sinter_CompareOp wideLeft, wideRight, "eq"),
        (Sinter_AddOp wideLeft, "0.6931471805599453"),
        (Sinter_AddOp (Sinter_MaximumOp wideLeft, wideRight),
            (Sinter_Log1pOp
                (Sinter_ExpOp
                    (Sinter_NegOp
                        (Sinter_AbsOp
                            (Sinter_SubOp wideLeft, wideRight)))))))>.rule>;
def : Decomposition<Sinter_XlogyOp,
    NarrowPair<(Sinter_WhereOp rightIsNan, wideRight,
        (Sinter_WhereOp (Sinter_CompareOp $lhs, "0", "eq"), "0",
            (Sinter_MulOp wideLeft, (Sinter_LogOp wideRight))))>.rule>;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

// log(1 + e^-|x|)
class SoftBend<dag x> {
  dag rule = (Sinter_Log1pOp
      (Sinter_ExpOp (Sinter_NegOp (Sinter_AbsOp x))));
}
def : Decomposition<Sinter_LogsigmoidOp,
    Narrow<(Sinter_SubOp (Sinter_MinimumOp wide, "0"),
                         SoftBend<wide>.rule)>.rule>;
defvar steep = (Sinter_MulOp wide, $beta);
def : Decomposition<Sinter_SoftplusOp,
    Narrow<(Sinter_WhereOp (Sinter_CompareOp steep, $threshold, "gt"), wide,
        (Sinter_DivOp
            (Sinter_AddOp (Sinter_MaximumOp steep, "0"),
                          SoftBend<steep>.rule),
            $beta))>.rule>;
def : Decomposition<Sinter_MishOp,
    Narrow<(Sinter_MulOp wide,
        (Sinter_TanhOp (Sinter_SoftplusOp wide, "1", "20")))>.rule>;
def : Decomposition<Sinter_SoftsignOp,
    Narrow<(Sinter_DivOp wide, (Sinter_AddOp magnitude, "1"))>.rule>;
def : Decomposition<Sinter_TanhshrinkOp,
    Narrow<(Sinter_SubOp wide, (Sinter_TanhOp wide))>.rule>;
defvar isPositive = (Sinter_CompareOp $x, "0", "gt");
def : Decomposition<Sinter_EluOp,
    Narrow<(Sinter_WhereOp isPositive, wide,
        (Sinter_MulOp (Sinter_Expm1Op wide), $alpha))>.rule>;
def : Decomposition<Sinter_SeluOp,
    Narrow<(Sinter_MulOp (Sinter_EluOp wide, "1.6732632423543772"),
                         "1.0507009873554805")>.rule>;
def : Decomposition<Sinter_CeluOp,
    Narrow<(Sinter_WhereOp isPositive, wide,
        (Sinter_MulOp (Sinter_Expm1Op (Sinter_DivOp wide, $alpha)),
                      $alpha))>.rule>;
def : Decomposition<Sinter_LeakyReluOp,
    (Sinter_WhereOp isPositive, $x, (Sinter_MulOp $x, $negative_slope))>;
def : Decomposition<Sinter_HardtanhOp,
    (Sinter_MinimumOp (Sinter_MaximumOp $x, $min), $max)>;
def : Decomposition<Sinter_Relu6Op, (Sinter_HardtanhOp $x, "0", "6")>;
defvar hardGate = (Sinter_Relu6Op (Sinter_AddOp wide, "3"));
def : Decomposition<Sinter_HardsigmoidOp,
    Narrow<(Sinter_DivOp hardGate, "6")>.rule>;
def : Decomposition<Sinter_HardswishOp,
    Narrow<(Sinter_DivOp (Sinter_MulOp wide, hardGate), "6")>.rule>;
def : Decomposition<Sinter_HardshrinkOp,
    (Sinter_WhereOp (Sinter_CompareOp (Sinter_AbsOp $x), $lambda, "le"), "0",
                    $x)>;
def : Decomposition<Sinter_SoftshrinkOp,
    (Sinter_WhereOp (Sinter_CompareOp (Sinter_AbsOp $x), $lambda, "le"), "0",
        (Sinter_SubOp $x,
            (Sinter_CopysignOp
                (Sinter_FullOp (shape_of $x), $lambda, (dtype_of $x)), $x)))>;
def : Decomposition<Sinter_ThresholdOp,
    (Sinter_WhereOp (Sinter_CompareOp $x, $bound, "le"), $value, $x)>;

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

def : Structured<Sinter_ProdOp>;
def : Structured<Sinter_ArgminOp>;
def : Structured<Sinter_CumprodOp>;
def : Structured<Sinter_CummaxOp>;
def : Structured<Sinter_CumminOp>;
def : Structured<Sinter_LogcumsumexpOp>;
def : Structured<Sinter_ScatterOp>;
def : Structured<Sinter_ScatterProdOp>;
def : Structured<Sinter_ScatterAmaxOp>;
def : Structured<Sinter_ScatterAminOp>;

// bool is summed in i64.
def : Decomposition<Sinter_CountNonzeroOp,
    (Sinter_SumOp (Sinter_CompareOp $x, "0", "ne"), $axes, $keepdims)>;
def : Decomposition<Sinter_AnyOp,
    (Sinter_CompareOp (Sinter_CountNonzeroOp $x, $axes, $keepdims), "0", "ne")>;
def : Decomposition<Sinter_AllOp,
    (Sinter_CompareOp
        (Sinter_SumOp (Sinter_CompareOp $x, "0", "eq"), $axes, $keepdims), "0",
        "eq")>;
// Relative to the largest; where that is infinite, to 0.
defvar largest = (Sinter_AmaxOp wide, $axes, true);
defvar reference =
    (Sinter_WhereOp (Sinter_CompareOp (Sinter_AbsOp largest), infinity, "eq"),
                    "0", largest);
def : Decomposition<Sinter_LogsumexpOp,
    Narrow<(Sinter_AddOp
        (Sinter_LogOp:$log
            (Sinter_SumOp
                (Sinter_ExpOp
                    (Sinter_SubOp wide,
                        (Sinter_BroadcastOp reference, (shape_of $x)))),
                $axes, $keepdims)),
        (Sinter_ReshapeOp reference, (shape_of $log)))>.rule>;
def : Decomposition<Sinter_VectorNormOp,
    Narrow<(Sinter_SqrtOp
        (Sinter_SumOp (Sinter_MulOp wide, wide), $axes, $keepdims))>.rule>;
