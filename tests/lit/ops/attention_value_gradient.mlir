// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @attention_value_gradient
func.func @attention_value_gradient(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %m: tensor<2x5x7xf32>, %v: tensor<2x7x3xf32>, %g: tensor<2x5x3xf32>, %l: tensor<2x5x1xf32>, %d: tensor<2x5x1xf32>) -> tensor<2x7x3xf32> {
  // CHECK: sinter.attention_value_gradient {{.*}} -> tensor<2x7x3xf32>
  %0 = sinter.attention_value_gradient %q, %k, %m, %v, %g, %l, %d {factor = 2.000000e+00 : f64, scale = 5.000000e-01 : f64, span = "all"} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>, tensor<2x5x1xf32>, tensor<2x5x1xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}

// -----

func.func @wrong(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %m: tensor<2x5x7xf32>, %v: tensor<2x7x3xf32>, %g: tensor<2x5x3xf32>, %l: tensor<2x5x3xf32>, %d: tensor<2x5x1xf32>) -> tensor<2x7x3xf32> {
  // expected-error @+1 {{attention_value_gradient: a number per query does not fit}}
  %0 = sinter.attention_value_gradient %q, %k, %m, %v, %g, %l, %d {factor = 2.000000e+00 : f64, scale = 5.000000e-01 : f64, span = "all"} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x5x7xf32>, tensor<2x7x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x1xf32>) -> tensor<2x7x3xf32>
  return %0 : tensor<2x7x3xf32>
}
