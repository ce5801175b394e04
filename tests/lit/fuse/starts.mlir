// A slice and a pad from a start that the program is given are views: they join
// the kernels that read them, and so does what is computed of the start.
// RUN: sinter opt %s --pipeline=number-nodes,form-kernels | FileCheck %s

// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<640x4xf32>, %at: tensor<i64>) -> (tensor<f32>, tensor<f32>) {
  %0 = sinter.neg %at : (tensor<i64>) -> tensor<i64>
  %1 = sinter.dynamic_slice %x, %0 {axis = 0 : i64, size = affine_map<() -> (64)>} : (tensor<640x4xf32>, tensor<i64>) -> tensor<64x4xf32>
  %2 = sinter.dynamic_pad %1, %at {axis = 0 : i64, size = affine_map<() -> (80)>} : (tensor<64x4xf32>, tensor<i64>) -> tensor<80x4xf32>
  %3 = sinter.exp %2 : (tensor<80x4xf32>) -> tensor<80x4xf32>
  %4 = sinter.sum %3 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<80x4xf32>) -> tensor<f32>
  %5 = sinter.amax %3 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<80x4xf32>) -> tensor<f32>
  return %4, %5 : tensor<f32>, tensor<f32>
}
