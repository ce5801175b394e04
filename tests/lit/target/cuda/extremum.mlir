// The machine's NaN is the largest integer of 32 bits; that of all targets is
// the least of it and all numbers.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s

// Seen once, after the second: the first is read by arithmetic alone.
// CHECK: .visible .entry
// CHECK: max.NaN.f32
// CHECK-NOT: min.s32
// CHECK: min.NaN.f32
// CHECK: min.s32 {{.*}}, 2143289344;
// CHECK: st.global
func.func @main(%x: tensor<1024x512xf32>, %y: tensor<1024x512xf32>, %z: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %0 = sinter.maximum %x, %y : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %1 = sinter.minimum %0, %z : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %1 : tensor<1024x512xf32>
}
