// Sums over an axis before and axes behind one that stays: what the last axes
// make is read as it lies, in vectors that end with it.
// RUN: sinter inspect %s --stage lower --target cpu:x86-64-v4 | FileCheck %s

// CHECK-LABEL: func.func @reduce_
// CHECK-NOT: vector.gather
// CHECK: arith.divui {{.*}} : index
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK-NOT: vector.gather
// CHECK: return
func.func @main(%x: tensor<64x8x28x28xf32>) -> tensor<8xf32> {
  %0 = sinter.sum %x {axes = array<i64: 0, 2, 3>, keepdims = false} : (tensor<64x8x28x28xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
