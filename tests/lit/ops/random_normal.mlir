// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @random_normal
func.func @random_normal(%k: tensor<i64>, %c: tensor<i64>) -> tensor<2x3xf32> {
  // CHECK: sinter.random_normal {{.*}}-> tensor<2x3xf32>
  %0 = sinter.random_normal %k, %k, %c {dtype = f32, shape = affine_map<() -> (2, 3)>} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @error0(%k: tensor<i64>, %c: tensor<i64>) -> tensor<2x3xi32> {
  // expected-error @+1 {{result #0 must be ranked tensor of 64-bit float}}
  %0 = sinter.random_normal %k, %k, %c {dtype = i32, shape = affine_map<() -> (2, 3)>} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// -----

func.func @error1(%k: tensor<1xi64>, %c: tensor<i64>) -> tensor<2x3xf32> {
  // expected-error @+1 {{random_normal: }}
  %0 = sinter.random_normal %k, %k, %c {dtype = f32, shape = affine_map<() -> (2, 3)>} : (tensor<1xi64>, tensor<1xi64>, tensor<i64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
