/// A dialect of four ops for the generator's tests.
#ifndef TEST_OPS_TD
#define TEST_OPS_TD

include "mlir/Dialect/Arith/IR/ArithOps.td"
include "mlir/Dialect/Math/IR/MathOps.td"
include "dialects/sinter/OpBase.td"

def Test_FillOp : Sinter_Source<"fill"> {
  let summary = "Every element is `value`.";
  let arguments = (ins Sinter_Dims:$shape, Sinter_Number:$value,
                       Sinter_DType:$dtype);
  let makesConstants = 1;
  let example = "fill({2}, 1, DType::f32)";
}
def Test_TimesOp : Sinter_Binary<"times"> {
  let summary = "Elementwise lhs * rhs.";
}
def Test_TotalOp : Sinter_Reduction<"total", "sum"> {
  let summary = "Sum over axes.";
  let description = [{
    In two lines, of which
    this is the second.
  }];
}
def Test_Form : Sinter_Choice<"Form", ["plain", "half"]>;
def Test_SquareOp : Sinter_Composite<"square"> {
  let summary = "x times x.";
  let arguments = (ins Sinter_Float:$x, Test_Form:$form);
  let shapeRule = "sameAsFirst";
  let shapeArguments = [];
  let defaults = ["form = Form::plain"];
  let example = "square(x)";
}

def : Names<Test_TimesOp, "mul", "">;
def : Methods<[Test_TotalOp, Test_TimesOp]>;
def : NotDifferentiable<Test_FillOp>;
def : Structured<Test_FillOp>;
def : Gradient<Test_TimesOp, [(Test_TimesOp $grad, $rhs),
                              (Test_TimesOp $grad, $lhs)]>;
def : Scalar<Test_TimesOp, (Arith_MulFOp $lhs, $rhs),
                           (Arith_MulIOp $lhs, $rhs)>;
def : GradientFn<Test_TotalOp, "totalGradient", ["x"]>;
def : Structured<Test_TotalOp>;
def : Decomposition<Test_SquareOp, (Test_TimesOp $x, $x), "plain">;
def : Decomposition<Test_SquareOp,
    (Test_TimesOp (Test_TimesOp:$twice $x, $x), "0.5"), "half">;

#endif // TEST_OPS_TD
