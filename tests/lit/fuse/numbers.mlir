// Single numbers that are returned are computed again by those that read them,
// and stored by a kernel that runs anyway.
// RUN: split-file %s %t
// RUN: sinter opt %t/counts.mlir --until=fuse | FileCheck %t/counts.mlir
// RUN: sinter opt %t/unfused.mlir --pipeline='form-kernels{one-per-op=true}' | FileCheck %t/unfused.mlir
// RUN: sinter opt %t/alone.mlir --until=fuse | FileCheck %t/alone.mlir
//--- counts.mlir
// Two counts, whatever their ranks, of which the one is read by sums.
// CHECK-COUNT-2: program.kernel
// CHECK-NOT: program.kernel
// CHECK: program.launch
// CHECK: program.launch
// CHECK-NOT: program.launch
// CHECK: // accepted horizontal: exp side by side with mul
func.func @main(%x: tensor<400x300xf32>, %count: tensor<i64>, %rate: tensor<1xf32>) -> (tensor<400xf32>, tensor<400x300xf32>, tensor<i64>, tensor<1xf32>) {
  %one = sinter.full {dtype = i64, shape = affine_map<() -> ()>, value = 1 : i64} : () -> tensor<i64>
  %next = sinter.add %count, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %lower = sinter.mul %rate, %rate : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %number = sinter.cast %next {dtype = f32} : (tensor<i64>) -> tensor<f32>
  %spread = sinter.broadcast %number {shape = affine_map<() -> (400)>} : (tensor<f32>) -> tensor<400xf32>
  %sum = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<400x300xf32>) -> tensor<400xf32>
  %mean = sinter.div %sum, %spread : (tensor<400xf32>, tensor<400xf32>) -> tensor<400xf32>
  %exp = sinter.exp %x : (tensor<400x300xf32>) -> tensor<400x300xf32>
  return %mean, %exp, %next, %lower : tensor<400xf32>, tensor<400x300xf32>, tensor<i64>, tensor<1xf32>
}
//--- unfused.mlir
// CHECK-COUNT-3: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<4xf32>, %count: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %next = sinter.add %count, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %spread = sinter.broadcast %next {shape = affine_map<() -> (4)>} : (tensor<f32>) -> tensor<4xf32>
  %y = sinter.mul %x, %spread : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %next : tensor<4xf32>, tensor<f32>
}
//--- alone.mlir
// What runs anyway may be no kernel that stores another shape.
// CHECK: program.kernel @map
// CHECK: program.kernel @reduce
// CHECK-COUNT-2: program.launch
// CHECK-NOT: program.launch
func.func @main(%x: tensor<40x30xf32>, %count: tensor<f32>) -> (tensor<40xf32>, tensor<f32>) {
  %next = sinter.add %count, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %sum = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<40x30xf32>) -> tensor<40xf32>
  return %sum, %next : tensor<40xf32>, tensor<f32>
}
