// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @logical_and
func.func @logical_and(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi1> {
  // CHECK: sinter.logical_and {{.*}}-> tensor<4x8xi1>
  %0 = sinter.logical_and %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%a: tensor<?x8xi32, #rows>, %b: tensor<?x8xi32, #rows>) -> tensor<?x8xi1, #rows> {
  // CHECK: sinter.logical_and {{.*}}-> tensor<?x8xi1, #map>
  %0 = sinter.logical_and %a, %b : (tensor<?x8xi32, #rows>, tensor<?x8xi32, #rows>) -> tensor<?x8xi1, #rows>
  return %0 : tensor<?x8xi1, #rows>
}

// -----

func.func @shape(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x9xi1> {
  // expected-error @+1 {{infers bool[4,8], which is not the result's type}}
  %0 = sinter.logical_and %a, %b : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x9xi1>
  return %0 : tensor<4x9xi1>
}
