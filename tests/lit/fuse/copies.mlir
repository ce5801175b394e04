// What is read through several views is written out for each of them: where
// that makes a kernel too large, values between are stored.
// RUN: split-file %s %t
// RUN: sinter opt %t/merge.mlir --pipeline='number-nodes,form-kernels{max-copies=2}' | FileCheck %t/merge.mlir
// RUN: sinter opt %t/merge.mlir --pipeline=number-nodes,form-kernels | FileCheck %t/merge.mlir --check-prefix=ALL
// RUN: sinter opt %t/views.mlir --pipeline='number-nodes,form-kernels{max-copies=2}' | FileCheck %t/views.mlir
// RUN: sinter opt %t/views.mlir --pipeline=number-nodes,form-kernels | FileCheck %t/views.mlir --check-prefix=ALL
// RUN: sinter opt %t/numbers.mlir --pipeline='number-nodes,form-kernels{max-copies=1}' | FileCheck %t/numbers.mlir
// RUN: sinter opt %t/many.mlir --pipeline=number-nodes,form-kernels | FileCheck %t/many.mlir
// RUN: sinter explain %t/steps.mlir | FileCheck %t/steps.mlir
// RUN: sinter inspect %t/merge.mlir --stage lower | FileCheck %t/merge.mlir --check-prefix=LOWER

//--- merge.mlir
// Two ops that read their operand both ways: four elements of the first one's
// operand, which are 14 in all.
// CHECK-DAG: accepted = false, {{.*}}detail = "{{.*}}: over 12 elements would be written out for 6 ops and inputs", {{.*}}rule = "cap_copies"
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
// ALL-NOT: rule = "cap_copies"
// ALL-COUNT-1: program.launch
// ALL-NOT: program.launch
// LOWER: // ---- kernel map_
// LOWER-NEXT: // of 5 ops
// LOWER: func.func @map_{{.*}}sinter.elements = 12 : i64
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = sinter.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = sinter.flip %0 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<64xf32>
  %2 = sinter.add %0, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %3 = sinter.flip %2 {axes = array<i64: 0>} : (tensor<64xf32>) -> tensor<64xf32>
  %4 = sinter.add %2, %3 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %4 : tensor<64xf32>
}

//--- views.mlir
// No op computes anything, and each reads the one before twice.
// CHECK-DAG: accepted = false, {{.*}}detail = "concat into concat: 29 elements would be written out for 10 ops and inputs", {{.*}}rule = "cap_copies"
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
// ALL-NOT: rule = "cap_copies"
// ALL-COUNT-1: program.launch
// ALL-NOT: program.launch
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = sinter.slice %x {starts = array<i64: 63>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<1xf32>
  %1 = sinter.slice %x {starts = array<i64: 0>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<63xf32>
  %2 = sinter.concat %0, %1 {axis = 0 : i64} : (tensor<1xf32>, tensor<63xf32>) -> tensor<64xf32>
  %3 = sinter.slice %2 {starts = array<i64: 63>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<1xf32>
  %4 = sinter.slice %2 {starts = array<i64: 0>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<63xf32>
  %5 = sinter.concat %3, %4 {axis = 0 : i64} : (tensor<1xf32>, tensor<63xf32>) -> tensor<64xf32>
  %6 = sinter.slice %5 {starts = array<i64: 63>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<1xf32>
  %7 = sinter.slice %5 {starts = array<i64: 0>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<63xf32>
  %8 = sinter.concat %6, %7 {axis = 0 : i64} : (tensor<1xf32>, tensor<63xf32>) -> tensor<64xf32>
  return %8 : tensor<64xf32>
}

//--- numbers.mlir
// A single number has one element, whatever spreads it.
// CHECK-NOT: rule = "cap_copies"
// CHECK-COUNT-1: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<64xf32>, %s: tensor<f32>) -> tensor<64xf32> {
  %0 = sinter.exp %s : (tensor<f32>) -> tensor<f32>
  %1 = sinter.neg %0 : (tensor<f32>) -> tensor<f32>
  %2 = sinter.broadcast %1 {shape = affine_map<() -> (64)>} : (tensor<f32>) -> tensor<64xf32>
  %3 = sinter.broadcast %0 {shape = affine_map<() -> (64)>} : (tensor<f32>) -> tensor<64xf32>
  %4 = sinter.mul %x, %2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %5 = sinter.add %4, %3 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %5 : tensor<64xf32>
}

//--- many.mlir
// A product each, which would all repeat what they read.
// CHECK: detail = "{{.*}}elements would be written out 4 times", {{.*}}rule = "cap_copies"
// CHECK: %[[X:[0-9]+]] = program.launch @map_{{[0-9a-f]+}}(%arg0)
// CHECK-COUNT-4: program.launch @contraction_{{[0-9a-f]+}}(%[[X]], %
func.func @main(%x: tensor<64xf32>, %w: tensor<64x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>) {
  %0 = sinter.slice %x {starts = array<i64: 63>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<1xf32>
  %1 = sinter.slice %x {starts = array<i64: 0>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<63xf32>
  %2 = sinter.concat %0, %1 {axis = 0 : i64} : (tensor<1xf32>, tensor<63xf32>) -> tensor<64xf32>
  %3 = sinter.slice %2 {starts = array<i64: 63>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<1xf32>
  %4 = sinter.slice %2 {starts = array<i64: 0>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<63xf32>
  %5 = sinter.concat %3, %4 {axis = 0 : i64} : (tensor<1xf32>, tensor<63xf32>) -> tensor<64xf32>
  %6 = sinter.reshape %5 {shape = affine_map<() -> (1, 64)>} : (tensor<64xf32>) -> tensor<1x64xf32>
  %a = sinter.matmul %6, %w : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
  %v = sinter.exp %w : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %b = sinter.matmul %6, %v : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
  %u = sinter.tanh %w : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %c = sinter.matmul %6, %u : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
  %t = sinter.sin %w : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %d = sinter.matmul %6, %t : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
  return %a, %b, %c, %d : tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>
}

//--- steps.mlir
// Three such steps, of three places each.
// CHECK: not fused
// CHECK: cap_copies: {{.*}} elements would be written out for
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a0 = sinter.slice %x {starts = array<i64: 0>, limits = affine_map<() -> (62)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %a1 = sinter.slice %x {starts = array<i64: 1>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %a2 = sinter.slice %x {starts = array<i64: 2>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %a3 = sinter.add %a0, %a1 : (tensor<62xf32>, tensor<62xf32>) -> tensor<62xf32>
  %a4 = sinter.add %a3, %a2 : (tensor<62xf32>, tensor<62xf32>) -> tensor<62xf32>
  %a5 = sinter.pad %a4 {low = array<i64: 1>, shape = affine_map<() -> (64)>, interior = array<i64: 0>, value = 0.0 : f64} : (tensor<62xf32>) -> tensor<64xf32>
  %b0 = sinter.slice %a5 {starts = array<i64: 0>, limits = affine_map<() -> (62)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %b1 = sinter.slice %a5 {starts = array<i64: 1>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %b2 = sinter.slice %a5 {starts = array<i64: 2>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %b3 = sinter.add %b0, %b1 : (tensor<62xf32>, tensor<62xf32>) -> tensor<62xf32>
  %b4 = sinter.add %b3, %b2 : (tensor<62xf32>, tensor<62xf32>) -> tensor<62xf32>
  %b5 = sinter.pad %b4 {low = array<i64: 1>, shape = affine_map<() -> (64)>, interior = array<i64: 0>, value = 0.0 : f64} : (tensor<62xf32>) -> tensor<64xf32>
  %c0 = sinter.slice %b5 {starts = array<i64: 0>, limits = affine_map<() -> (62)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %c1 = sinter.slice %b5 {starts = array<i64: 1>, limits = affine_map<() -> (63)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %c2 = sinter.slice %b5 {starts = array<i64: 2>, limits = affine_map<() -> (64)>, steps = array<i64: 1>} : (tensor<64xf32>) -> tensor<62xf32>
  %c3 = sinter.add %c0, %c1 : (tensor<62xf32>, tensor<62xf32>) -> tensor<62xf32>
  %c4 = sinter.add %c3, %c2 : (tensor<62xf32>, tensor<62xf32>) -> tensor<62xf32>
  %c5 = sinter.pad %c4 {low = array<i64: 1>, shape = affine_map<() -> (64)>, interior = array<i64: 0>, value = 0.0 : f64} : (tensor<62xf32>) -> tensor<64xf32>
  return %c5 : tensor<64xf32>
}
