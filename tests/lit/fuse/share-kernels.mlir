// Kernels that differ in where a slice or a pad begins are one, which launches
// tell where; fewer than four stay as they are.
// RUN: split-file %s %t
// RUN: sinter inspect %t/slices.mlir --stage fuse | FileCheck %t/slices.mlir
// RUN: sinter inspect %t/pads.mlir --stage fuse | FileCheck %t/pads.mlir
// RUN: sinter inspect %t/few.mlir --stage fuse | FileCheck %t/few.mlir

//--- slices.mlir
// What divides all starts is known: rows begin at multiples of 2.
// CHECK-DAG: [[LIMITS:#.*]] = affine_map<()[s0] -> (2, 8)>
// CHECK-DAG: [[ROWS:#.*]] = affine_map<()[s0] -> (s0 * 2, 0)>
// CHECK-DAG: [[FIRST:#.*]] = affine_map<() -> (0)>
// CHECK-DAG: [[SECOND:#.*]] = affine_map<() -> (1)>
// CHECK-DAG: [[THIRD:#.*]] = affine_map<() -> (3)>
// CHECK-DAG: [[FOURTH:#.*]] = affine_map<() -> (2)>
// CHECK: program.kernel
// CHECK: sinter.slice {{.*}}limits = [[LIMITS]], sinter.offsets = [[ROWS]], starts = array<i64: 0, 0>
// CHECK-NOT: program.kernel
// CHECK: program.launch {{.*}} dims [[FIRST]] :
// CHECK: program.launch {{.*}} dims [[SECOND]] :
// CHECK: program.launch {{.*}} dims [[THIRD]] :
// CHECK: program.launch {{.*}} dims [[FOURTH]] :
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = sinter.slice %x {starts = array<i64: 0, 0>, limits = affine_map<() -> (2, 8)>, steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %1 = sinter.matmul %0, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %2 = sinter.slice %x {starts = array<i64: 2, 0>, limits = affine_map<() -> (4, 8)>, steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %3 = sinter.matmul %2, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %4 = sinter.slice %x {starts = array<i64: 6, 0>, limits = affine_map<() -> (8, 8)>, steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %5 = sinter.matmul %4, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %6 = sinter.slice %x {starts = array<i64: 4, 0>, limits = affine_map<() -> (6, 8)>, steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %7 = sinter.matmul %6, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  return %1, %3, %5, %7 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

//--- pads.mlir
// CHECK: [[ROWS:#.*]] = affine_map<()[s0] -> (s0, 0)>
// CHECK: program.kernel
// CHECK: sinter.pad {{.*}}low = array<i64: 0, 0>{{.*}}sinter.offsets = [[ROWS]]
// CHECK-NOT: program.kernel
// CHECK-COUNT-4: program.launch
func.func @main(%x: tensor<5x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sinter.pad %x {low = array<i64: 0, 0>, shape = affine_map<() -> (8, 8)>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<5x8xf32>) -> tensor<8x8xf32>
  %1 = sinter.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sinter.pad %x {low = array<i64: 1, 0>, shape = affine_map<() -> (8, 8)>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<5x8xf32>) -> tensor<8x8xf32>
  %3 = sinter.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = sinter.pad %x {low = array<i64: 2, 0>, shape = affine_map<() -> (8, 8)>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<5x8xf32>) -> tensor<8x8xf32>
  %5 = sinter.matmul %4, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = sinter.pad %x {low = array<i64: 3, 0>, shape = affine_map<() -> (8, 8)>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<5x8xf32>) -> tensor<8x8xf32>
  %7 = sinter.matmul %6, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3, %5, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

//--- few.mlir
// CHECK-COUNT-3: program.kernel
// CHECK-NOT: sinter.offsets
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = sinter.slice %x {starts = array<i64: 0, 0>, limits = affine_map<() -> (2, 8)>, steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %1 = sinter.matmul %0, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %2 = sinter.slice %x {starts = array<i64: 2, 0>, limits = affine_map<() -> (4, 8)>, steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %3 = sinter.matmul %2, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %4 = sinter.slice %x {starts = array<i64: 6, 0>, limits = affine_map<() -> (8, 8)>, steps = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<2x8xf32>
  %5 = sinter.matmul %4, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  return %1, %3, %5 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}
