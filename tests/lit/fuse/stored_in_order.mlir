// What a contraction's kernel gives is stored where reshapes and transposes put
// it, as long as runs of 16 elements stay together: it is not gone over again.
// RUN: split-file %s %t
// RUN: sinter explain %t/heads.mlir | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/heads.mlir --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/both.mlir | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/turned.mlir | FileCheck %s --check-prefix=TWO
// RUN: sinter explain %t/short.mlir | FileCheck %s --check-prefix=TWO
// RUN: sinter explain %t/after.mlir | FileCheck %s --check-prefix=AFTER

// ONE: 1 launches
// ONE: saves_traffic: {{[a-z]+}} into transpose
// TWO: 2 launches
// TWO: view_of_root: matmul into transpose
// AFTER: 2 launches

//--- heads.mlir
func.func @main(%x: tensor<40x64xf32>, %w: tensor<64x128xf32>) -> tensor<4x40x32xf32> {
  %0 = sinter.matmul %x, %w : (tensor<40x64xf32>, tensor<64x128xf32>) -> tensor<40x128xf32>
  %1 = sinter.relu %0 : (tensor<40x128xf32>) -> tensor<40x128xf32>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (40, 4, 32)>} : (tensor<40x128xf32>) -> tensor<40x4x32xf32>
  %3 = sinter.transpose %2 {permutation = array<i64: 1, 0, 2>} : (tensor<40x4x32xf32>) -> tensor<4x40x32xf32>
  return %3 : tensor<4x40x32xf32>
}

// The elements in both orders.
//--- both.mlir
func.func @main(%x: tensor<40x64xf32>, %w: tensor<64x128xf32>) -> (tensor<40x128xf32>, tensor<4x40x32xf32>) {
  %0 = sinter.matmul %x, %w : (tensor<40x64xf32>, tensor<64x128xf32>) -> tensor<40x128xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (40, 4, 32)>} : (tensor<40x128xf32>) -> tensor<40x4x32xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 0, 2>} : (tensor<40x4x32xf32>) -> tensor<4x40x32xf32>
  return %0, %2 : tensor<40x128xf32>, tensor<4x40x32xf32>
}

// Elements of a run go apart.
//--- turned.mlir
func.func @main(%x: tensor<40x64xf32>, %w: tensor<64x128xf32>) -> tensor<4x32x40xf32> {
  %0 = sinter.matmul %x, %w : (tensor<40x64xf32>, tensor<64x128xf32>) -> tensor<40x128xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (40, 4, 32)>} : (tensor<40x128xf32>) -> tensor<40x4x32xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 2, 0>} : (tensor<40x4x32xf32>) -> tensor<4x32x40xf32>
  return %2 : tensor<4x32x40xf32>
}

//--- short.mlir
func.func @main(%x: tensor<40x64xf32>, %w: tensor<64x24xf32>) -> tensor<3x40x8xf32> {
  %0 = sinter.matmul %x, %w : (tensor<40x64xf32>, tensor<64x24xf32>) -> tensor<40x24xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (40, 3, 8)>} : (tensor<40x24xf32>) -> tensor<40x3x8xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 0, 2>} : (tensor<40x3x8xf32>) -> tensor<3x40x8xf32>
  return %2 : tensor<3x40x8xf32>
}

// What is computed in the other order reads the view.
//--- after.mlir
func.func @main(%x: tensor<40x64xf32>, %w: tensor<64x128xf32>, %y: tensor<4x40x32xf32>) -> tensor<4x40x32xf32> {
  %0 = sinter.matmul %x, %w : (tensor<40x64xf32>, tensor<64x128xf32>) -> tensor<40x128xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (40, 4, 32)>} : (tensor<40x128xf32>) -> tensor<40x4x32xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 0, 2>} : (tensor<40x4x32xf32>) -> tensor<4x40x32xf32>
  %3 = sinter.add %2, %y : (tensor<4x40x32xf32>, tensor<4x40x32xf32>) -> tensor<4x40x32xf32>
  return %3 : tensor<4x40x32xf32>
}
