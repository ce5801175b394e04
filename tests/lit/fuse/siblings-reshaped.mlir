// RUN: sinter inspect %s --stage fuse | FileCheck %s

// Both sums read one tensor under another shape: one kernel.
// CHECK: program.kernel @reduce_
// CHECK: sinter.sum
// CHECK: sinter.sum
// CHECK: program.yield
// CHECK-NOT: program.kernel
// CHECK: accepted shares_input
func.func @main(%x: tensor<4096x320xf32>) -> (tensor<32x10xf32>, tensor<32x10xf32>) {
  %0 = sinter.reshape %x {shape = affine_map<() -> (64, 64, 32, 10)>} : (tensor<4096x320xf32>) -> tensor<64x64x32x10xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<64x64x32x10xf32>) -> tensor<32x10xf32>
  %2 = sinter.mul %0, %0 : (tensor<64x64x32x10xf32>, tensor<64x64x32x10xf32>) -> tensor<64x64x32x10xf32>
  %3 = sinter.sum %2 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<64x64x32x10xf32>) -> tensor<32x10xf32>
  return %1, %3 : tensor<32x10xf32>, tensor<32x10xf32>
}
