// RUN: sinter-tblgen --decompositions %s %td_includes | FileCheck %s

include "tests/lit/tblgen/Inputs/Ops.td"

// CHECK-LABEL: decompose_square(
// CHECK: auto form = reader.choice<Form>();
// CHECK: if (form == Form::plain) {
// CHECK: graph::times(operands[0], operands[0])
// CHECK: if (form == Form::half) {
// CHECK: NodeRef v0,
// CHECK-NEXT: graph::times(operands[0], operands[0])
// CHECK: NodeRef v1, graph::fill(term::shapeOf(v0), Number(0.5)
// CHECK: graph::times(v0, v1)
// CHECK: case OpId::square:
// CHECK-NEXT: return decompose_square(operands, attrs);
