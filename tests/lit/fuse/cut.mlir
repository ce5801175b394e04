// What is too much for one kernel is stored in the middle.
// RUN: split-file %s %t
// RUN: sinter opt %t/views.mlir --pipeline='number-nodes,form-kernels{max-ops=3}' | FileCheck %t/views.mlir
// RUN: sinter opt %t/views.mlir --pipeline='number-nodes,form-kernels' | FileCheck %t/views.mlir --check-prefix=WHOLE
// RUN: sinter opt %t/numbers.mlir --pipeline='number-nodes,form-kernels{max-ops=3}' | FileCheck %t/numbers.mlir
// RUN: sinter opt %t/buffers.mlir --pipeline='number-nodes,form-kernels{max-buffers=4}' | FileCheck %t/buffers.mlir
// RUN: sinter opt %t/join.mlir --pipeline='number-nodes,form-kernels{max-buffers=4}' | FileCheck %t/join.mlir
// RUN: sinter opt %t/join.mlir --pipeline='number-nodes,form-kernels{max-buffers=4 one-per-op}' | FileCheck %t/join.mlir
// RUN: sinter opt %t/join.mlir --pipeline='number-nodes,form-kernels{max-buffers=2}' | FileCheck %t/join.mlir --check-prefix=TWO
// RUN: sinter opt %t/join.mlir --pipeline='number-nodes,form-kernels' | FileCheck %t/join.mlir --check-prefix=WHOLE
// RUN: sinter opt %t/rows.mlir --pipeline='number-nodes,form-kernels{max-buffers=3}' | FileCheck %t/rows.mlir
// RUN: sinter opt %t/large.mlir --pipeline='number-nodes,form-kernels{max-ops=5}' | FileCheck %t/large.mlir
// RUN: sinter opt %t/largest.mlir --pipeline='number-nodes,form-kernels{max-ops=6}' | FileCheck %t/largest.mlir
// RUN: sinter opt %t/same.mlir --pipeline='number-nodes,form-kernels{max-ops=3}' | FileCheck %t/same.mlir

//--- views.mlir
// CHECK: detail = "flip stored: a kernel has at most 3 ops and 32 buffers"
// CHECK-SAME: rule = "cut"
// CHECK-NOT: sinter.stored
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
// WHOLE-NOT: "cut"
// WHOLE-COUNT-1: program.launch
// WHOLE-NOT: program.launch
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = sinter.flip %x {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = sinter.flip %1 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = sinter.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = sinter.flip %3 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}
//--- numbers.mlir
// Numbers that a kernel stores are no longer repeated by those that read them.
// CHECK: detail = "sin stored
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<f32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sinter.sin %x : (tensor<f32>) -> tensor<f32>
  %1 = sinter.sin %0 : (tensor<f32>) -> tensor<f32>
  %2 = sinter.sin %1 : (tensor<f32>) -> tensor<f32>
  %3 = sinter.sin %2 : (tensor<f32>) -> tensor<f32>
  %4 = sinter.sin %3 : (tensor<f32>) -> tensor<f32>
  %5 = sinter.broadcast %4 {shape = affine_map<() -> (4)>} : (tensor<f32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}
//--- buffers.mlir
// CHECK: detail = "add stored: a kernel has at most 96 ops and 4 buffers"
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
func.func @main(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>) -> tensor<f32> {
  %0 = sinter.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = sinter.add %0, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = sinter.add %1, %d : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = sinter.add %2, %e : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
//--- join.mlir
// A join of joins. No more is copied twice than need be.
// CHECK: detail = "concat stored: a kernel has at most 96 ops and 4 buffers"
// CHECK-DAG: %[[A:.*]] = program.launch @map_{{.*}}(%arg0, %arg1, %arg2) {{.*}} -> tensor<6x2xf32>
// CHECK-DAG: %[[B:.*]] = program.launch @map_{{.*}}(%arg3, %arg4, %arg5) {{.*}} -> tensor<15x2xf32>
// CHECK-DAG: %[[C:.*]] = program.launch @map_{{.*}}(%arg6, %arg7) {{.*}} -> tensor<15x2xf32>
// CHECK: program.launch @map_{{.*}}(%[[A]], %[[B]], %[[C]]) {{.*}} -> tensor<36x2xf32>
// CHECK-NOT: program.launch
// What cannot be done in parts is done at once.
// TWO-COUNT-1: program.launch
// TWO-NOT: program.launch
// WHOLE-NOT: "cut"
// WHOLE-COUNT-1: program.launch
// WHOLE-NOT: program.launch
func.func @main(%a: tensor<1x2xf32>, %b: tensor<2x2xf32>, %c: tensor<3x2xf32>, %d: tensor<4x2xf32>, %e: tensor<5x2xf32>, %f: tensor<6x2xf32>, %g: tensor<7x2xf32>, %h: tensor<8x2xf32>) -> tensor<36x2xf32> {
  %0 = sinter.concat %a, %b, %c, %d, %e, %f, %g, %h {axis = 0 : i64} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>, tensor<4x2xf32>, tensor<5x2xf32>, tensor<6x2xf32>, tensor<7x2xf32>, tensor<8x2xf32>) -> tensor<36x2xf32>
  return %0 : tensor<36x2xf32>
}
//--- rows.mlir
// CHECK: #[[BOTH:.*]] = affine_map<()[s0, s1] -> (s0 + s1, 2)>
// CHECK: program.launch @map_{{.*}}(%arg0, %arg1) {{.*}} -> tensor<?x2xf32, #[[BOTH]]>
// CHECK: program.launch
// CHECK-NOT: program.launch
#a = affine_map<()[s0, s1] -> (s0, 2)>
#b = affine_map<()[s0, s1] -> (s1, 2)>
#c = affine_map<()[s0, s1] -> (s0 * 2 + s1, 2)>
func.func @main(%a: tensor<?x2xf32, #a>, %b: tensor<?x2xf32, #b>, %c: tensor<?x2xf32, #a>) -> tensor<?x2xf32, #c> {
  %0 = sinter.concat %a, %b, %c {axis = 0 : i64} : (tensor<?x2xf32, #a>, tensor<?x2xf32, #b>, tensor<?x2xf32, #a>) -> tensor<?x2xf32, #c>
  return %0 : tensor<?x2xf32, #c>
}
//--- large.mlir
// Operands that leave no room for others are stored.
// CHECK: detail = "flip stored
// CHECK-COUNT-3: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %z: tensor<2x2xf32>) -> tensor<6x2xf32> {
  %0 = sinter.flip %x {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = sinter.flip %1 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = sinter.flip %y {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = sinter.transpose %3 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = sinter.flip %4 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = sinter.flip %z {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = sinter.transpose %6 {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %8 = sinter.flip %7 {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %9 = sinter.concat %2, %5, %8 {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>
  return %9 : tensor<6x2xf32>
}
//--- largest.mlir
// Of two operands that are too many together, the one that takes more is stored.
// CHECK: detail = "sin stored: a kernel has at most 6 ops
// CHECK-NOT: stored: a kernel
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<64xf32>, %s: tensor<f32>, %t: tensor<f32>) -> tensor<64xf32> {
  %0 = sinter.exp %t : (tensor<f32>) -> tensor<f32>
  %1 = sinter.neg %0 : (tensor<f32>) -> tensor<f32>
  %2 = sinter.exp %s : (tensor<f32>) -> tensor<f32>
  %3 = sinter.tanh %2 : (tensor<f32>) -> tensor<f32>
  %4 = sinter.exp %3 : (tensor<f32>) -> tensor<f32>
  %5 = sinter.sin %4 : (tensor<f32>) -> tensor<f32>
  %6 = sinter.add %1, %5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %7 = sinter.broadcast %6 {shape = affine_map<() -> (64)>} : (tensor<f32>) -> tensor<64xf32>
  %8 = sinter.mul %x, %7 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %8 : tensor<64xf32>
}

//--- same.mlir
// A kernel has code for each operand, be they one tensor.
// CHECK: detail = "concat stored
// CHECK: sinter.concat %{{.*}}, %{{.*}} {axis
func.func @main(%x: tensor<2xf32>) -> tensor<8xf32> {
  %0 = sinter.concat %x, %x, %x, %x {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
