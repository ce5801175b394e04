// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @adaptive_step
func.func @adaptive_step(%x: tensor<4x8xf32>, %n: tensor<f32>) -> tensor<4x8xf32> {
  // CHECK: sinter.adaptive_step {{.*}}-> tensor<4x8xf32>
  %0 = sinter.adaptive_step %x, %x, %x, %n, %n, %n : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>, %n: tensor<f32>) -> tensor<?x8xf32, #rows> {
  // CHECK: sinter.adaptive_step {{.*}}-> tensor<?x8xf32, #map>
  %0 = sinter.adaptive_step %x, %x, %x, %n, %n, %n : (tensor<?x8xf32, #rows>, tensor<?x8xf32, #rows>, tensor<?x8xf32, #rows>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?x8xf32, #rows>
  return %0 : tensor<?x8xf32, #rows>
}

// -----

func.func @shape(%x: tensor<4x8xf32>, %n: tensor<f32>, %y: tensor<4x9xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{shapes differ}}
  %0 = sinter.adaptive_step %x, %x, %y, %n, %n, %n : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x9xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
