// RUN: sinter opt %s --split-input-file --pipeline=simplify-ops,remove-dead-ops | FileCheck %s

// What a pooling's gradient spreads over windows is turned before: a ninth of
// the elements.
// CHECK-LABEL: @main
// CHECK: %[[Y:.*]] = sinter.reshape %arg0 {{.*}} -> tensor<6x16x8x8xf32>
// CHECK: %[[T:.*]] = sinter.transpose %[[Y]] {permutation = array<i64: 0, 2, 3, 1>, sinter.stored} : {{.*}} -> tensor<6x8x8x16xf32>
// CHECK: %[[O:.*]] = sinter.reshape %[[T]] {{.*}} -> tensor<6x8x1x8x1x16xf32>
// CHECK: %[[B:.*]] = sinter.broadcast %[[O]] {{.*}} -> tensor<6x8x3x8x3x16xf32>
// CHECK: %[[R:.*]] = sinter.reshape %[[B]] {{.*}} -> tensor<6x24x24x16xf32>
// CHECK: %[[Z:.*]] = sinter.full {{.*}} -> tensor<6x24x24x16xf32>
// CHECK: %[[A:.*]] = sinter.add %[[R]], %[[Z]]
// CHECK: return %[[A]]
func.func @main(%x: tensor<6x1024xf32>) -> tensor<6x24x24x16xf32> {
  %1 = sinter.reshape %x {shape = affine_map<() -> (6, 16, 1, 1, 8, 8)>} : (tensor<6x1024xf32>) -> tensor<6x16x1x1x8x8xf32>
  %2 = sinter.broadcast %1 {shape = affine_map<() -> (6, 16, 3, 3, 8, 8)>} : (tensor<6x16x1x1x8x8xf32>) -> tensor<6x16x3x3x8x8xf32>
  %3 = sinter.transpose %2 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<6x16x3x3x8x8xf32>) -> tensor<6x16x8x3x8x3xf32>
  %4 = sinter.reshape %3 {shape = affine_map<() -> (6, 16, 24, 24)>} : (tensor<6x16x8x3x8x3xf32>) -> tensor<6x16x24x24xf32>
  %5 = sinter.full  {dtype = f32, shape = affine_map<() -> (6, 16, 24, 24)>, value = 0.000000e+00 : f64} : () -> tensor<6x16x24x24xf32>
  %6 = sinter.add %4, %5 : (tensor<6x16x24x24xf32>, tensor<6x16x24x24xf32>) -> tensor<6x16x24x24xf32>
  %7 = sinter.transpose %6 {permutation = array<i64: 0, 2, 3, 1>, sinter.stored} : (tensor<6x16x24x24xf32>) -> tensor<6x24x24x16xf32>
  return %7 : tensor<6x24x24x16xf32>
}

// -----

// Of one number for each row nothing is left to turn.
// CHECK-LABEL: @main
// CHECK-NOT: sinter.stored
// CHECK: %[[R:.*]] = sinter.reshape %arg0 {{.*}} -> tensor<1x40xf32>
// CHECK: %[[B:.*]] = sinter.broadcast %[[R]] {{.*}} -> tensor<30x40xf32>
// CHECK: return %[[B]]
func.func @main(%x: tensor<40x1xf32>) -> tensor<30x40xf32> {
  %1 = sinter.broadcast %x {shape = affine_map<() -> (40, 30)>} : (tensor<40x1xf32>) -> tensor<40x30xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 1, 0>, sinter.stored} : (tensor<40x30xf32>) -> tensor<30x40xf32>
  return %2 : tensor<30x40xf32>
}

// -----

// What somebody else reads as it is stays.
// CHECK-LABEL: @main
// CHECK: sinter.stored
func.func @main(%x: tensor<40x1xf32>) -> (tensor<40x30xf32>, tensor<30x40xf32>) {
  %1 = sinter.broadcast %x {shape = affine_map<() -> (40, 30)>} : (tensor<40x1xf32>) -> tensor<40x30xf32>
  %2 = sinter.exp %1 : (tensor<40x30xf32>) -> tensor<40x30xf32>
  %3 = sinter.transpose %2 {permutation = array<i64: 1, 0>, sinter.stored} : (tensor<40x30xf32>) -> tensor<30x40xf32>
  return %2, %3 : tensor<40x30xf32>, tensor<30x40xf32>
}
