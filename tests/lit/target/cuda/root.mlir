// The square root of less than zero is the canonical NaN, not the machine's,
// whatever is known of its operand.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s

// CHECK: sqrt.rn.f32 [[ROOT:%r[0-9]+]]
// CHECK: selp.f32 {{.*}}, 0f7FC00000, [[ROOT]]
// CHECK: st.global
func.func @main(%x: tensor<12xf32>) -> tensor<12xf32> {
  %0 = sinter.tanh %x : (tensor<12xf32>) -> tensor<12xf32>
  %1 = sinter.sqrt %0 : (tensor<12xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}
