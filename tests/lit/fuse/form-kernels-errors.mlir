// What stays apart, and the rule that says so.
// RUN: split-file %s %t
// RUN: sinter inspect %t/two-roots.mlir --stage fuse | FileCheck %t/two-roots.mlir
// RUN: sinter inspect %t/recompute.mlir --stage fuse | FileCheck %t/recompute.mlir
// RUN: sinter inspect %t/prologue.mlir --stage fuse | FileCheck %t/prologue.mlir
// RUN: sinter inspect %t/columns.mlir --stage fuse | FileCheck %t/columns.mlir
// RUN: sinter inspect %t/columns.mlir --stage fuse --fusion none | FileCheck %t/columns.mlir --check-prefix=NONE
// RUN: sinter opt %t/caps.mlir --pipeline='number-nodes,form-kernels{max-ops=2}' | FileCheck %t/caps.mlir

//--- two-roots.mlir
// CHECK-COUNT-2: program.launch
// CHECK: // rejected two_roots
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sinter.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
//--- recompute.mlir
// The exponentials of a vector are not repeated for every row.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected recompute
func.func @main(%x: tensor<512x4096xf32>, %b: tensor<4096xf32>) -> tensor<512x4096xf32> {
  %0 = sinter.exp %b : (tensor<4096xf32>) -> tensor<4096xf32>
  %1 = sinter.broadcast %0 {shape = affine_map<() -> (512, 4096)>} : (tensor<4096xf32>) -> tensor<512x4096xf32>
  %2 = sinter.mul %x, %1 : (tensor<512x4096xf32>, tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %2 : tensor<512x4096xf32>
}
//--- prologue.mlir
// A contraction reads its operands many times.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected prologue_cost
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sinter.exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
//--- columns.mlir
// A sum over rows has no place for the elements themselves.
// CHECK-COUNT-2: program.launch
// CHECK: // rejected full_output
// NONE-COUNT-2: program.launch
// NONE-NOT: accepted
func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = sinter.exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8xf32>
}
//--- caps.mlir
// CHECK: rule = "cap_ops"
// CHECK-COUNT-2: program.launch
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sinter.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sinter.tanh %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sinter.neg %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
