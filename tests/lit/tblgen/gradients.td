// RUN: sinter-tblgen --gradients %s %td_includes | FileCheck %s

include "tests/lit/tblgen/Inputs/Ops.td"

def Test_HalfOp : Sinter_FloatUnary<"half"> { let summary = "x / 2."; }
def : Scalar<Test_HalfOp, (Arith_MulFOp $x, (literal "0.5"))>;
// A constant beside a tensor; a value used twice is made once.
def : Gradient<Test_HalfOp, [
    (Test_TimesOp (Test_TimesOp $result, "0.5"),
                  (Test_TotalOp (Test_TimesOp $result, "0.5"),
                                (last_axis $x), true))]>;

// CHECK-LABEL: gradient_times(const GradientContext &context)
// CHECK: OperandGradients gradients(2);
// CHECK-NEXT: if (context.needs[0]) {
// CHECK-NEXT: SINTER_TRY_ASSIGN(NodeRef v0,
// CHECK-NEXT: graph::times(grad, operands[1]));
// CHECK-NEXT: gradients[0] = std::move(v0);
// CHECK: if (context.needs[1]) {
// CHECK: graph::times(grad, operands[0])

// CHECK-LABEL: gradient_half(
// CHECK: NodeRef v0, graph::fill(term::shapeOf(result), Number(0.5),
// CHECK-SAME: result->dtype()
// CHECK: NodeRef v1,
// CHECK-NEXT: graph::times(result, v0)
// CHECK-NEXT: NodeRef v2,
// CHECK-NEXT: graph::total(v1, term::ints(term::lastAxis(operands[0])), true)
// CHECK: graph::times(v1, v2)

// Which operands' values are read, and whether the result's is.
// CHECK: gradientInfos[] = {
// CHECK-NEXT: {nullptr, false, 0x0u, false}, // fill
// CHECK-NEXT: {gradient_times, false, 0x3u, false}, // times
// CHECK-NEXT: {totalGradient, false, 0x1u, false}, // total
// CHECK-NEXT: {nullptr, true, 0xffffffffu, false}, // square
// CHECK-NEXT: {gradient_half, false, 0x0u, true}, // half
