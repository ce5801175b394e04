// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s

// CHECK-LABEL: @main(%arg0: tensor<2x4xf32>)
// CHECK-NEXT: %[[ONE:.*]] = sinter.reshape %arg0 {shape = {{.*}}} : (tensor<2x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: return %[[ONE]]
func.func @main(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (8)>} : (tensor<2x4xf32>) -> tensor<8xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (4, 2)>} : (tensor<8xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

// Transposes compose; the identity vanishes.
// CHECK-LABEL: @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}

// -----

// A transpose that moves only dims of size 1 is a reshape.
// CHECK-LABEL: @main
// CHECK-NEXT: sinter.reshape %arg0
func.func @main(%x: tensor<3x1x4xf32>) -> tensor<1x3x4xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<3x1x4xf32>) -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}

// -----

// A slice of a slice is one.
// CHECK-LABEL: @main
// CHECK-NEXT: sinter.slice %arg0 {limits = {{.*}}, starts = array<i64: 3>, steps = array<i64: 2>}
// CHECK-NEXT: return
func.func @main(%x: tensor<10xf32>) -> tensor<3xf32> {
  %0 = sinter.slice %x {starts = array<i64: 2>, limits = affine_map<() -> (9)>, steps = array<i64: 1>} : (tensor<10xf32>) -> tensor<7xf32>
  %1 = sinter.slice %0 {starts = array<i64: 1>, limits = affine_map<() -> (6)>, steps = array<i64: 2>} : (tensor<7xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// Constants fold to one number: (2 + 1) / 2 = 1.5, whatever the shape.
// CHECK-LABEL: @main
// CHECK-NEXT: %[[C:.*]] = sinter.full {{.*}}value = 1.500000e+00 : f64
// CHECK-NEXT: sinter.mul %arg0, %[[C]]
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = sinter.full {shape = affine_map<() -> ()>, value = 2 : i64, dtype = f32} : () -> tensor<f32>
  %1 = sinter.full {shape = affine_map<() -> ()>, value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
  %2 = sinter.add %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = sinter.div %2, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = sinter.broadcast %3 {shape = affine_map<() -> (4, 4)>} : (tensor<f32>) -> tensor<4x4xf32>
  %5 = sinter.mul %x, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// What a polynomial approximates is not folded: the kernel decides its bits.
// CHECK-LABEL: @main
// CHECK: sinter.exp
func.func @main() -> tensor<f32> {
  %0 = sinter.full {shape = affine_map<() -> ()>, value = 2 : i64, dtype = f32} : () -> tensor<f32>
  %1 = sinter.exp %0 : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// x * 1, x - 0 and x / 1 are x. x + 0 is not: -0 + 0 is 0.
// CHECK-LABEL: @main
// CHECK: %[[ZERO:.*]] = sinter.full
// CHECK-NEXT: sinter.add %arg0, %[[ZERO]]
// CHECK-NEXT: return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = sinter.full {shape = affine_map<() -> (4)>, value = 1 : i64, dtype = f32} : () -> tensor<4xf32>
  %zero = sinter.full {shape = affine_map<() -> (4)>, value = 0 : i64, dtype = f32} : () -> tensor<4xf32>
  %0 = sinter.mul %x, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = sinter.div %0, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = sinter.sub %1, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = sinter.add %2, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// The transpose of a product moves into its operands.
// CHECK-LABEL: @main
// CHECK-NEXT: %[[T:.*]] = sinter.transpose %arg1
// CHECK-NEXT: sinter.matmul %[[T]], %arg0 : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: return
func.func @main(%x: tensor<4x3xf32>, %g: tensor<4x5xf32>) -> tensor<5x3xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = sinter.matmul %0, %g : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}

// -----

// A pad of nothing, and a flip of axes of one element, vanish.
// CHECK-LABEL: @main
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = sinter.pad %x {interior = array<i64: 0, 2>, low = array<i64: 0, 0>, shape = affine_map<() -> (4, 1)>, value = 0 : i64} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = sinter.flip %0 {axes = array<i64: 1>} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// -----

// CHECK-LABEL: @main
// CHECK-NEXT: sinter.pad
// CHECK-NEXT: sinter.flip
func.func @main(%x: tensor<4x1xf32>) -> tensor<5x1xf32> {
  %0 = sinter.pad %x {interior = array<i64: 0, 0>, low = array<i64: 1, 0>, shape = affine_map<() -> (5, 1)>, value = 0 : i64} : (tensor<4x1xf32>) -> tensor<5x1xf32>
  %1 = sinter.flip %0 {axes = array<i64: 0>} : (tensor<5x1xf32>) -> tensor<5x1xf32>
  return %1 : tensor<5x1xf32>
}
