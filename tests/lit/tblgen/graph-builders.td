// RUN: sinter-tblgen --graph-builder-decls %s %td_includes \
// RUN:   | FileCheck %s --check-prefix=DECLS
// RUN: sinter-tblgen --graph-builder-defs %s %td_includes | FileCheck %s
//
// A family's declarations do not change with the ops of another file.
// RUN: sinter-tblgen --graph-builder-decls --family=Ops %s %td_includes \
// RUN:   | FileCheck %s --check-prefix=FAMILY
// RUN: sinter-tblgen --graph-builder-decls --family=Ops %s %td_includes \
// RUN:   > %t.before
// RUN: sinter-tblgen --graph-builder-decls --family=Ops -D ONE_MORE %s \
// RUN:   %td_includes > %t.after
// RUN: cmp %t.before %t.after
// RUN: sinter-tblgen --graph-builder-decls --family=graph-builders \
// RUN:   -D ONE_MORE %s %td_includes | FileCheck %s --check-prefix=OTHER

include "tests/lit/tblgen/Inputs/Ops.td"

#ifdef ONE_MORE
def Test_TwiceOp : Sinter_FloatUnary<"twice"> { let summary = "2 x."; }
def : NotDifferentiable<Test_TwiceOp>;
def : Scalar<Test_TwiceOp, (Arith_AddFOp $x, $x)>;
#endif

// FAMILY: Result<NodeRef> fill(
// FAMILY: Result<NodeRef> times(
// OTHER-NOT: Result<NodeRef> times(
// OTHER: Result<NodeRef> twice(

// DECLS: /// Every element is `value`.
// DECLS-NEXT: Result<NodeRef> fill(std::span<const Dim> shape, Number value,
// DECLS-SAME: DType dtype, DeviceId device);
// DECLS: Result<NodeRef> times(const NodeRef &lhs, const NodeRef &rhs);
// DECLS: Result<NodeRef> total(const NodeRef &x,
// DECLS-SAME: std::span<const int64_t> axes, bool keepdims);

// The dtypes are checked, axes normalized, the rule called, the attributes
// encoded in the order of the record.
// CHECK-LABEL: Result<NodeRef> total(
// CHECK: dtypeBit(context.operands[0].dtype) & total_x
// CHECK: SINTER_TRY_ASSIGN(auto axesNormal,
// CHECK-NEXT: normalizeAxes(context, axes, context.operands[0].dims.size())
// CHECK: InferredType type, shape::reduce(context, axesNormal, keepdims)
// CHECK: words.ints(axesNormal);
// CHECK-NEXT: words.boolean(keepdims);
// CHECK-NEXT: return record(context, nodes, type, words.view());

// CHECK-LABEL: infer_total(
// CHECK: auto axes = reader.ints();
// CHECK-NEXT: {{.*}}auto keepdims = reader.boolean();
// CHECK: checkNormalized(context, axes, axesNormal)
// CHECK: return shape::reduce(context, axesNormal, keepdims);

// The choice is no argument of this rule.
// CHECK-LABEL: Result<NodeRef> square(
// CHECK: shape::sameAsFirst(context)
// CHECK: words.choice(form);

// CHECK-LABEL: Result<InferredType> inferType(
// CHECK: case OpId::fill:
// CHECK-NEXT: return infer_fill(context, AttrReader(attrs));
