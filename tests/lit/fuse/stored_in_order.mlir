// What a contraction's kernel gives is stored where reshapes and transposes put
// it, as long as runs of 16 elements stay together: it is not gone over again.
// A GPU stores few elements one by one rather than by a launch more, and those
// of sums over the windows of an image, too.
// RUN: split-file %s %t
// RUN: sinter explain %t/heads.mlir | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/heads.mlir --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/both.mlir | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/turned.mlir | FileCheck %s --check-prefix=TWO
// RUN: sinter explain %t/short.mlir | FileCheck %s --check-prefix=TWO
// RUN: sinter explain %t/after.mlir | FileCheck %s --check-prefix=AFTER
// RUN: sinter explain %t/turned.mlir --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/short.mlir --target vulkan \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/many.mlir --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=TWO
// RUN: sinter explain %t/pooled.mlir --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter explain %t/pooled.mlir | FileCheck %s --check-prefix=POOLED

// ONE: 1 launches
// ONE: saves_traffic: {{[a-z]+}} into transpose
// TWO: 2 launches
// TWO: view_of_root: matmul into transpose
// AFTER: 2 launches
// POOLED: 2 launches

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

//--- many.mlir
func.func @main(%x: tensor<4000x64xf32>, %w: tensor<64x128xf32>) -> tensor<4x32x4000xf32> {
  %0 = sinter.matmul %x, %w : (tensor<4000x64xf32>, tensor<64x128xf32>) -> tensor<4000x128xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (4000, 4, 32)>} : (tensor<4000x128xf32>) -> tensor<4000x4x32xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 2, 0>} : (tensor<4000x4x32xf32>) -> tensor<4x32x4000xf32>
  return %2 : tensor<4x32x4000xf32>
}

// What follows the transpose is a reshape, as before a product.
//--- pooled.mlir
func.func @main(%x: tensor<6x4x3x4x3x16xf32>) -> tensor<6x256xf32> {
  %0 = sinter.sum %x {axes = array<i64: 2, 4>, keepdims = false} : (tensor<6x4x3x4x3x16xf32>) -> tensor<6x4x4x16xf32>
  %1 = sinter.relu %0 : (tensor<6x4x4x16xf32>) -> tensor<6x4x4x16xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<6x4x4x16xf32>) -> tensor<6x16x4x4xf32>
  %3 = sinter.reshape %2 {shape = affine_map<() -> (6, 256)>} : (tensor<6x16x4x4xf32>) -> tensor<6x256xf32>
  return %3 : tensor<6x256xf32>
}
