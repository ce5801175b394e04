// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @quiet_softmax
func.func @quiet_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.quiet_softmax {{.*}}-> tensor<4x8xf32>
  %0 = sinter.quiet_softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{quiet_softmax: axis -1 is negative}}
  %0 = sinter.quiet_softmax %x {axis = -1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @error1(%x: tensor<4x0xf32>) -> tensor<4x0xf32> {
  // expected-error @+1 {{quiet_softmax: axis 1 is empty: f32[4,0]}}
  %0 = sinter.quiet_softmax %x {axis = 1 : i64} : (tensor<4x0xf32>) -> tensor<4x0xf32>
  return %0 : tensor<4x0xf32>
}
