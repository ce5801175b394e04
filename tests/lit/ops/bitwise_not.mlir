// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @bitwise_not
func.func @bitwise_not(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: sinter.bitwise_not {{.*}}-> tensor<4x8xi32>
  %0 = sinter.bitwise_not %x : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xi32, #rows>) -> tensor<?x8xi32, #rows> {
  // CHECK: sinter.bitwise_not {{.*}}-> tensor<?x8xi32, #map>
  %0 = sinter.bitwise_not %x : (tensor<?x8xi32, #rows>) -> tensor<?x8xi32, #rows>
  return %0 : tensor<?x8xi32, #rows>
}

// -----

func.func @shape(%x: tensor<4x8xi32>) -> tensor<4x9xi32> {
  // expected-error @+1 {{infers i32[4,8], which is not the result's type}}
  %0 = sinter.bitwise_not %x : (tensor<4x8xi32>) -> tensor<4x9xi32>
  return %0 : tensor<4x9xi32>
}

// -----

func.func @dtype(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.bitwise_not %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
