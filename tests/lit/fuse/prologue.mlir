// What a contraction computes of its operands.
// RUN: split-file %s %t
// RUN: sinter inspect %t/scaled.mlir --stage fuse | FileCheck %t/scaled.mlir
// RUN: sinter inspect %t/masked.mlir --stage fuse | FileCheck %t/masked.mlir

//--- scaled.mlir
// Quarters of the operand are read instead of all of it.
// CHECK: program.kernel
// CHECK: sinter.cast
// CHECK: sinter.mul
// CHECK: sinter.matmul
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
// CHECK-NOT: rejected
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x48xi8>, %s: tensor<48xf32>) -> tensor<32x48xf32> {
  %0 = sinter.cast %w {dtype = f32} : (tensor<64x48xi8>) -> tensor<64x48xf32>
  %1 = sinter.broadcast %s {shape = affine_map<() -> (64, 48)>} : (tensor<48xf32>) -> tensor<64x48xf32>
  %2 = sinter.mul %0, %1 : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %3 = sinter.matmul %x, %2 : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  return %3 : tensor<32x48xf32>
}
//--- masked.mlir
// Two tensors would be read in place of one.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected prologue_cost
func.func @main(%x: tensor<32x64xf32>, %m: tensor<32x64xf32>, %w: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %0 = sinter.mul %x, %m : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = sinter.matmul %0, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  return %1 : tensor<32x48xf32>
}
