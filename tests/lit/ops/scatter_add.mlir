// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @scatter_add
func.func @scatter_add(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.scatter_add {{.*}}-> tensor<4x8xf32>
  %0 = sinter.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>, %i: tensor<4x2xi64>, %u: tensor<4x3xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{scatter_add: }}
  %0 = sinter.scatter_add %x, %i, %u {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @something_to_nothing(%x: tensor<0xf32>, %i: tensor<?xi64, affine_map<()[s0] -> (s0)>>, %u: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<0xf32> {
  // expected-error @+1 {{scatter_add: axis 0 is empty}}
  %0 = sinter.scatter_add %x, %i, %u {axis = 0 : i64} : (tensor<0xf32>, tensor<?xi64, affine_map<()[s0] -> (s0)>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
