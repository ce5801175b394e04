// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @flip
func.func @flip(%x: tensor<4x8xi1>) -> tensor<4x8xi1> {
  // CHECK: sinter.flip %{{.*}} {axes = array<i64: 0, 1>} : (tensor<4x8xi1>) -> tensor<4x8xi1>
  %0 = sinter.flip %x {axes = array<i64: 0, 1>} : (tensor<4x8xi1>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows> {
  // CHECK: sinter.flip
  %0 = sinter.flip %x {axes = array<i64: 0>} : (tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows>
  return %0 : tensor<?x8xf32, #rows>
}

// -----

func.func @axis(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{flip: axis 2 is out of range}}
  %0 = sinter.flip %x {axes = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{flip: }}
  %0 = sinter.flip %x {axes = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
