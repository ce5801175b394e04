// Products of f32 by blocks over windows of images whose channels lie side by
// side read four of them at once: where a product before made the image as
// rows of channels, and where a frame of zeros stands around it, which lies
// before a window's place or does not, for all four.
// RUN: split-file %s %t
// RUN: sinter inspect %t/rows.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s
// RUN: sinter inspect %t/padded.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s

// CHECK-NOT: ld.global.b32
// CHECK: ld.global.v4.b32
// CHECK-NOT: ld.global.b32
// CHECK: fma.rn.f32
// CHECK-NOT: ld.global.b32
//--- rows.mlir
func.func @main(%x: tensor<43264x8xf32>, %w: tensor<72x16xf32>) -> tensor<36864x16xf32> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (64, 26, 208)>} : (tensor<43264x8xf32>) -> tensor<64x26x208xf32>
  %1 = sinter.window %0 {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 24>, strides = array<i64: 1, 8>} : (tensor<64x26x208xf32>) -> tensor<64x24x24x3x24xf32>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (36864, 72)>} : (tensor<64x24x24x3x24xf32>) -> tensor<36864x72xf32>
  %3 = sinter.matmul %2, %w : (tensor<36864x72xf32>, tensor<72x16xf32>) -> tensor<36864x16xf32>
  return %3 : tensor<36864x16xf32>
}

//--- padded.mlir
func.func @main(%x: tensor<64x24x24x16xf32>, %w: tensor<144x8xf32>) -> tensor<43264x8xf32> {
  %0 = sinter.pad %x {interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 2, 2, 0>, shape = affine_map<() -> (64, 28, 28, 16)>, value = 0 : i64} : (tensor<64x24x24x16xf32>) -> tensor<64x28x28x16xf32>
  %1 = sinter.window %0 {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<64x28x28x16xf32>) -> tensor<64x26x26x16x3x3xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<64x26x26x16x3x3xf32>) -> tensor<64x26x26x3x3x16xf32>
  %3 = sinter.reshape %2 {shape = affine_map<() -> (43264, 144)>} : (tensor<64x26x26x3x3x16xf32>) -> tensor<43264x144xf32>
  %4 = sinter.matmul %3, %w : (tensor<43264x144xf32>, tensor<144x8xf32>) -> tensor<43264x8xf32>
  return %4 : tensor<43264x8xf32>
}
