// What a part of the product has stored is read again, while it is near, and
// summed by blocks of 64 rows; the last phase adds the blocks up. Where parts
// end inside of blocks, a phase between takes those.
// RUN: split-file %s %t
// RUN: sinter inspect %t/whole.mlir --stage lower --target cpu:x86-64-v4 | FileCheck %t/whole.mlir
// RUN: sinter inspect %t/cut.mlir --stage lower --target cpu:x86-64-v4 | FileCheck %t/cut.mlir

//--- whole.mlir
// One part has all rows.
// CHECK: func.func @contraction_
// CHECK: math.fma
// CHECK: vector.store
// CHECK: arith.addf
// CHECK: func.func @contraction_{{[0-9a-f]+}}_phase1(
// CHECK-NOT: math.fma
// CHECK: arith.addf
// CHECK-NOT: func.func
func.func @main(%x: tensor<64x16xf32>, %w: tensor<16x8192xf32>) -> (tensor<64x8192xf32>, tensor<8192xf32>) {
  %0 = sinter.matmul %x, %w : (tensor<64x16xf32>, tensor<16x8192xf32>) -> tensor<64x8192xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<64x8192xf32>) -> tensor<8192xf32>
  return %0, %1 : tensor<64x8192xf32>, tensor<8192xf32>
}
//--- cut.mlir
// CHECK: func.func @contraction_
// CHECK: math.fma
// CHECK: func.func @contraction_{{[0-9a-f]+}}_phase1(
// CHECK-NOT: math.fma
// CHECK: scf.if
// CHECK: func.func @contraction_{{[0-9a-f]+}}_phase2(
// CHECK-NOT: math.fma
func.func @main(%x: tensor<3x1000x16xf32>, %w: tensor<3x16x256xf32>) -> (tensor<3x1000x256xf32>, tensor<256xf32>) {
  %0 = sinter.matmul %x, %w : (tensor<3x1000x16xf32>, tensor<3x16x256xf32>) -> tensor<3x1000x256xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<3x1000x256xf32>) -> tensor<256xf32>
  return %0, %1 : tensor<3x1000x256xf32>, tensor<256xf32>
}
