// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>

// CHECK-LABEL: @complex
func.func @complex(%re: tensor<4xf64>, %im: tensor<4xf64>) -> tensor<4xcomplex<f64>> {
  // CHECK: sinter.complex %{{.*}}, %{{.*}} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xcomplex<f64>>
  %0 = sinter.complex %re, %im : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #rows>) -> tensor<?x8xcomplex<f32>, #rows> {
  // CHECK: sinter.complex
  %0 = sinter.complex %x, %x : (tensor<?x8xf32, #rows>, tensor<?x8xf32, #rows>) -> tensor<?x8xcomplex<f32>, #rows>
  return %0 : tensor<?x8xcomplex<f32>, #rows>
}

// -----

func.func @half(%x: tensor<4xf16>) -> tensor<4xcomplex<f32>> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.complex %x, %x : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @product(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = sinter.mul %x, %x : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
