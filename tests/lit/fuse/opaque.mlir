// Users' kernels read and write memory: what is around them is not computed in
// them, and what they read is stored, unless it lies in memory already.
// RUN: split-file %s %t
// RUN: sinter inspect %t/around.mlir --stage fuse | FileCheck %t/around.mlir
// RUN: sinter inspect %t/views.mlir --stage fuse | FileCheck %t/views.mlir
// RUN: sinter opt %t/views.mlir --pipeline='number-nodes,form-kernels{max-buffers=2}' | FileCheck %t/views.mlir

//--- around.mlir
// CHECK: program.kernel @map
// CHECK: sinter.exp
// CHECK: program.kernel @opaque
// CHECK-NEXT: sinter.custom_op
// CHECK-NEXT: program.yield
// CHECK: program.kernel @map
// CHECK: sinter.tanh
// CHECK: // rejected opaque
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = sinter.exp %x : (tensor<32xf32>) -> tensor<32xf32>
  %1 = sinter.custom_op %0 {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf32>
  %2 = sinter.neg %1 : (tensor<32xf32>) -> tensor<32xf32>
  %3 = sinter.tanh %2 : (tensor<32xf32>) -> tensor<32xf32>
  return %3 : tensor<32xf32>
}
//--- views.mlir
// A reshape moves nothing; a transpose does, and so does a constant.
// CHECK: program.kernel @opaque
// CHECK: sinter.reshape
// CHECK-NEXT: sinter.custom_op
// CHECK-COUNT-3: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (32)>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = sinter.full {value = 3.0 : f64, shape = affine_map<() -> (4)>, dtype = f32} : () -> tensor<4xf32>
  %3 = sinter.custom_op %0, %1, %2, %1 {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 32, 8, 4, 4, 8, 4>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>) -> tensor<32xf32>
  return %3 : tensor<32xf32>
}
