// RUN: sinter-tblgen --frontend-decls %s %td_includes \
// RUN:   | FileCheck %s --check-prefix=DECLS
// RUN: sinter-tblgen --frontend-defs %s %td_includes | FileCheck %s
// RUN: sinter-tblgen --method-decls %s %td_includes \
// RUN:   | FileCheck %s --check-prefix=METHODS
// RUN: sinter-tblgen --method-defs %s %td_includes \
// RUN:   | FileCheck %s --check-prefix=BODIES

include "tests/lit/tblgen/Inputs/Ops.td"

def : OnComplex<Test_TotalOp, "complexTotal">;

// DECLS: namespace sinter {
// Written by hand:
// DECLS-NOT: Tensor fill
// DECLS: /// Elementwise lhs * rhs.
// DECLS-NEXT: Tensor times(const Arg &lhs, const Arg &rhs);
// DECLS: /// Sum over axes.
// DECLS-NEXT: ///
// DECLS-NEXT: /// In two lines, of which
// DECLS-NEXT: /// this is the second.
// DECLS-NEXT: Tensor total(const Arg &x, const Axes &axes = {},
// DECLS-SAME: bool keepdims = false);
// DECLS: Tensor square(const Arg &x, Form form = Form::plain);

// CHECK-LABEL: Tensor times(const Arg &lhs, const Arg &rhs) try {
// CHECK-NEXT: detail::Recorder recorder(graph::OpId::times, lhs);
// CHECK-NEXT: recorder.operands(detail::Promotion::match, 3u, true, lhs, rhs);
// CHECK-NEXT: return recorder.result(graph::times(nodes[0], nodes[1]));
// CHECK-NEXT: } catch (...) {
// CHECK-NEXT: detail::raiseExhausted(lhs.where);
// CHECK-LABEL: Tensor total(
// CHECK-NEXT: if (detail::anyComplex(x)) {{.*}}
// CHECK-NEXT: return detail::complexTotal(x, axes, keepdims);
// CHECK: detail::Promotion::none, 0u, false, x
// CHECK: graph::total(nodes[0], recorder.axes(axes, nodes[0]->rank()),
// CHECK-SAME: keepdims)
// CHECK-LABEL: Tensor square(
// CHECK: detail::Promotion::floating, 1u, false, x

// What is listed, in the order of the ops.
// METHODS-NOT: fill
// METHODS: Tensor times(const Arg &rhs, Where where = Where::current()) const;
// METHODS: Tensor total(const Axes &axes = {}, bool keepdims = false,
// METHODS-SAME: Where where = Where::current()) const;
// METHODS-NOT: square

// BODIES: Tensor Tensor::times(const Arg &rhs, Where where) const {
// BODIES-NEXT: return sinter::times(Arg(*this, where), rhs);
