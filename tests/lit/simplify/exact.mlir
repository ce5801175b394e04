// x * 1 is x but for the bits of a NaN that x may hold: an input's are its own,
// those of arithmetic are canonical already.
// RUN: sinter opt %s --pipeline='simplify-ops{exact=true},remove-dead-ops' | FileCheck %s
// RUN: sinter opt %s --pipeline=simplify-ops,remove-dead-ops | FileCheck %s --check-prefix=DEFAULT

// CHECK-LABEL: @main
// CHECK: %[[KEPT:.*]] = sinter.mul %arg0
// CHECK: %[[E:.*]] = sinter.exp %arg0
// CHECK: return %[[KEPT]], %[[E]], %arg1
// DEFAULT-LABEL: @main
// DEFAULT: %[[E:.*]] = sinter.exp %arg0
// DEFAULT: return %arg0, %[[E]], %arg1
func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %one = sinter.full {shape = affine_map<() -> (4)>, value = 1 : i64, dtype = f32} : () -> tensor<4xf32>
  %whole = sinter.full {shape = affine_map<() -> (4)>, value = 1 : i64, dtype = i32} : () -> tensor<4xi32>
  %0 = sinter.mul %x, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = sinter.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = sinter.mul %1, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = sinter.mul %i, %whole : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}
