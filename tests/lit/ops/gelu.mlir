// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @gelu
func.func @gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sinter.gelu {{.*}}-> tensor<4x8xf32>
  %0 = sinter.gelu %x {approximate = "tanh"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @exact
func.func @exact(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK: sinter.gelu {{.*}} {approximate = "none"}
  %0 = sinter.gelu %x {approximate = "none"} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{attribute 'approximate' failed to satisfy constraint: one of }}
  %0 = sinter.gelu %x {approximate = "erfc"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
