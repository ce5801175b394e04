// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @dynamic_slice
func.func @dynamic_slice(%x: tensor<4x8xf32>, %i: tensor<i64>) -> tensor<4x3xf32> {
  // CHECK: sinter.dynamic_slice {{.*}}-> tensor<4x3xf32>
  %0 = sinter.dynamic_slice %x, %i {axis = 1 : i64, size = affine_map<() -> (3)>} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>, %i: tensor<i64>) -> tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>> {
  // CHECK: sinter.dynamic_slice
  %0 = sinter.dynamic_slice %x, %i {axis = 1 : i64, size = affine_map<()[s0] -> (s0)>} : (tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>, tensor<i64>) -> tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>
  return %0 : tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>
}

// -----

func.func @error0(%x: tensor<4x8xf32>, %i: tensor<i64>) -> tensor<4x9xf32> {
  // expected-error @+1 {{dynamic_slice: more elements than there are on axis 1}}
  %0 = sinter.dynamic_slice %x, %i {axis = 1 : i64, size = affine_map<() -> (9)>} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// -----

func.func @error1(%x: tensor<4x8xf32>, %i: tensor<1xi64>) -> tensor<4x3xf32> {
  // expected-error @+1 {{dynamic_slice: the start is no number of rank 0}}
  %0 = sinter.dynamic_slice %x, %i {axis = 1 : i64, size = affine_map<() -> (3)>} : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
