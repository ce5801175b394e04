// What becomes one kernel.
// RUN: split-file %s %t
// RUN: sinter inspect %t/linear.mlir --stage fuse | FileCheck %t/linear.mlir
// RUN: sinter inspect %t/softmax.mlir --stage fuse | FileCheck %t/softmax.mlir
// RUN: sinter inspect %t/hand.mlir --stage fuse | FileCheck %t/hand.mlir
// RUN: sinter inspect %t/norm.mlir --stage fuse | FileCheck %t/norm.mlir
// RUN: sinter inspect %t/loss.mlir --stage fuse | FileCheck %t/loss.mlir
// RUN: sinter inspect %t/update.mlir --stage fuse | FileCheck %t/update.mlir
// RUN: sinter inspect %t/layers.mlir --stage fuse | FileCheck %t/layers.mlir
// RUN: sinter inspect %t/renamed.mlir --stage fuse | FileCheck %t/renamed.mlir

//--- linear.mlir
// A contraction with its epilogue.
// CHECK-COUNT-1: program.kernel @contraction_
// CHECK: matmul
// CHECK: add
// CHECK: maximum
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x10xf32>, %b: tensor<10xf32>) -> tensor<32x10xf32> {
  %0 = sinter.matmul %x, %w : (tensor<32x64xf32>, tensor<64x10xf32>) -> tensor<32x10xf32>
  %1 = sinter.broadcast %b {shape = affine_map<() -> (32, 10)>} : (tensor<10xf32>) -> tensor<32x10xf32>
  %2 = sinter.add %0, %1 : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
  %3 = sinter.relu %2 : (tensor<32x10xf32>) -> tensor<32x10xf32>
  return %3 : tensor<32x10xf32>
}
//--- softmax.mlir
// CHECK-COUNT-1: program.kernel @rowwise_
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>) -> tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>) -> tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>
  return %0 : tensor<?x10xf32, affine_map<()[s0] -> (s0, 10)>>
}
//--- hand.mlir
// The same by hand, the sum without kept dims.
// CHECK-COUNT-1: program.kernel @rowwise_
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<32x10xf32>) -> tensor<32x10xf32> {
  %m = sinter.amax %x {axes = array<i64: 1>, keepdims = true} : (tensor<32x10xf32>) -> tensor<32x1xf32>
  %mb = sinter.broadcast %m {shape = affine_map<() -> (32, 10)>} : (tensor<32x1xf32>) -> tensor<32x10xf32>
  %d = sinter.sub %x, %mb : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
  %e = sinter.exp %d : (tensor<32x10xf32>) -> tensor<32x10xf32>
  %s = sinter.sum %e {axes = array<i64: 1>, keepdims = false} : (tensor<32x10xf32>) -> tensor<32xf32>
  %sr = sinter.reshape %s {shape = affine_map<() -> (32, 1)>} : (tensor<32xf32>) -> tensor<32x1xf32>
  %sb = sinter.broadcast %sr {shape = affine_map<() -> (32, 10)>} : (tensor<32x1xf32>) -> tensor<32x10xf32>
  %r = sinter.div %e, %sb : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
  return %r : tensor<32x10xf32>
}
//--- norm.mlir
// CHECK-COUNT-1: program.kernel @rowwise_
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<32x64xf32> {
  %0 = sinter.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : (tensor<32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
//--- loss.mlir
// A reduction with both sides.
// CHECK-COUNT-1: program.kernel @reduce_
// CHECK-NOT: program.kernel
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>) -> tensor<f32> {
  %0 = sinter.sub %x, %y : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = sinter.mul %0, %0 : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %2 = sinter.mean %1 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<32x64xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
//--- update.mlir
// Parameter and moment of one tensor, updated by one kernel of two outputs.
// CHECK-COUNT-1: program.kernel @map_
// CHECK-NOT: program.kernel
// CHECK: %{{.*}}:2 = program.launch
// CHECK-NOT: program.launch
func.func @main(%p: tensor<64x10xf32>, %m: tensor<64x10xf32>, %g: tensor<64x10xf32>, %lr: tensor<f32> {sinter.kind = "scalar"}) -> (tensor<64x10xf32>, tensor<64x10xf32>) {
  %b = sinter.full {shape = affine_map<() -> (64, 10)>, value = 0.9 : f64, dtype = f32} : () -> tensor<64x10xf32>
  %0 = sinter.mul %m, %b : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %1 = sinter.add %0, %g : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %2 = sinter.broadcast %lr {shape = affine_map<() -> (64, 10)>} : (tensor<f32>) -> tensor<64x10xf32>
  %3 = sinter.mul %2, %1 : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %4 = sinter.sub %p, %3 : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  return %1, %4 : tensor<64x10xf32>, tensor<64x10xf32>
}
//--- layers.mlir
// Equal layers are one kernel launched twice; its symbols are its own.
// CHECK: program.kernel @contraction_[[NAME:[0-9a-f]+]]({{.*}}num_symbols = 1
// CHECK-NOT: program.kernel
// CHECK: program.launch @contraction_[[NAME]](
// CHECK: program.launch @contraction_[[NAME]](
#first = affine_map<()[s0, s1] -> (s0, 8)>
#second = affine_map<()[s0, s1] -> (s1, 8)>
func.func @main(%x: tensor<?x8xf32, #first>, %y: tensor<?x8xf32, #second>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32, #first>, tensor<?x8xf32, #second>) {
  %0 = sinter.matmul %x, %w : (tensor<?x8xf32, #first>, tensor<8x8xf32>) -> tensor<?x8xf32, #first>
  %1 = sinter.matmul %y, %w : (tensor<?x8xf32, #second>, tensor<8x8xf32>) -> tensor<?x8xf32, #second>
  return %0, %1 : tensor<?x8xf32, #first>, tensor<?x8xf32, #second>
}
//--- renamed.mlir
// A returned reshape is the same buffer under another type: no kernel.
// CHECK: %[[Y:.*]] = program.launch
// CHECK-NEXT: %[[R:.*]] = sinter.reshape %[[Y]]
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = sinter.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (32)>} : (tensor<4x8xf32>) -> tensor<32xf32>
  return %1 : tensor<32xf32>
}
