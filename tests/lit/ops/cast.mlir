// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @cast
func.func @cast(%x: tensor<4x8xf32>) -> tensor<4x8xui8> {
  // CHECK: sinter.cast {{.*}}-> tensor<4x8xui8>
  %0 = sinter.cast %x {dtype = ui8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  return %0 : tensor<4x8xui8>
}

// -----

func.func @error0(%x: tensor<4x8xf32>) -> tensor<4x8xui8> {
  // expected-error @+1 {{infers i8}}
  %0 = sinter.cast %x {dtype = i8} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  return %0 : tensor<4x8xui8>
}

// -----

func.func @error1(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{attribute 'dtype' is missing or of a wrong kind}}
  %0 = sinter.cast %x {dtype = i4} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
