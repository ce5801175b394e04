// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @real
func.func @real(%x: tensor<4xcomplex<f64>>) -> tensor<4xf64> {
  // CHECK: sinter.real %{{.*}} : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  %0 = sinter.real %x : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xcomplex<f32>, #rows>) -> tensor<?x8xf32, #rows> {
  // CHECK: sinter.real
  %0 = sinter.real %x : (tensor<?x8xcomplex<f32>, #rows>) -> tensor<?x8xf32, #rows>
  return %0 : tensor<?x8xf32, #rows>
}

// -----

func.func @ofReal(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.real %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
