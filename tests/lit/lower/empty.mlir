// The lanes of a tensor without elements may all be one place.
// RUN: sinter inspect %s --stage llvm | FileCheck %s

// CHECK: define void @map_
func.func @main(%x: tensor<3x0x4xf64>) -> tensor<4x0x3xf64> {
  %0 = sinter.transpose %x {permutation = array<i64: 2, 1, 0>} : (tensor<3x0x4xf64>) -> tensor<4x0x3xf64>
  return %0 : tensor<4x0x3xf64>
}
