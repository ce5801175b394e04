/// What is left of a tensor without its mean: decompositions and gradients of
/// variances and norms share it.
#ifndef SINTER_CENTERED_TD
#define SINTER_CENTERED_TD

include "dialects/sinter/Ops.td"

defvar leftOfMean =
    (Sinter_SubOp $wide, (Sinter_BroadcastOp $mean, (shape_of $x)));

/// `$centered`: x in the dtype to compute in, `$wide`, less its mean. `mean`
/// defines `$mean` as that of `$wide`, kept as axes of size 1; `missing` is the
/// mean of `leftOfMean`, which the rounded mean lacks. Without it equal elements
/// would not leave 0.
class Centered<dag mean, dag missing> {
  dag rule =
      (Sinter_SubOp:$centered
          (Sinter_CastOp:$wide $x, (compute_dtype $x)),
          (Sinter_BroadcastOp (Sinter_AddOp mean, missing), (shape_of $x)));
}

/// What a variance of x over `$axes` is divided by: 0 where the correction is
/// more than the number of elements.
defvar freedom =
    (Sinter_MaximumOp
        (Sinter_SubOp
            (Sinter_ExtentOp (count_of $x, $axes), (compute_dtype $x)),
            $correction),
        "0");

#endif // SINTER_CENTERED_TD
