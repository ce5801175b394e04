// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @attention_logsumexp
func.func @attention_logsumexp(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %m: tensor<2x5x7xf32>) -> tensor<2x5x1xf32> {
  // CHECK: sinter.attention_logsumexp {{.*}} -> tensor<2x5x1xf32>
  %0 = sinter.attention_logsumexp %q, %k, %m {scale = 5.000000e-01 : f64, span = "all"} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x5x7xf32>) -> tensor<2x5x1xf32>
  return %0 : tensor<2x5x1xf32>
}

// -----

func.func @wrong(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %m: tensor<2x7xf32>) -> tensor<2x5x1xf32> {
  // expected-error @+1 {{attention_logsumexp: the mask does not fit}}
  %0 = sinter.attention_logsumexp %q, %k, %m {scale = 5.000000e-01 : f64, span = "all"} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7xf32>) -> tensor<2x5x1xf32>
  return %0 : tensor<2x5x1xf32>
}
