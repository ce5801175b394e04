// RUN: sinter-tblgen --op-ids %s %td_includes | FileCheck %s --check-prefix=IDS
// RUN: sinter-tblgen --op-table %s %td_includes | FileCheck %s
// RUN: sinter-tblgen --choices %s %td_includes \
// RUN:   | FileCheck %s --check-prefix=CHOICES

include "tests/lit/tblgen/Inputs/Ops.td"

// IDS: SINTER_OP(fill)
// IDS-NEXT: SINTER_OP(times)
// IDS-NEXT: SINTER_OP(total)
// IDS-NEXT: SINTER_OP(square)

// CHECK: AttrSpec fillAttrs[]
// CHECK-NEXT: {"shape", AttrKind::dims, ""},
// CHECK-NEXT: {"value", AttrKind::number, ""},
// CHECK-NEXT: {"dtype", AttrKind::dtype, ""},
// CHECK: timesOperands[] = {"lhs", "rhs"};
// CHECK: AttrSpec squareAttrs[]
// CHECK-NEXT: {"form", AttrKind::choice, "plain,half"},

// CHECK: {"fill", PatternKind::source, 0, {}, fillAttrs,
// CHECK-NEXT: false, false, "Every element is `value`.",
// CHECK-NEXT: "Ops.td:9"},
// CHECK-NEXT: {"times", PatternKind::pointwise, 2, timesOperands, {},
// CHECK-NEXT: false, true,
// CHECK: {"square", PatternKind::composite, 1, squareOperands, squareAttrs,
// CHECK-NEXT: true, true,

// CHOICES: enum class Form : uint8_t { plain, half };
