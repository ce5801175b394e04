// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

#query = affine_map<()[s0] -> (2, s0, 8)>

// CHECK-LABEL: @attention
func.func @attention(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x3xf32>, %m: tensor<2x5x7xf32>) -> tensor<2x5x3xf32> {
  // CHECK: sinter.scaled_dot_product_attention {{.*}} {scale = 5.000000e-01 : f64, span = "causal"}
  %0 = sinter.scaled_dot_product_attention %q, %k, %v, %m {scale = 0.5 : f64, span = "causal"} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x3xf32>, tensor<2x5x7xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// CHECK-LABEL: @symbolic
func.func @symbolic(%q: tensor<2x?x8xf16, #query>, %m: tensor<f16>) -> tensor<2x?x8xf16, #query> {
  // CHECK: sinter.scaled_dot_product_attention
  %0 = sinter.scaled_dot_product_attention %q, %q, %q, %m {scale = 0.5 : f64, span = "all"} : (tensor<2x?x8xf16, #query>, tensor<2x?x8xf16, #query>, tensor<2x?x8xf16, #query>, tensor<f16>) -> tensor<2x?x8xf16, #query>
  return %0 : tensor<2x?x8xf16, #query>
}

// -----

func.func @lengths(%q: tensor<5x8xf32>, %k: tensor<7x9xf32>, %v: tensor<7x3xf32>, %m: tensor<f32>) -> tensor<5x3xf32> {
  // expected-error @+1 {{scaled_dot_product_attention: the key does not fit}}
  %0 = sinter.scaled_dot_product_attention %q, %k, %v, %m {scale = 0.5 : f64, span = "all"} : (tensor<5x8xf32>, tensor<7x9xf32>, tensor<7x3xf32>, tensor<f32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func @nothing(%q: tensor<5x8xf32>, %k: tensor<0x8xf32>, %v: tensor<0x3xf32>, %m: tensor<f32>) -> tensor<5x3xf32> {
  // expected-error @+1 {{scaled_dot_product_attention: there are no keys}}
  %0 = sinter.scaled_dot_product_attention %q, %k, %v, %m {scale = 0.5 : f64, span = "all"} : (tensor<5x8xf32>, tensor<0x8xf32>, tensor<0x3xf32>, tensor<f32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

func.func @mask(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>, %m: tensor<7x5xf32>) -> tensor<5x3xf32> {
  // expected-error @+1 {{scaled_dot_product_attention: the mask does not fit}}
  %0 = sinter.scaled_dot_product_attention %q, %k, %v, %m {scale = 0.5 : f64, span = "all"} : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x3xf32>, tensor<7x5xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
