// What becomes one kernel where windows are read.
// RUN: split-file %s %t
// RUN: sinter inspect %t/conv.mlir --stage fuse | FileCheck %t/conv.mlir
// RUN: sinter inspect %t/depthwise.mlir --stage fuse | FileCheck %t/depthwise.mlir
// RUN: sinter inspect %t/pool.mlir --stage fuse | FileCheck %t/pool.mlir

//--- conv.mlir
// Padding, windows, product, bias and activation: no patches in between.
// CHECK-COUNT-1: program.kernel @contraction_
// CHECK: sinter.window
// CHECK: matmul
// CHECK: add
// CHECK: maximum
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<2x3x8x8xf32>, %w: tensor<16x3x3x3xf32>, %b: tensor<16xf32>) -> tensor<2x16x8x8xf32> {
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, layout = "channels_first"} : (tensor<2x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x8x8xf32>
  %1 = sinter.reshape %b {shape = affine_map<() -> (1, 16, 1, 1)>} : (tensor<16xf32>) -> tensor<1x16x1x1xf32>
  %2 = sinter.broadcast %1 {shape = affine_map<() -> (2, 16, 8, 8)>} : (tensor<1x16x1x1xf32>) -> tensor<2x16x8x8xf32>
  %3 = sinter.add %0, %2 : (tensor<2x16x8x8xf32>, tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32>
  %4 = sinter.relu %3 : (tensor<2x16x8x8xf32>) -> tensor<2x16x8x8xf32>
  return %4 : tensor<2x16x8x8xf32>
}
//--- depthwise.mlir
// One channel a group: products and a sum, no contraction.
// CHECK-COUNT-1: program.kernel @reduce_
// CHECK-NOT: matmul
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<1x8x8x16xf32> {
  %0 = sinter.conv %x, %w {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 16 : i64, layout = "channels_last"} : (tensor<1x8x8x16xf32>, tensor<16x1x3x3xf32>) -> tensor<1x8x8x16xf32>
  return %0 : tensor<1x8x8x16xf32>
}
//--- pool.mlir
// CHECK-COUNT-1: program.kernel @reduce_
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32> {
  %0 = sinter.max_pool %x {sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, layout = "channels_first"} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  return %0 : tensor<2x3x4x4xf32>
}
