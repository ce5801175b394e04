// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @attention
func.func @attention(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %m: tensor<2x5x7xf32>, %v: tensor<2x7x3xf32>) -> tensor<2x5x3xf32> {
  // CHECK: sinter.attention {{.*}} -> tensor<2x5x3xf32>
  %0 = sinter.attention %q, %k, %m, %v {scale = 5.000000e-01 : f64, span = "all"} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x5x7xf32>, tensor<2x7x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// -----

func.func @wrong(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %m: tensor<2x5x7xf32>, %v: tensor<2x6x3xf32>) -> tensor<2x5x3xf32> {
  // expected-error @+1 {{attention: the value does not fit}}
  %0 = sinter.attention %q, %k, %m, %v {scale = 5.000000e-01 : f64, span = "all"} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x5x7xf32>, tensor<2x6x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}
