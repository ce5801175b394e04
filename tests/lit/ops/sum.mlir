// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>
#one = affine_map<()[s0] -> (s0, 1)>

// CHECK-LABEL: @sum
func.func @sum(%x: tensor<4x8xi32>) -> tensor<4x1xi64> {
  // CHECK: sinter.sum {{.*}}-> tensor<4x1xi64>
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xi32>) -> tensor<4x1xi64>
  return %0 : tensor<4x1xi64>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>) -> tensor<?x1xf32, #one> {
  // CHECK: sinter.sum
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<?x8xf32, #rows>) -> tensor<?x1xf32, #one>
  return %0 : tensor<?x1xf32, #one>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  // expected-error @+1 {{sum: axes are negative or not in order}}
  %0 = sinter.sum %x {axes = array<i64: -1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

func.func @error1(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  // expected-error @+1 {{sum: }}
  %0 = sinter.sum %x {axes = array<i64: 0, 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @error2(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{infers f32[4,1], which is not the result's type}}
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
