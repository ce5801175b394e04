// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @lgamma
func.func @lgamma(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.lgamma {{.*}}-> tensor<4x8xf32>
  %0 = sinter.lgamma %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows> {
  // CHECK: sinter.lgamma {{.*}}-> tensor<?x8xf32, #map>
  %0 = sinter.lgamma %x : (tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows>
  return %0 : tensor<?x8xf32, #rows>
}

// -----

func.func @shape(%x: tensor<4x8xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{infers f32[4,8], which is not the result's type}}
  %0 = sinter.lgamma %x : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// -----

func.func @dtype(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.lgamma %x : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
