// Reductions of a product's columns join it, where what they take is stored.
// RUN: split-file %s %t
// RUN: sinter inspect %t/bias.mlir --stage fuse | FileCheck %t/bias.mlir
// RUN: sinter inspect %t/bias.mlir --stage fuse --numerics exact | FileCheck %t/bias.mlir
// RUN: sinter inspect %t/several.mlir --stage fuse | FileCheck %t/several.mlir
// RUN: sinter inspect %t/images.mlir --stage fuse | FileCheck %t/images.mlir
// RUN: sinter inspect %t/alone.mlir --stage fuse | FileCheck %t/alone.mlir
// RUN: sinter inspect %t/small.mlir --stage fuse | FileCheck %t/small.mlir
// RUN: sinter inspect %t/other.mlir --stage fuse | FileCheck %t/other.mlir
// RUN: sinter inspect %t/normed.mlir --stage fuse | FileCheck %t/normed.mlir

//--- bias.mlir
// The gradient of a bias, with the step that it makes.
// CHECK-COUNT-1: program.kernel @contraction_
// CHECK: matmul
// CHECK: sum
// CHECK-NOT: program.kernel
// CHECK: %{{.*}}:2 = program.launch @contraction_
// CHECK-NOT: program.launch
// CHECK: // accepted saves_traffic: mul into sum (2097152 bytes)
func.func @main(%g: tensor<2048x64xf32>, %w: tensor<64x256xf32>, %h: tensor<2048x256xf32>, %b: tensor<256xf32>) -> (tensor<2048x256xf32>, tensor<256xf32>) {
  %0 = sinter.matmul %g, %w : (tensor<2048x64xf32>, tensor<64x256xf32>) -> tensor<2048x256xf32>
  %1 = sinter.mul %0, %h : (tensor<2048x256xf32>, tensor<2048x256xf32>) -> tensor<2048x256xf32>
  %2 = sinter.sum %1 {axes = array<i64: 0>, keepdims = false} : (tensor<2048x256xf32>) -> tensor<256xf32>
  %3 = sinter.sub %b, %2 : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  return %1, %3 : tensor<2048x256xf32>, tensor<256xf32>
}
//--- several.mlir
// The sums that the gradient of a norm over rows needs.
// CHECK: %{{.*}}:3 = program.launch @contraction_
// CHECK-NOT: program.launch
func.func @main(%g: tensor<2048x64xf32>, %w: tensor<64x256xf32>, %h: tensor<2048x256xf32>) -> (tensor<2048x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>) {
  %0 = sinter.matmul %g, %w : (tensor<2048x64xf32>, tensor<64x256xf32>) -> tensor<2048x256xf32>
  %1 = sinter.mul %0, %h : (tensor<2048x256xf32>, tensor<2048x256xf32>) -> tensor<2048x256xf32>
  %2 = sinter.sum %0 {axes = array<i64: 0>, keepdims = true} : (tensor<2048x256xf32>) -> tensor<1x256xf32>
  %3 = sinter.sum %1 {axes = array<i64: 0>, keepdims = true} : (tensor<2048x256xf32>) -> tensor<1x256xf32>
  return %0, %2, %3 : tensor<2048x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>
}
//--- images.mlir
// The mean of a convolution's channels, over images and places.
// CHECK: %{{.*}}:2 = program.launch @contraction_
// CHECK-NOT: program.launch
func.func @main(%x: tensor<8x34x34x16xf32>, %w: tensor<32x16x3x3xf32>) -> (tensor<8x32x32x32xf32>, tensor<32xf32>) {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, layout = "channels_last", low = array<i64: 0, 0>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<8x34x34x16xf32>, tensor<32x16x3x3xf32>) -> tensor<8x32x32x32xf32>
  %1 = sinter.mean %0 {axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<8x32x32x32xf32>) -> tensor<32xf32>
  return %0, %1 : tensor<8x32x32x32xf32>, tensor<32xf32>
}
//--- alone.mlir
// Nobody else reads the product: it would be stored for the sum alone.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected column_statistics{{.*}}what sum takes of matmul is not stored
func.func @main(%g: tensor<2048x64xf32>, %w: tensor<64x256xf32>) -> tensor<256xf32> {
  %0 = sinter.matmul %g, %w : (tensor<2048x64xf32>, tensor<64x256xf32>) -> tensor<2048x256xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<2048x256xf32>) -> tensor<256xf32>
  return %1 : tensor<256xf32>
}
//--- small.mlir
// CHECK-COUNT-2: program.launch
// CHECK: // rejected column_statistics{{.*}}131072 bytes are near when they are read again
func.func @main(%g: tensor<128x64xf32>, %w: tensor<64x256xf32>) -> (tensor<128x256xf32>, tensor<256xf32>) {
  %0 = sinter.matmul %g, %w : (tensor<128x64xf32>, tensor<64x256xf32>) -> tensor<128x256xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<128x256xf32>) -> tensor<256xf32>
  return %0, %1 : tensor<128x256xf32>, tensor<256xf32>
}
//--- other.mlir
// Columns of something else.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected two_roots{{.*}}sum does not take columns of matmul
func.func @main(%g: tensor<4x2048x64xf32>, %w: tensor<4x64x256xf32>) -> (tensor<4x2048x256xf32>, tensor<4x256xf32>) {
  %0 = sinter.matmul %g, %w : (tensor<4x2048x64xf32>, tensor<4x64x256xf32>) -> tensor<4x2048x256xf32>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<4x2048x256xf32>) -> tensor<4x256xf32>
  return %0, %1 : tensor<4x2048x256xf32>, tensor<4x256xf32>
}
//--- normed.mlir
// What is brought to mean 0 waits for all rows: a kernel of its own.
// CHECK-COUNT-1: program.launch @contraction_
// CHECK: program.launch
// CHECK-NOT: program.launch
func.func @main(%g: tensor<2048x64xf32>, %w: tensor<64x256xf32>) -> tensor<2048x256xf32> {
  %0 = sinter.matmul %g, %w : (tensor<2048x64xf32>, tensor<64x256xf32>) -> tensor<2048x256xf32>
  %1 = sinter.mean %0 {axes = array<i64: 0>, keepdims = true} : (tensor<2048x256xf32>) -> tensor<1x256xf32>
  %2 = sinter.broadcast %1 {shape = affine_map<() -> (2048, 256)>} : (tensor<1x256xf32>) -> tensor<2048x256xf32>
  %3 = sinter.sub %0, %2 : (tensor<2048x256xf32>, tensor<2048x256xf32>) -> tensor<2048x256xf32>
  return %3 : tensor<2048x256xf32>
}
