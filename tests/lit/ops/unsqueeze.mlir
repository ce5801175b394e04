// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0)>
#column = affine_map<()[s0] -> (s0, 1)>

// CHECK-LABEL: @unsqueeze
func.func @unsqueeze(%x: tensor<4x8xi32>) -> tensor<1x4x8xi32> {
  // CHECK: sinter.unsqueeze %{{.*}} {axis = 0 : i64} : (tensor<4x8xi32>) -> tensor<1x4x8xi32>
  %0 = sinter.unsqueeze %x {axis = 0 : i64} : (tensor<4x8xi32>) -> tensor<1x4x8xi32>
  return %0 : tensor<1x4x8xi32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?xf32, #rows>) -> tensor<?x1xf32, #column> {
  // CHECK: sinter.unsqueeze
  %0 = sinter.unsqueeze %x {axis = 1 : i64} : (tensor<?xf32, #rows>) -> tensor<?x1xf32, #column>
  return %0 : tensor<?x1xf32, #column>
}

// -----

func.func @axis(%x: tensor<4xf32>) -> tensor<4x1xf32> {
  // expected-error @+1 {{unsqueeze: axis 2 is out of range for the new rank 2}}
  %0 = sinter.unsqueeze %x {axis = 2 : i64} : (tensor<4xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
