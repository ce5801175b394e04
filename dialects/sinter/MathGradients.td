/// How the ops of ops/Elementwise.td, Math.td, Activations.td and Folds.td
/// are differentiated; those without a record are through their decomposition.
include "dialects/sinter/Ops.td"

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

defvar noChange = (Sinter_FullOp (shape_of $x), "0", (dtype_of $x));
def : Gradient<Sinter_FloorOp, [noChange]>;
def : Gradient<Sinter_CeilOp, [noChange]>;
def : Gradient<Sinter_TruncOp, [noChange]>;
def : Gradient<Sinter_RoundOp, [noChange]>;
def : Gradient<Sinter_SignOp, [noChange]>;
def : Gradient<Sinter_Exp2Op, [
    (Sinter_MulOp $grad, (Sinter_MulOp $result, "0.6931471805599453"))]>;
def : Gradient<Sinter_Expm1Op, [
    (Sinter_MulOp $grad, (Sinter_AddOp $result, "1"))]>;
def : Gradient<Sinter_Log2Op, [
    (Sinter_DivOp $grad, (Sinter_MulOp $x, "0.6931471805599453"))]>;
def : Gradient<Sinter_Log10Op, [
    (Sinter_DivOp $grad, (Sinter_MulOp $x, "2.302585092994046"))]>;
def : Gradient<Sinter_Log1pOp, [
    (Sinter_DivOp $grad, (Sinter_AddOp $x, "1"))]>;
def : Gradient<Sinter_AtanOp, [
    (Sinter_DivOp $grad, (Sinter_AddOp (Sinter_MulOp $x, $x), "1"))]>;
// -2 / sqrt(pi) * e^(-x^2)
def : Gradient<Sinter_ErfcOp, [
    (Sinter_MulOp $grad,
        (Sinter_MulOp (Sinter_ExpOp (Sinter_NegOp (Sinter_MulOp $x, $x))),
                      "-1.1283791670955126"))]>;
// sqrt(pi) / 2 * e^(y^2)
def : Gradient<Sinter_ErfinvOp, [
    (Sinter_MulOp $grad,
        (Sinter_MulOp (Sinter_ExpOp (Sinter_MulOp $result, $result)),
                      "0.886226925452758"))]>;
def : Gradient<Sinter_LgammaOp, [
    (Sinter_MulOp $grad, (Sinter_DigammaOp $x))]>;
def : Gradient<Sinter_DigammaOp, [
    (Sinter_MulOp $grad, (Sinter_PolygammaOp $x, 1))]>;
def : Gradient<Sinter_PolygammaOp, [
    (Sinter_MulOp $grad, (Sinter_PolygammaOp $x, (next $order)))]>;
// y x^(y - 1) and x^y log x, which are 0 where the factor before is.
def : Gradient<Sinter_PowOp, [
    (Sinter_WhereOp (Sinter_CompareOp $rhs, "0", "eq"), "0",
        (Sinter_MulOp $grad,
            (Sinter_MulOp $rhs,
                (Sinter_PowOp $lhs, (Sinter_SubOp $rhs, "1"))))),
    (Sinter_WhereOp
        (Sinter_MulOp (Sinter_CompareOp $lhs, "0", "eq"),
                      (Sinter_CompareOp $rhs, "0", "ge")), "0",
        (Sinter_MulOp $grad, (Sinter_MulOp $result, (Sinter_LogOp $lhs))))]>;
defvar squares = (Sinter_AddOp (Sinter_MulOp $lhs, $lhs),
                               (Sinter_MulOp $rhs, $rhs));
def : Gradient<Sinter_Atan2Op, [
    (Sinter_MulOp $grad, (Sinter_DivOp $rhs, squares)),
    (Sinter_NegOp (Sinter_MulOp $grad, (Sinter_DivOp $lhs, squares)))]>;
def : Gradient<Sinter_CopysignOp, [
    (Sinter_WhereOp (Sinter_CompareOp $lhs, "0", "eq"), "0",
        (Sinter_MulOp $grad, (Sinter_DivOp $result, $lhs))),
    (none)]>;
def : Gradient<Sinter_FmodOp, [
    (identity $grad),
    (Sinter_NegOp
        (Sinter_MulOp $grad, (Sinter_TruncOp (Sinter_DivOp $lhs, $rhs))))]>;
def : NotDifferentiable<Sinter_BitwiseAndOp>;
def : NotDifferentiable<Sinter_BitwiseOrOp>;
def : NotDifferentiable<Sinter_BitwiseXorOp>;
def : NotDifferentiable<Sinter_BitwiseNotOp>;
def : NotDifferentiable<Sinter_ShiftLeftOp>;
def : NotDifferentiable<Sinter_ShiftRightOp>;

//===----------------------------------------------------------------------===//
// Composites of one operand
//===----------------------------------------------------------------------===//

def : Gradient<Sinter_ReciprocalOp, [
    (Sinter_NegOp (Sinter_MulOp $grad, (Sinter_MulOp $result, $result)))]>;
def : Gradient<Sinter_FracOp, [(identity $grad)]>;
def : Gradient<Sinter_TanOp, [
    (Sinter_MulOp $grad, (Sinter_AddOp (Sinter_MulOp $result, $result), "1"))]>;
// (1 - x) (1 + x)
defvar remaining = (Sinter_MulOp (Sinter_SubOp "1", $x), (Sinter_AddOp "1", $x));
def : Gradient<Sinter_AsinOp, [
    (Sinter_MulOp $grad, (Sinter_RsqrtOp remaining))]>;
def : Gradient<Sinter_AcosOp, [
    (Sinter_NegOp (Sinter_MulOp $grad, (Sinter_RsqrtOp remaining)))]>;
def : Gradient<Sinter_AtanhOp, [(Sinter_DivOp $grad, remaining)]>;
def : Gradient<Sinter_SinhOp, [(Sinter_MulOp $grad, (Sinter_CoshOp $x))]>;
def : Gradient<Sinter_CoshOp, [(Sinter_MulOp $grad, (Sinter_SinhOp $x))]>;
def : Gradient<Sinter_AsinhOp, [
    (Sinter_MulOp $grad,
        (Sinter_RsqrtOp (Sinter_AddOp (Sinter_MulOp $x, $x), "1")))]>;
def : Gradient<Sinter_AcoshOp, [
    (Sinter_MulOp $grad,
        (Sinter_RsqrtOp
            (Sinter_MulOp (Sinter_SubOp $x, "1"), (Sinter_AddOp $x, "1"))))]>;
def : Gradient<Sinter_SincOp, [
    (Sinter_WhereOp (Sinter_CompareOp $x, "0", "eq"), "0",
        (Sinter_MulOp $grad,
            (Sinter_DivOp
                (Sinter_SubOp
                    (Sinter_CosOp (Sinter_MulOp $x, "3.141592653589793")),
                    $result),
                $x)))]>;

//===----------------------------------------------------------------------===//
// Composites of two operands
//===----------------------------------------------------------------------===//

// Where both are equal, all goes to the left one.
class Chosen<string predicate> {
  dag left = (Sinter_AddOp (Sinter_CompareOp $lhs, $rhs, predicate),
                           (Sinter_CompareOp $rhs, $rhs, "ne"));
}
def : Gradient<Sinter_FmaxOp, [
    (Sinter_WhereOp Chosen<"ge">.left, $grad, "0"),
    (Sinter_WhereOp Chosen<"ge">.left, "0", $grad)]>;
def : Gradient<Sinter_FminOp, [
    (Sinter_WhereOp Chosen<"le">.left, $grad, "0"),
    (Sinter_WhereOp Chosen<"le">.left, "0", $grad)]>;
def : Gradient<Sinter_RemainderOp, [
    (identity $grad),
    (Sinter_NegOp (Sinter_MulOp $grad, (Sinter_FloorDivideOp $lhs, $rhs)))]>;
def : NotDifferentiable<Sinter_FloorDivideOp>;
defvar noLength = (Sinter_CompareOp $result, "0", "eq");
def : Gradient<Sinter_HypotOp, [
    (Sinter_WhereOp noLength, "0",
        (Sinter_MulOp $grad, (Sinter_DivOp $lhs, $result))),
    (Sinter_WhereOp noLength, "0",
        (Sinter_MulOp $grad, (Sinter_DivOp $rhs, $result)))]>;
// Equal infinities have no difference.
defvar areOneInfinity =
    (Sinter_MulOp (Sinter_CompareOp $lhs, $rhs, "eq"),
                  (Sinter_CompareOp (Sinter_AbsOp $lhs), infinity, "eq"));
class ShareOf<dag difference> {
  dag rule = (Sinter_MulOp $grad,
      (Sinter_SigmoidOp (Sinter_WhereOp areOneInfinity, "0", difference)));
}
def : Gradient<Sinter_LogaddexpOp, [
    ShareOf<(Sinter_SubOp $lhs, $rhs)>.rule,
    ShareOf<(Sinter_SubOp $rhs, $lhs)>.rule]>;
def : Gradient<Sinter_XlogyOp, [
    (Sinter_WhereOp
        (Sinter_MulOp (Sinter_CompareOp $lhs, "0", "eq"),
                      (Sinter_CompareOp $rhs, "0", "le")), "0",
        (Sinter_MulOp $grad, (Sinter_LogOp $rhs))),
    (Sinter_MulOp $grad, (Sinter_DivOp $lhs, $rhs))]>;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

// What is not chosen must be finite: it is multiplied by 0 in a derivative of
// higher order.
defvar notAbove = (Sinter_MinimumOp $x, "0");
defvar positive = (Sinter_CompareOp $x, "0", "gt");
def : Gradient<Sinter_LogsigmoidOp, [
    (Sinter_MulOp $grad, (Sinter_SigmoidOp (Sinter_NegOp $x)))]>;
def : Gradient<Sinter_SoftplusOp, [
    (Sinter_WhereOp
        (Sinter_CompareOp (Sinter_MulOp:$scaled $x, $beta), $threshold, "gt"),
        $grad, (Sinter_MulOp $grad, (Sinter_SigmoidOp $scaled)))]>;
def : Gradient<Sinter_SoftsignOp, [
    (Sinter_DivOp $grad,
        (Sinter_SquareOp (Sinter_AddOp (Sinter_AbsOp $x), "1")))]>;
def : Gradient<Sinter_TanhshrinkOp, [
    (Sinter_MulOp $grad, (Sinter_SquareOp (Sinter_TanhOp $x)))]>;
def : Gradient<Sinter_EluOp, [
    (Sinter_WhereOp positive, $grad,
        (Sinter_MulOp $grad, (Sinter_MulOp (Sinter_ExpOp notAbove), $alpha)))]>;
def : Gradient<Sinter_CeluOp, [
    (Sinter_WhereOp positive, $grad,
        (Sinter_MulOp $grad, (Sinter_ExpOp (Sinter_DivOp notAbove, $alpha))))]>;
def : Gradient<Sinter_LeakyReluOp, [
    (Sinter_WhereOp positive, $grad, (Sinter_MulOp $grad, $negative_slope))]>;
def : Gradient<Sinter_HardtanhOp, [
    (Sinter_WhereOp
        (Sinter_MulOp (Sinter_CompareOp $x, $min, "gt"),
                      (Sinter_CompareOp $x, $max, "lt")), $grad, "0")]>;
def : Gradient<Sinter_HardswishOp, [
    (Sinter_WhereOp (Sinter_CompareOp $x, "-3", "lt"), "0",
        (Sinter_WhereOp (Sinter_CompareOp $x, "3", "gt"), $grad,
            (Sinter_MulOp $grad,
                (Sinter_AddOp (Sinter_DivOp $x, "3"), "0.5"))))]>;
def : Gradient<Sinter_SoftshrinkOp, [
    (Sinter_WhereOp (Sinter_CompareOp (Sinter_AbsOp $x), $lambda, "le"), "0",
                    $grad)]>;

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

// The product of all others: of what is not 0 where one element only is, which
// is that one's.
class Spread<dag reduced> {
  dag rule = (Sinter_BroadcastOp (Sinter_ReshapeOp reduced,
                                                   (kept_shape $x, $axes)),
                                 (shape_of $x));
}
defvar isZero = (Sinter_CompareOp $x, "0", "eq");
defvar filled = (Sinter_WhereOp isZero, "1", $x);
defvar zeros = Spread<(Sinter_SumOp isZero, $axes, true)>.rule;
def : Gradient<Sinter_ProdOp, [
    (Sinter_MulOp Spread<(identity $grad)>.rule,
        (Sinter_WhereOp (Sinter_CompareOp zeros, "0", "eq"),
            (Sinter_DivOp Spread<(identity $result)>.rule, filled),
            (Sinter_WhereOp
                (Sinter_MulOp (Sinter_CompareOp zeros, "1", "eq"), isZero),
                Spread<(Sinter_ProdOp filled, $axes, true)>.rule, "0")))]>;
def : NotDifferentiable<Sinter_ArgminOp>;

// As for prod, up to each position: before the first 0, at it, and beyond.
defvar zerosSoFar = (Sinter_CumsumOp isZero, $axis, $reverse);
defvar isFirstZero = (Sinter_MulOp isZero,
                                   (Sinter_CompareOp zerosSoFar, "1", "eq"));
class SumFrom<dag products> {
  dag rule = (Sinter_CumsumOp (Sinter_MulOp $grad, products), $axis,
                              (not $reverse));
}
def : Gradient<Sinter_CumprodOp, [
    (Sinter_WhereOp (Sinter_CompareOp zerosSoFar, "0", "eq"),
        (Sinter_DivOp SumFrom<(identity $result)>.rule, filled),
        (Sinter_WhereOp isFirstZero,
            SumFrom<(Sinter_CumprodOp
                (Sinter_WhereOp isFirstZero, "1", $x), $axis, $reverse)>.rule,
            "0"))]>;

def : GradientFn<Sinter_CummaxOp, "prefixExtremumGradient", ["x", "result"]>;
def : GradientFn<Sinter_CumminOp, "prefixExtremumGradient", ["x", "result"]>;

def : GradientFn<Sinter_LogcumsumexpOp, "logcumsumexpGradient", ["x", "result"]>;

// Which updates stay: their positions, put where they go, come back.
defvar ownPosition = (Sinter_IotaOp (shape_of $updates), $axis, "i64");
defvar stays = (Sinter_CompareOp ownPosition,
    (Sinter_GatherOp
        (Sinter_ScatterOp (Sinter_FullOp (shape_of $x), "0", "i64"), $indices,
                          ownPosition, $axis),
        $indices, $axis), "eq");
def : Gradient<Sinter_ScatterOp, [
    (Sinter_ScatterOp $grad, $indices,
        (Sinter_FullOp (shape_of $updates), "0", (dtype_of $updates)), $axis),
    (none),
    (Sinter_WhereOp stays, (Sinter_GatherOp $grad, $indices, $axis), "0")]>;
// The product of all others, as for prod.
defvar isZeroUpdate = (Sinter_CompareOp $updates, "0", "eq");
defvar filledUpdates = (Sinter_WhereOp isZeroUpdate, "1", $updates);
defvar zeroUpdates =
    (Sinter_GatherOp
        (Sinter_ScatterAddOp (Sinter_FullOp (shape_of $x), "0", "i64"),
            $indices, (Sinter_CastOp isZeroUpdate, "i64"), $axis),
        $indices, $axis);
defvar filledProduct =
    (Sinter_GatherOp (Sinter_ScatterProdOp $x, $indices, filledUpdates, $axis),
                     $indices, $axis);
def : Gradient<Sinter_ScatterProdOp, [
    (Sinter_MulOp $grad,
        (Sinter_ScatterProdOp
            (Sinter_FullOp (shape_of $x), "1", (dtype_of $x)), $indices,
            $updates, $axis)),
    (none),
    (Sinter_MulOp (Sinter_GatherOp $grad, $indices, $axis),
        (Sinter_WhereOp (Sinter_CompareOp zeroUpdates, "0", "eq"),
            (Sinter_DivOp filledProduct, filledUpdates),
            (Sinter_WhereOp
                (Sinter_MulOp (Sinter_CompareOp zeroUpdates, "1", "eq"),
                              isZeroUpdate),
                filledProduct, "0")))]>;
// Shared evenly by x and the updates that are the result.
defvar isKept = (Sinter_CompareOp $x, $result, "eq");
defvar isTaken = (Sinter_CompareOp $updates,
    (Sinter_GatherOp $result, $indices, $axis), "eq");
defvar share =
    (Sinter_DivOp $grad,
        (Sinter_ScatterAddOp (Sinter_CastOp isKept, (dtype_of $x)), $indices,
            (Sinter_CastOp isTaken, (dtype_of $x)), $axis));
foreach op = [Sinter_ScatterAmaxOp, Sinter_ScatterAminOp] in
  def : Gradient<op, [
      (Sinter_WhereOp isKept, share, "0"), (none),
      (Sinter_WhereOp isTaken, (Sinter_GatherOp share, $indices, $axis),
                      "0")]>;

// Where all elements are -inf, nothing flows.
def : Gradient<Sinter_LogsumexpOp, [
    (Sinter_MulOp Spread<(identity $grad)>.rule,
        (Sinter_ExpOp
            (Sinter_SubOp $x,
                Spread<(Sinter_WhereOp
                    (Sinter_CompareOp $result, minusInfinity, "eq"), "0",
                    $result)>.rule)))]>;
def : Gradient<Sinter_VectorNormOp, [
    (Sinter_WhereOp (Sinter_CompareOp Spread<(identity $result)>.rule, "0", "eq"),
        "0",
        (Sinter_MulOp $x,
            Spread<(Sinter_DivOp $grad, $result)>.rule))]>;
