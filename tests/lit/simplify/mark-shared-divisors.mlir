// RUN: sinter opt %s --split-input-file --pipeline=mark-shared-divisors | FileCheck %s
// RUN: sinter opt %s --split-input-file --pipeline='mark-shared-divisors{numbers=true}' | FileCheck %s --check-prefixes=CHECK,NUMBERS

// A row's elements divided by what is computed from their sum.
// CHECK-LABEL: @main
// CHECK: sinter.div {{.*}} {sinter.shared_divisor}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = sinter.sqrt %0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = sinter.broadcast %1 {shape = affine_map<() -> (4, 8)>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %3 = sinter.div %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// Of one element a row there is no broadcast: a symbolic program has one.
// CHECK-LABEL: @main
// CHECK: sinter.div {{.*}} {sinter.shared_divisor}
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = sinter.div %x, %0 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// -----

// Sums divided by sums, a divisor that is an input, and one that differs from
// element to element.
// CHECK-LABEL: @main
// CHECK-NOT: sinter.shared_divisor
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = sinter.amax %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = sinter.div %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = sinter.div %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = sinter.reshape %0 {shape = affine_map<() -> (4, 1)>} : (tensor<4xf32>) -> tensor<4x1xf32>
  %5 = sinter.broadcast %4 {shape = affine_map<() -> (4, 8)>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %6 = sinter.add %5, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = sinter.div %x, %6 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2, %3, %7 : tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A constant and a tensor of rank 0, where divisions by numbers are asked for;
// not a quotient of rank 0.
// CHECK-LABEL: @main
// NUMBERS: sinter.div {{.*}} {sinter.shared_divisor}
// NUMBERS: sinter.div {{.*}} {sinter.shared_divisor}
// CHECK-NOT: sinter.shared_divisor
func.func @main(%x: tensor<4x8xf32>, %s: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) {
  %0 = sinter.full {shape = affine_map<() -> (4, 8)>, value = 3.0 : f64, dtype = f32} : () -> tensor<4x8xf32>
  %1 = sinter.div %x, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = sinter.broadcast %s {shape = affine_map<() -> (4, 8)>} : (tensor<f32>) -> tensor<4x8xf32>
  %3 = sinter.div %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = sinter.div %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1, %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>
}

// -----

// Quotients that are rounded, also after other arithmetic and views, are divided;
// one beside them is not.
// CHECK-LABEL: @main
// CHECK: %[[QUOTIENT:.*]] = sinter.div %{{.*}}, %{{[0-9]+}} : (
// CHECK: sinter.add %[[QUOTIENT]]
// CHECK: %[[CAST:.*]] = sinter.div %{{.*}}, %{{[0-9]+}} : (
// CHECK: sinter.cast %[[CAST]]
// CHECK: sinter.div {{.*}} {sinter.shared_divisor}
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xui8>, tensor<4x8xi1>) {
  %0 = sinter.amax %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<f32>
  %1 = sinter.broadcast %0 {shape = affine_map<() -> (4, 8)>} : (tensor<f32>) -> tensor<4x8xf32>
  %2 = sinter.div %x, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = sinter.add %2, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = sinter.transpose %3 {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %5 = sinter.round %4 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %6 = sinter.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = sinter.div %6, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = sinter.cast %7 {dtype = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %9 = sinter.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = sinter.div %9, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = sinter.cast %10 {dtype = i1} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  return %5, %8, %11 : tensor<8x4xf32>, tensor<4x8xui8>, tensor<4x8xi1>
}
