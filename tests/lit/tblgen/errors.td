// Each incomplete or contradictory set of records stops at the line of the op
// or the rule.
//
// RUN: not sinter-tblgen --docs -D NO_GRADIENT %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-GRADIENT
// RUN: not sinter-tblgen --docs -D TWO_GRADIENTS %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWO-GRADIENTS
// RUN: not sinter-tblgen --docs -D NO_BODY %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-BODY
// RUN: not sinter-tblgen --docs -D NO_LOWERING %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-LOWERING
// RUN: not sinter-tblgen --docs -D TWO_LOWERINGS %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWO-LOWERINGS
// RUN: not sinter-tblgen --docs -D NO_EXAMPLE %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-EXAMPLE
// RUN: not sinter-tblgen --docs -D NO_SUMMARY %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-SUMMARY
// RUN: not sinter-tblgen --docs -D NO_CHOICE %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-CHOICE
// RUN: not sinter-tblgen --docs -D NO_DEFAULT %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-DEFAULT
// RUN: not sinter-tblgen --gradients -D BAD_NAME %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD-NAME
// RUN: not sinter-tblgen --gradients -D BAD_COUNT %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD-COUNT
// RUN: not sinter-tblgen --gradients -D FEW_DAGS %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FEW-DAGS
// RUN: not sinter-tblgen --method-decls -D NO_OPERAND %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NO-OPERAND
// RUN: not sinter-tblgen --method-decls -D TWO_METHODS %s %td_includes 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWO-METHODS

include "tests/lit/tblgen/Inputs/Ops.td"

#ifdef NO_GRADIENT
// NO-GRADIENT: errors.td:[[@LINE+1]]:5: error: op 'twice' has no Gradient
def Test_TwiceOp : Sinter_FloatUnary<"twice"> { let summary = "2 x."; }
def : Scalar<Test_TwiceOp, (Arith_AddFOp $x, $x)>;
#endif

#ifdef TWO_GRADIENTS
// TWO-GRADIENTS: errors.td:[[@LINE+1]]:{{.*}} second gradient rule of Test_TimesOp
def : NotDifferentiable<Test_TimesOp>;
#endif

#ifdef NO_BODY
// NO-BODY: errors.td:[[@LINE+1]]:5: error: op 'twice' has no Scalar body
def Test_TwiceOp : Sinter_FloatUnary<"twice"> { let summary = "2 x."; }
def : Gradient<Test_TwiceOp, [(Test_TimesOp $grad, "2")]>;
#endif

#ifdef NO_LOWERING
// NO-LOWERING: errors.td:[[@LINE+1]]:5: error: op 'most' has no lowering
def Test_MostOp : Sinter_Reduction<"most", "maximum"> { let summary = "Largest."; }
def : NotDifferentiable<Test_MostOp>;
#endif

#ifdef TWO_LOWERINGS
// TWO-LOWERINGS: errors.td:[[@LINE+1]]:{{.*}} second lowering of Test_TimesOp
def : ScalarFn<Test_TimesOp, "emitTimes">;
#endif

#ifdef NO_EXAMPLE
// NO-EXAMPLE: errors.td:[[@LINE+1]]:5: error: op 'twice' has no example
def Test_TwiceOp : Sinter_FloatUnary<"twice"> {
  let summary = "2 x.";
  let example = "";
}
def : NotDifferentiable<Test_TwiceOp>;
def : Scalar<Test_TwiceOp, (Arith_AddFOp $x, $x)>;
#endif

#ifdef NO_SUMMARY
// NO-SUMMARY: errors.td:[[@LINE+1]]:5: error: op 'twice' has no summary
def Test_TwiceOp : Sinter_FloatUnary<"twice">;
#endif

#ifdef NO_CHOICE
// NO-CHOICE: errors.td:[[@LINE+1]]:5: error: op 'cube' has no Decomposition for 'half'
def Test_CubeOp : Sinter_Composite<"cube"> {
  let summary = "x to the third power.";
  let arguments = (ins Sinter_Float:$x, Test_Form:$form);
  let shapeRule = "sameAsFirst";
  let example = "cube(x)";
}
def : Decomposition<Test_CubeOp, (Test_TimesOp $x, $x), "plain">;
#endif

#ifdef NO_DEFAULT
// NO-DEFAULT: errors.td:[[@LINE+1]]:5: error: op 'most': default of an unknown
def Test_MostOp : Sinter_Reduction<"most", "maximum"> {
  let summary = "Largest.";
  let defaults = ["axis = 0"];
}
#endif

#ifdef BAD_NAME
def Test_TwiceOp : Sinter_FloatUnary<"twice"> { let summary = "2 x."; }
def : Scalar<Test_TwiceOp, (Arith_AddFOp $x, $x)>;
// BAD-NAME: errors.td:[[@LINE+1]]:{{.*}} rule of 'twice': '$y' is no operand
def : Gradient<Test_TwiceOp, [(Test_TimesOp $grad, $y)]>;
#endif

#ifdef BAD_COUNT
def Test_TwiceOp : Sinter_FloatUnary<"twice"> { let summary = "2 x."; }
def : Scalar<Test_TwiceOp, (Arith_AddFOp $x, $x)>;
// BAD-COUNT: errors.td:[[@LINE+1]]:{{.*}} times takes 2 operands and 0 attributes
def : Gradient<Test_TwiceOp, [(Test_TimesOp $grad)]>;
#endif

#ifdef FEW_DAGS
def Test_LessOp : Sinter_Binary<"less"> { let summary = "lhs - rhs."; }
def : Scalar<Test_LessOp, (Arith_SubFOp $lhs, $rhs)>;
// FEW-DAGS: errors.td:[[@LINE+1]]:{{.*}} gradient of 'less' has 1 dags for 2 operands
def : Gradient<Test_LessOp, [(identity $grad)]>;
#endif

#ifdef NO_OPERAND
// NO-OPERAND: errors.td:[[@LINE+1]]:{{.*}} op 'fill' has no first operand to be
def : Methods<[Test_FillOp]>;
#endif

#ifdef TWO_METHODS
// TWO-METHODS: errors.td:[[@LINE+1]]:{{.*}} op 'times' is named twice
def : Methods<[Test_TimesOp]>;
#endif
