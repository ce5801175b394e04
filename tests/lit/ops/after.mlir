// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @after
func.func @after(%x: tensor<4x8xi32>, %y: tensor<f32>) -> tensor<4x8xi32> {
  // CHECK: sinter.after {{.*}}-> tensor<4x8xi32>
  %0 = sinter.after %x, %y : (tensor<4x8xi32>, tensor<f32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %y: tensor<3xi64>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>> {
  // CHECK: sinter.after {{.*}}-> tensor<?xf32
  %0 = sinter.after %x, %y : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<3xi64>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %0 : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

// -----

func.func @error0(%x: tensor<4xi32>, %y: tensor<f32>) -> tensor<3xi32> {
  // expected-error @+1 {{result}}
  %0 = sinter.after %x, %y : (tensor<4xi32>, tensor<f32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
