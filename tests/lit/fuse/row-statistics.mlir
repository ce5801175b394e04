// Reductions of a product's rows join it, where its rows can be kept.
// RUN: split-file %s %t
// RUN: sinter inspect %t/norm.mlir --stage fuse | FileCheck %t/norm.mlir
// RUN: sinter inspect %t/symbolic.mlir --stage fuse | FileCheck %t/symbolic.mlir
// RUN: sinter inspect %t/batches.mlir --stage fuse | FileCheck %t/batches.mlir
// RUN: sinter inspect %t/picked.mlir --stage fuse | FileCheck %t/picked.mlir
// RUN: sinter inspect %t/also-read.mlir --stage fuse | FileCheck %t/also-read.mlir
// RUN: sinter inspect %t/before.mlir --stage fuse | FileCheck %t/before.mlir
// RUN: sinter inspect %t/beside.mlir --stage fuse | FileCheck %t/beside.mlir
// RUN: sinter inspect %t/long.mlir --stage fuse | FileCheck %t/long.mlir
// RUN: sinter inspect %t/operand.mlir --stage fuse | FileCheck %t/operand.mlir
// RUN: sinter inspect %t/turned.mlir --stage fuse | FileCheck %t/turned.mlir
// RUN: sinter inspect %t/norm.mlir --stage fuse --numerics exact | FileCheck %t/norm.mlir

//--- norm.mlir
// CHECK-COUNT-1: program.kernel @contraction_
// CHECK: matmul
// CHECK: sum
// CHECK: rsqrt
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>, %b: tensor<48xf32>, %r: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = sinter.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = sinter.broadcast %b {shape = affine_map<() -> (32, 48)>} : (tensor<48xf32>) -> tensor<32x48xf32>
  %2 = sinter.add %0, %1 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  %3 = sinter.add %2, %r : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  %4 = sinter.layer_norm %3, %b, %b {eps = 1.0e-5 : f64} : (tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<32x48xf32>
  return %4 : tensor<32x48xf32>
}
//--- symbolic.mlir
// CHECK-COUNT-1: program.launch @contraction_
// CHECK-NOT: program.launch
func.func @main(%x: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, %w: tensor<64x10xf32>) -> tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>> {
  %0 = sinter.matmul %x, %w : (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<64x10xf32>) -> tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>
  %1 = sinter.softmax %0 {axis = 1 : i64} : (tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>) -> tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>
  return %1 : tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>
}
//--- batches.mlir
// CHECK-COUNT-1: program.launch @contraction_
// CHECK-NOT: program.launch
func.func @main(%x: tensor<4x32x64xf32>, %w: tensor<4x64x10xf32>) -> tensor<4x32xf32> {
  %0 = sinter.matmul %x, %w : (tensor<4x32x64xf32>, tensor<4x64x10xf32>) -> tensor<4x32x10xf32>
  %1 = sinter.amax %0 {axes = array<i64: 2>, keepdims = false} : (tensor<4x32x10xf32>) -> tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}
//--- picked.mlir
// A column of each row that data decide: the row is there.
// CHECK-COUNT-1: program.launch @contraction_
// CHECK-NOT: program.launch
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x10xf32>, %i: tensor<32x1xi64>) -> tensor<32x1xf32> {
  %0 = sinter.matmul %x, %w : (tensor<32x64xf32>, tensor<64x10xf32>) -> tensor<32x10xf32>
  %1 = sinter.log_softmax %0 {axis = 1 : i64} : (tensor<32x10xf32>) -> tensor<32x10xf32>
  %2 = sinter.gather %1, %i {axis = 1 : i64} : (tensor<32x10xf32>, tensor<32x1xi64>) -> tensor<32x1xf32>
  return %2 : tensor<32x1xf32>
}
//--- also-read.mlir
// What others read of the product's elements is stored, too.
// CHECK: %{{.*}}:2 = program.launch @contraction_
// CHECK-NOT: program.launch
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>) -> (tensor<32x48xf32>, tensor<32xf32>) {
  %0 = sinter.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = sinter.relu %0 : (tensor<32x48xf32>) -> tensor<32x48xf32>
  %2 = sinter.sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<32x48xf32>) -> tensor<32xf32>
  return %1, %2 : tensor<32x48xf32>, tensor<32xf32>
}
//--- before.mlir
// A norm before a product is a kernel of its own.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected two_roots
func.func @main(%x: tensor<32x48xf32>, %w: tensor<48x48xf32>, %b: tensor<48xf32>) -> tensor<32x48xf32> {
  %0 = sinter.layer_norm %x, %b, %b {eps = 1.0e-5 : f64} : (tensor<32x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<32x48xf32>
  %1 = sinter.matmul %0, %w : (tensor<32x48xf32>, tensor<48x48xf32>) -> tensor<32x48xf32>
  return %1 : tensor<32x48xf32>
}
//--- beside.mlir
// A sum of other rows has no use for those that the product keeps.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected two_roots{{.*}}sum does not take rows of matmul
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x48xf32>, %y: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = sinter.matmul %x, %w : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = sinter.sum %y {axes = array<i64: 1>, keepdims = true} : (tensor<32x48xf32>) -> tensor<32x1xf32>
  %2 = sinter.broadcast %1 {shape = affine_map<() -> (32, 48)>} : (tensor<32x1xf32>) -> tensor<32x48xf32>
  %3 = sinter.add %0, %2 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  return %3 : tensor<32x48xf32>
}
//--- long.mlir
// CHECK-COUNT-2: program.launch
// CHECK: // rejected row_statistics{{.*}}a row that is kept has 2 to 1024 elements
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x1040xf32>) -> tensor<32xf32> {
  %0 = sinter.matmul %x, %w : (tensor<32x64xf32>, tensor<64x1040xf32>) -> tensor<32x1040xf32>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<32x1040xf32>) -> tensor<32xf32>
  return %1 : tensor<32xf32>
}
//--- operand.mlir
// Every block of rows would bring all of the right operand near.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected row_statistics{{.*}}each block of rows would read 2097152 bytes of the right operand
func.func @main(%x: tensor<2048x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<2048xf32> {
  %0 = sinter.matmul %x, %w : (tensor<2048x1024xf32>, tensor<1024x512xf32>) -> tensor<2048x512xf32>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<2048x512xf32>) -> tensor<2048xf32>
  return %1 : tensor<2048xf32>
}
//--- turned.mlir
// Rows of the transpose are not those that a block has.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected
func.func @main(%x: tensor<48x64xf32>, %w: tensor<64x48xf32>) -> tensor<48x48xf32> {
  %0 = sinter.matmul %x, %w : (tensor<48x64xf32>, tensor<64x48xf32>) -> tensor<48x48xf32>
  %1 = sinter.exp %0 : (tensor<48x48xf32>) -> tensor<48x48xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<48x48xf32>) -> tensor<48x48xf32>
  %3 = sinter.add %1, %2 : (tensor<48x48xf32>, tensor<48x48xf32>) -> tensor<48x48xf32>
  %4 = sinter.softmax %3 {axis = 1 : i64} : (tensor<48x48xf32>) -> tensor<48x48xf32>
  return %4 : tensor<48x48xf32>
}
