// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @logical_not
func.func @logical_not(%x: tensor<4x8xi32>) -> tensor<4x8xi1> {
  // CHECK: sinter.logical_not {{.*}}-> tensor<4x8xi1>
  %0 = sinter.logical_not %x : (tensor<4x8xi32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xi32, #rows>) -> tensor<?x8xi1, #rows> {
  // CHECK: sinter.logical_not {{.*}}-> tensor<?x8xi1, #map>
  %0 = sinter.logical_not %x : (tensor<?x8xi32, #rows>) -> tensor<?x8xi1, #rows>
  return %0 : tensor<?x8xi1, #rows>
}

// -----

func.func @shape(%x: tensor<4x8xi32>) -> tensor<4x9xi1> {
  // expected-error @+1 {{infers bool[4,8], which is not the result's type}}
  %0 = sinter.logical_not %x : (tensor<4x8xi32>) -> tensor<4x9xi1>
  return %0 : tensor<4x9xi1>
}
