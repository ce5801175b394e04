// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @isfinite
func.func @isfinite(%x: tensor<4x8xf32>) -> tensor<4x8xi1> {
  // CHECK: sinter.isfinite {{.*}}-> tensor<4x8xi1>
  %0 = sinter.isfinite %x : (tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>) -> tensor<?x8xi1, #rows> {
  // CHECK: sinter.isfinite {{.*}}-> tensor<?x8xi1, #map>
  %0 = sinter.isfinite %x : (tensor<?x8xf32, #rows>) -> tensor<?x8xi1, #rows>
  return %0 : tensor<?x8xi1, #rows>
}

// -----

func.func @shape(%x: tensor<4x8xf32>) -> tensor<4x9xi1> {
  // expected-error @+1 {{infers bool[4,8], which is not the result's type}}
  %0 = sinter.isfinite %x : (tensor<4x8xf32>) -> tensor<4x9xi1>
  return %0 : tensor<4x9xi1>
}

// -----

func.func @dtype(%x: tensor<4xi32>) -> tensor<4xi1> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.isfinite %x : (tensor<4xi32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
