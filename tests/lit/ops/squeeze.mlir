// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#column = affine_map<()[s0] -> (s0, 1)>
#rows = affine_map<()[s0] -> (s0)>

// CHECK-LABEL: @squeeze
func.func @squeeze(%x: tensor<1x8x1xf32>) -> tensor<8xf32> {
  // CHECK: sinter.squeeze %{{.*}} {axes = array<i64: 0, 2>} : (tensor<1x8x1xf32>) -> tensor<8xf32>
  %0 = sinter.squeeze %x {axes = array<i64: 0, 2>} : (tensor<1x8x1xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x1xf32, #column>) -> tensor<?xf32, #rows> {
  // CHECK: sinter.squeeze
  %0 = sinter.squeeze %x {axes = array<i64: 1>} : (tensor<?x1xf32, #column>) -> tensor<?xf32, #rows>
  return %0 : tensor<?xf32, #rows>
}

// -----

func.func @size(%x: tensor<1x8xf32>) -> tensor<1xf32> {
  // expected-error @+1 {{squeeze: axis 1 is not of size 1}}
  %0 = sinter.squeeze %x {axes = array<i64: 1>} : (tensor<1x8xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
