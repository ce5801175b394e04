// RUN: sinter opt %s --split-input-file --pipeline=products-of-bytes --target=cpu:x86-64-v4+avx512vnni | FileCheck %s
// RUN: sinter opt %s --split-input-file --pipeline=products-of-bytes --target=cpu:x86-64-v4+avx512vnni+amx-int8+amx-tile \
// RUN:   | FileCheck %s --check-prefix=OUTSIDE

// One number is the zero, one the scale, and each column has a scale. A product
// that takes a zero off does so; for another, sums of columns do.
// CHECK-LABEL: @main
// CHECK-SAME: %[[A:.*]]: tensor<16x64xui8>, %[[B:.*]]: tensor<32x64xi8>, %[[S:.*]]: tensor<32x1xf32>
// CHECK: %[[TURNED:.*]] = sinter.transpose %[[B]] {{.*}} -> tensor<64x32xi8>
// CHECK: %[[LEFT:.*]] = sinter.cast %[[A]] {{.*}} -> tensor<16x64xi32>
// CHECK: %[[RIGHT:.*]] = sinter.cast %[[TURNED]] {{.*}} -> tensor<64x32xi32>
// CHECK: %[[LESS:.*]] = sinter.sub %[[LEFT]]
// CHECK: %[[SUMS:.*]] = sinter.matmul %[[LESS]], %[[RIGHT]] {{.*}} -> tensor<16x32xi32>
// CHECK-NEXT: sinter.cast %[[SUMS]] {{.*}} -> tensor<16x32xf32>
// CHECK-NOT: sinter.matmul
// OUTSIDE-LABEL: @main
// OUTSIDE: %[[TURNED:.*]] = sinter.transpose %{{.*}} -> tensor<64x32xi8>
// OUTSIDE: %[[SUMS:.*]] = sinter.matmul {{.*}} -> tensor<16x32xi32>
// OUTSIDE: sinter.sum %[[TURNED]] {axes = array<i64: 0>, keepdims = true} {{.*}} -> tensor<1x32xi64>
// OUTSIDE: %[[LESS:.*]] = sinter.sub %[[SUMS]]
// OUTSIDE: sinter.cast %[[LESS]] {{.*}} -> tensor<16x32xf32>
func.func @main(%a: tensor<16x64xui8>, %b: tensor<32x64xi8>, %s: tensor<32x1xf32>) -> tensor<16x32xf32> {
  %0 = sinter.cast %a {dtype = i32} : (tensor<16x64xui8>) -> tensor<16x64xi32>
  %1 = sinter.full {dtype = i32, shape = affine_map<() -> (16, 64)>, value = 7 : i64} : () -> tensor<16x64xi32>
  %2 = sinter.sub %0, %1 : (tensor<16x64xi32>, tensor<16x64xi32>) -> tensor<16x64xi32>
  %3 = sinter.cast %2 {dtype = f32} : (tensor<16x64xi32>) -> tensor<16x64xf32>
  %4 = sinter.full {dtype = f32, shape = affine_map<() -> (16, 64)>, value = 0.25 : f64} : () -> tensor<16x64xf32>
  %5 = sinter.mul %3, %4 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %6 = sinter.cast %b {dtype = f32} : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %7 = sinter.broadcast %s {shape = affine_map<() -> (32, 64)>} : (tensor<32x1xf32>) -> tensor<32x64xf32>
  %8 = sinter.mul %6, %7 : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %9 = sinter.transpose %8 {permutation = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %10 = sinter.matmul %5, %9 : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  return %10 : tensor<16x32xf32>
}

// -----

// Around an image stands what its codes have for zero.
// CHECK-LABEL: @main
// CHECK: %[[PADDED:.*]] = sinter.pad %arg0 {{.*}}value = 7 : i64{{.*}} -> tensor<1x18x8xui8>
// CHECK: %[[WINDOWS:.*]] = sinter.window %[[PADDED]] {{.*}} -> tensor<1x16x8x3xui8>
// CHECK: sinter.matmul {{.*}} -> tensor<16x32xi32>
// OUTSIDE-LABEL: @main
// OUTSIDE: sinter.pad %arg0 {{.*}}value = 7 : i64{{.*}} -> tensor<1x18x8xui8>
func.func @main(%x: tensor<1x16x8xui8>, %b: tensor<24x32xi8>) -> tensor<16x32xf32> {
  %0 = sinter.cast %x {dtype = i32} : (tensor<1x16x8xui8>) -> tensor<1x16x8xi32>
  %1 = sinter.full {dtype = i32, shape = affine_map<() -> (1, 16, 8)>, value = 7 : i64} : () -> tensor<1x16x8xi32>
  %2 = sinter.sub %0, %1 : (tensor<1x16x8xi32>, tensor<1x16x8xi32>) -> tensor<1x16x8xi32>
  %3 = sinter.cast %2 {dtype = f32} : (tensor<1x16x8xi32>) -> tensor<1x16x8xf32>
  %4 = sinter.pad %3 {interior = array<i64: 0, 0, 0>, low = array<i64: 0, 1, 0>, shape = affine_map<() -> (1, 18, 8)>, value = 0 : i64} : (tensor<1x16x8xf32>) -> tensor<1x18x8xf32>
  %5 = sinter.window %4 {axes = array<i64: 1>, dilations = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<1x18x8xf32>) -> tensor<1x16x8x3xf32>
  %t = sinter.transpose %5 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x16x8x3xf32>) -> tensor<1x16x3x8xf32>
  %6 = sinter.reshape %t {shape = affine_map<() -> (16, 24)>} : (tensor<1x16x3x8xf32>) -> tensor<16x24xf32>
  %7 = sinter.cast %b {dtype = f32} : (tensor<24x32xi8>) -> tensor<24x32xf32>
  %8 = sinter.matmul %6, %7 : (tensor<16x24xf32>, tensor<24x32xf32>) -> tensor<16x32xf32>
  return %8 : tensor<16x32xf32>
}

// -----

// A scale that differs along what is summed, and sums that may not fit, stay
// floats.
// CHECK-LABEL: @main
// OUTSIDE-LABEL: @main
// CHECK-NOT: sinter.matmul {{.*}} -> tensor<{{.*}}xi32>
func.func @main(%a: tensor<16x64xi8>, %s: tensor<64xf32>, %b: tensor<64x32xi8>, %c: tensor<16x40000xi8>, %d: tensor<40000x32xi8>) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = sinter.cast %a {dtype = f32} : (tensor<16x64xi8>) -> tensor<16x64xf32>
  %1 = sinter.broadcast %s {shape = affine_map<() -> (16, 64)>} : (tensor<64xf32>) -> tensor<16x64xf32>
  %2 = sinter.mul %0, %1 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %3 = sinter.cast %b {dtype = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %4 = sinter.matmul %2, %3 : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %5 = sinter.cast %c {dtype = f32} : (tensor<16x40000xi8>) -> tensor<16x40000xf32>
  %6 = sinter.cast %d {dtype = f32} : (tensor<40000x32xi8>) -> tensor<40000x32xf32>
  %7 = sinter.matmul %5, %6 : (tensor<16x40000xf32>, tensor<40000x32xf32>) -> tensor<16x32xf32>
  return %4, %7 : tensor<16x32xf32>, tensor<16x32xf32>
}

// -----

// Few rows take zeros off as they read: the same sums.
// CHECK-LABEL: @main
// OUTSIDE-LABEL: @main
// CHECK: %[[LESS:.*]] = sinter.sub
// CHECK: %[[SUMS:.*]] = sinter.matmul %[[LESS]], {{.*}} -> tensor<2x32xi32>
// CHECK-NEXT: %[[FLOATS:.*]] = sinter.cast %[[SUMS]]
// CHECK: sinter.mul %[[FLOATS]]
func.func @main(%a: tensor<2x64xi8>, %s: tensor<2x1xf32>, %b: tensor<64x32xi8>) -> tensor<2x32xf32> {
  %0 = sinter.cast %a {dtype = i32} : (tensor<2x64xi8>) -> tensor<2x64xi32>
  %1 = sinter.full {dtype = i32, shape = affine_map<() -> (2, 64)>, value = 7 : i64} : () -> tensor<2x64xi32>
  %2 = sinter.sub %0, %1 : (tensor<2x64xi32>, tensor<2x64xi32>) -> tensor<2x64xi32>
  %3 = sinter.cast %2 {dtype = f32} : (tensor<2x64xi32>) -> tensor<2x64xf32>
  %4 = sinter.broadcast %s {shape = affine_map<() -> (2, 64)>} : (tensor<2x1xf32>) -> tensor<2x64xf32>
  %5 = sinter.mul %3, %4 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
  %6 = sinter.cast %b {dtype = f32} : (tensor<64x32xi8>) -> tensor<64x32xf32>
  %7 = sinter.matmul %5, %6 : (tensor<2x64xf32>, tensor<64x32xf32>) -> tensor<2x32xf32>
  return %7 : tensor<2x32xf32>
}

// -----

// Zeros are taken off sums of integers, too.
// CHECK-LABEL: @main
// OUTSIDE-LABEL: @main
// CHECK: %[[A:.*]] = sinter.cast %arg0 {{.*}} -> tensor<16x64xi32>
// CHECK: %[[B:.*]] = sinter.cast %arg1 {{.*}} -> tensor<64x32xi32>
// CHECK: sinter.matmul %[[A]], %[[B]]
// CHECK: sinter.sum %arg0 {axes = array<i64: 1>, keepdims = true} {{.*}} -> tensor<16x1xi64>
// CHECK: sinter.sum %arg1 {axes = array<i64: 0>, keepdims = true} {{.*}} -> tensor<1x32xi64>
func.func @main(%a: tensor<16x64xui8>, %b: tensor<64x32xui8>, %z: tensor<i32>) -> tensor<16x32xi32> {
  %0 = sinter.cast %a {dtype = i32} : (tensor<16x64xui8>) -> tensor<16x64xi32>
  %1 = sinter.broadcast %z {shape = affine_map<() -> (16, 64)>} : (tensor<i32>) -> tensor<16x64xi32>
  %2 = sinter.sub %0, %1 : (tensor<16x64xi32>, tensor<16x64xi32>) -> tensor<16x64xi32>
  %3 = sinter.cast %b {dtype = i32} : (tensor<64x32xui8>) -> tensor<64x32xi32>
  %4 = sinter.full {dtype = i32, shape = affine_map<() -> (64, 32)>, value = 300 : i64} : () -> tensor<64x32xi32>
  %5 = sinter.sub %3, %4 : (tensor<64x32xi32>, tensor<64x32xi32>) -> tensor<64x32xi32>
  %6 = sinter.matmul %2, %5 : (tensor<16x64xi32>, tensor<64x32xi32>) -> tensor<16x32xi32>
  return %6 : tensor<16x32xi32>
}

// -----

// Words would lie in two runs of three channels.
// CHECK-LABEL: @main
// OUTSIDE-LABEL: @main
// CHECK-NOT: sinter.matmul {{.*}} -> tensor<{{.*}}xi32>
func.func @main(%x: tensor<1x18x3xui8>, %b: tensor<9x32xi8>) -> tensor<16x32xf32> {
  %0 = sinter.cast %x {dtype = f32} : (tensor<1x18x3xui8>) -> tensor<1x18x3xf32>
  %1 = sinter.window %0 {axes = array<i64: 1>, dilations = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<1x18x3xf32>) -> tensor<1x16x3x3xf32>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (16, 9)>} : (tensor<1x16x3x3xf32>) -> tensor<16x9xf32>
  %3 = sinter.cast %b {dtype = f32} : (tensor<9x32xi8>) -> tensor<9x32xf32>
  %4 = sinter.matmul %2, %3 : (tensor<16x9xf32>, tensor<9x32xf32>) -> tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}
