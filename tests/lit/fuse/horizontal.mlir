// Small pointwise kernels that leave the program are one launch, whatever their
// shapes.
// RUN: split-file %s %t
// RUN: sinter opt %t/updates.mlir --until=fuse | FileCheck %t/updates.mlir
// RUN: sinter inspect %t/updates.mlir --stage lower --target cpu:x86-64-v3 | FileCheck %t/updates.mlir --check-prefix=LOWER
// RUN: sinter opt %t/apart.mlir --until=fuse | FileCheck %t/apart.mlir
// RUN: sinter opt %t/full.mlir --pipeline='form-kernels{max-parallel-ops=5}' | FileCheck %t/full.mlir
// RUN: sinter inspect %t/equal.mlir --stage lower --target cpu:x86-64-v3 | FileCheck %t/equal.mlir
//--- updates.mlir
// CHECK-COUNT-1: program.kernel @map_
// CHECK-NOT: program.kernel
// CHECK: %{{.*}}:3 = program.launch
// CHECK-NOT: program.launch
// CHECK: // accepted horizontal: sub side by side with sub
// LOWER-COUNT-1: func.func
// LOWER-NOT: func.func
func.func @main(%p: tensor<64x10xf32>, %g: tensor<64x10xf32>, %q: tensor<10xf32>, %h: tensor<10xf32>, %r: tensor<3x5x7xf32>, %i: tensor<3x5x7xf32>, %lr: tensor<f32> {sinter.kind = "scalar"}) -> (tensor<64x10xf32>, tensor<10xf32>, tensor<3x5x7xf32>) {
  %0 = sinter.broadcast %lr {shape = affine_map<() -> (64, 10)>} : (tensor<f32>) -> tensor<64x10xf32>
  %1 = sinter.mul %0, %g : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %2 = sinter.sub %p, %1 : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %3 = sinter.broadcast %lr {shape = affine_map<() -> (10)>} : (tensor<f32>) -> tensor<10xf32>
  %4 = sinter.mul %3, %h : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %5 = sinter.sub %q, %4 : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %6 = sinter.broadcast %lr {shape = affine_map<() -> (3, 5, 7)>} : (tensor<f32>) -> tensor<3x5x7xf32>
  %7 = sinter.mul %6, %i : (tensor<3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  %8 = sinter.sub %r, %7 : (tensor<3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  return %2, %5, %8 : tensor<64x10xf32>, tensor<10xf32>, tensor<3x5x7xf32>
}
//--- apart.mlir
// Not: what another kernel reads, a large one, a reduction, one of symbolic
// shape, and a second walk over a tensor that the first may overwrite.
// CHECK-COUNT-6: program.launch
// CHECK-NOT: program.launch
// CHECK: // rejected shared_input: exp side by side with transpose: both read one tensor
#rows = affine_map<()[s0] -> (s0)>
func.func @main(%a: tensor<8x4xf32>, %b: tensor<300x300xf32>, %c: tensor<?xf32, #rows>, %d: tensor<5x6xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<300x300xf32>, tensor<?xf32, #rows>, tensor<5x5xf32>) {
  %0 = sinter.exp %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = sinter.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = sinter.exp %b : (tensor<300x300xf32>) -> tensor<300x300xf32>
  %3 = sinter.exp %c : (tensor<?xf32, #rows>) -> tensor<?xf32, #rows>
  %4 = sinter.exp %d : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %5 = sinter.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<5x6xf32>) -> tensor<6x5xf32>
  %6 = sinter.matmul %4, %5 : (tensor<5x6xf32>, tensor<6x5xf32>) -> tensor<5x5xf32>
  return %0, %1, %2, %3, %6 : tensor<8x4xf32>, tensor<4x8xf32>, tensor<300x300xf32>, tensor<?xf32, #rows>, tensor<5x5xf32>
}
//--- full.mlir
// A kernel that is full is followed by another.
// CHECK: rule = "cap_ops"
// CHECK: %{{.*}}:2 = program.launch
// CHECK: %{{.*}}:2 = program.launch
// CHECK-NOT: program.launch
func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>, %d: tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<5xf32>) {
  %0 = sinter.exp %a : (tensor<2xf32>) -> tensor<2xf32>
  %1 = sinter.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = sinter.exp %b : (tensor<3xf32>) -> tensor<3xf32>
  %3 = sinter.neg %2 : (tensor<3xf32>) -> tensor<3xf32>
  %4 = sinter.exp %c : (tensor<4xf32>) -> tensor<4xf32>
  %5 = sinter.neg %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = sinter.exp %d : (tensor<5xf32>) -> tensor<5xf32>
  %7 = sinter.neg %6 : (tensor<5xf32>) -> tensor<5xf32>
  return %1, %3, %5, %7 : tensor<2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<5xf32>
}
//--- equal.mlir
// Equal parts have one body; what tells them apart is a table of buffers.
// CHECK: memref.global "private" constant @buffers0 : memref<6xi32> = dense<[4, 0, 6, 2, 7, 3]>
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK-COUNT-1: math.tanh
// CHECK-NOT: math.tanh
func.func @main(%a: tensor<16xf32>, %b: tensor<8xf32>, %c: tensor<16xf32>, %d: tensor<16xf32>) -> (tensor<16xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0 = sinter.exp %a : (tensor<16xf32>) -> tensor<16xf32>
  %1 = sinter.tanh %b : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sinter.exp %c : (tensor<16xf32>) -> tensor<16xf32>
  %3 = sinter.exp %d : (tensor<16xf32>) -> tensor<16xf32>
  return %0, %1, %2, %3 : tensor<16xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>
}
