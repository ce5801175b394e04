// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @bitwise_left_shift
func.func @bitwise_left_shift(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: sinter.bitwise_left_shift {{.*}}-> tensor<4x8xi32>
  %0 = sinter.bitwise_left_shift %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%a: tensor<?x8xi32, #rows>, %b: tensor<?x8xi32, #rows>) -> tensor<?x8xi32, #rows> {
  // CHECK: sinter.bitwise_left_shift {{.*}}-> tensor<?x8xi32, #map>
  %0 = sinter.bitwise_left_shift %a, %b : (tensor<?x8xi32, #rows>, tensor<?x8xi32, #rows>) -> tensor<?x8xi32, #rows>
  return %0 : tensor<?x8xi32, #rows>
}

// -----

func.func @shape(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x9xi32> {
  // expected-error @+1 {{infers i32[4,8], which is not the result's type}}
  %0 = sinter.bitwise_left_shift %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x9xi32>
  return %0 : tensor<4x9xi32>
}

// -----

func.func @dtype(%a: tensor<4xi1>, %b: tensor<4xi1>) -> tensor<4xi1> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.bitwise_left_shift %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
