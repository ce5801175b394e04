// RUN: sinter-tblgen --property-table %s %td_includes | FileCheck %s
// RUN: sinter-tblgen --docs %s %td_includes | FileCheck %s --check-prefix=DOCS
// RUN: sinter-tblgen --examples %s %td_includes \
// RUN:   | FileCheck %s --check-prefix=EXAMPLES

include "tests/lit/tblgen/Inputs/Ops.td"

// CHECK: timesOperands[] = {
// CHECK-NEXT: {"lhs", graph::dtypeBit(DType::f64) |
// CHECK-NEXT: {DomainKind::reals, -4, 4, noPoint}},
// CHECK: {graph::OpId::fill, "source", {}, false, false,
// CHECK: {graph::OpId::times, "elementwise", timesOperands, false, true,
// CHECK-SAME: "times(lhs, rhs)"},

// DOCS: ### times
// DOCS: - gradient: own rule
// DOCS-NEXT: - PyTorch: `mul`
// DOCS-NEXT: - Burn: none
// DOCS-NEXT: - defined at Ops.td:
// DOCS: ## reduction
// DOCS: ### total
// DOCS: Sum over axes.
// DOCS: total(x, {1})
// DOCS: - `x`: tensor of f64 f32
// DOCS: - `axes`: axes, default `{}`
// DOCS: - gradient: own rule
// DOCS: - gradient: of its decomposition

// EXAMPLES: static Tensor example_times() {
// EXAMPLES-NEXT: Tensor lhs = sample(graph::OpId::times, 0);
// EXAMPLES-NEXT: Tensor rhs = sample(graph::OpId::times, 1);
// EXAMPLES-NEXT: return times(lhs, rhs);
// EXAMPLES: {"times", example_times},
