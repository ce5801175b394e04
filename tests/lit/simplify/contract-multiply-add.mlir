// RUN: sinter opt %s --split-input-file --pipeline=contract-multiply-add | FileCheck %s

// CHECK-LABEL: @main
// CHECK: sinter.add {{.*}} {sinter.contract = 0 : i64}
// CHECK: sinter.sub {{.*}} {sinter.contract = 1 : i64}
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = sinter.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = sinter.add %0, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = sinter.mul %c, %c : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %3 = sinter.sub %c, %2 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  return %1, %3 : tensor<4xf32>, tensor<4xbf16>
}

// -----

// Integers do not round. A product of numbers alone may be folded, in a static
// program: it decides nothing.
// CHECK-LABEL: @main
// CHECK-NOT: sinter.contract
func.func @main(%a: tensor<i32>, %b: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %0 = sinter.mul %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = sinter.add %0, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = sinter.full {shape = affine_map<() -> ()>, value = 3 : i64, dtype = f32} : () -> tensor<f32>
  %3 = sinter.mul %2, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = sinter.add %3, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1, %4 : tensor<i32>, tensor<f32>
}

// -----

// What is read twice is rounded for both readers, and of a * b - a * b neither
// side is spared its rounding.
// CHECK-LABEL: @main
// CHECK-NOT: sinter.contract
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = sinter.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = sinter.add %0, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = sinter.mul %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = sinter.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = sinter.sub %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A sum along an axis takes products in without rounding them, if nothing else
// reads them.
// CHECK-LABEL: @main
// CHECK: sinter.sum {{.*}} sinter.contract = 0 : i64
// CHECK-NOT: sinter.contract
func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xbf16>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<4xbf16>) {
  %0 = sinter.mul %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = sinter.sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = sinter.mul %b, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = sinter.sum %2 {axes = array<i64: 0>, keepdims = false} : (tensor<4x8xf32>) -> tensor<8xf32>
  %4 = sinter.mul %c, %c : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %5 = sinter.sum %4 {axes = array<i64: 1>, keepdims = false} : (tensor<4x8xbf16>) -> tensor<4xbf16>
  return %1, %3, %2, %5 : tensor<4xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<4xbf16>
}
