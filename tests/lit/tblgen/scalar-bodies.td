// RUN: sinter-tblgen --scalar-bodies %s %td_includes | FileCheck %s

include "tests/lit/tblgen/Inputs/Ops.td"

def Test_CutOp : Sinter_Binary<"cut"> { let summary = "By a C++ function."; }
def : NotDifferentiable<Test_CutOp>;
def : ScalarFn<Test_CutOp, "emitCut">;

// CHECK-LABEL: TimesOp::emitScalar(
// CHECK: switch (scalars.kind())
// CHECK-NEXT: case ElementKind::floating:
// CHECK: ::mlir::arith::MulFOp::create(builder, loc,
// CHECK-NEXT: scalars.operand(0),
// CHECK-NEXT: scalars.operand(1))
// CHECK: case ElementKind::signedInteger:
// CHECK: ::mlir::arith::MulIOp::create
// CHECK: case ElementKind::unsignedInteger:
// CHECK: ::mlir::arith::MulIOp::create
// CHECK: case ElementKind::boolean:
// CHECK-NEXT: break;
// CHECK: return scalars.unsupported();

// CHECK-LABEL: CutOp::emitScalar(
// CHECK: return emitCut(*this, builder, loc, operands);
