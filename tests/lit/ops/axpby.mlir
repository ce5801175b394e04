// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @axpby
func.func @axpby(%x: tensor<4x8xf32>, %a: tensor<f32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.axpby {{.*}}-> tensor<4x8xf32>
  %0 = sinter.axpby %x, %a, %y, %y : (tensor<4x8xf32>, tensor<f32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>, %a: tensor<f32>) -> tensor<?x8xf32, #rows> {
  // CHECK: sinter.axpby {{.*}}-> tensor<?x8xf32, #map>
  %0 = sinter.axpby %x, %a, %x, %a : (tensor<?x8xf32, #rows>, tensor<f32>, tensor<?x8xf32, #rows>, tensor<f32>) -> tensor<?x8xf32, #rows>
  return %0 : tensor<?x8xf32, #rows>
}

// -----

func.func @shape(%x: tensor<4x8xf32>, %a: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{ranks differ}}
  %0 = sinter.axpby %x, %a, %x, %a : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @dtype(%x: tensor<4xf32>, %a: tensor<f64>) -> tensor<4xf32> {
  // expected-error @+1 {{dtypes differ}}
  %0 = sinter.axpby %x, %a, %x, %a : (tensor<4xf32>, tensor<f64>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
