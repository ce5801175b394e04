// Sorts: what one kernel gives, and what it computes beforehand.
// RUN: split-file %s %t
// RUN: sinter inspect %t/pair.mlir --stage fuse | FileCheck %t/pair.mlir
// RUN: sinter inspect %t/differ.mlir --stage fuse | FileCheck %t/differ.mlir
// RUN: sinter inspect %t/after.mlir --stage fuse | FileCheck %t/after.mlir

//--- pair.mlir
// Values and positions come from one walk, and a cheap op before it is part of
// it.
// CHECK: program.kernel
// CHECK-SAME: kind = "sort"
// CHECK: sinter.mul
// CHECK-DAG: sinter.sort
// CHECK-DAG: sinter.argsort
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
// CHECK: // accepted shares_order
func.func @main(%x: tensor<32x64xf32>) -> (tensor<32x5xf32>, tensor<32x5xi64>) {
  %0 = sinter.mul %x, %x : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = sinter.sort %0 {axis = 1 : i64, descending = true, count = affine_map<() -> (5)>} : (tensor<32x64xf32>) -> tensor<32x5xf32>
  %2 = sinter.argsort %0 {axis = 1 : i64, descending = true, count = affine_map<() -> (5)>} : (tensor<32x64xf32>) -> tensor<32x5xi64>
  return %1, %2 : tensor<32x5xf32>, tensor<32x5xi64>
}
//--- differ.mlir
// CHECK-COUNT-2: program.launch
func.func @main(%x: tensor<32x64xf32>) -> (tensor<32x5xf32>, tensor<32x5xi64>) {
  %0 = sinter.sort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (5)>} : (tensor<32x64xf32>) -> tensor<32x5xf32>
  %1 = sinter.argsort %x {axis = 1 : i64, descending = false, count = affine_map<() -> (5)>} : (tensor<32x64xf32>) -> tensor<32x5xi64>
  return %0, %1 : tensor<32x5xf32>, tensor<32x5xi64>
}
//--- after.mlir
// A sort stores what it sorts.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected epilogue
func.func @main(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = sinter.sort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (64)>} : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = sinter.neg %0 : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}
