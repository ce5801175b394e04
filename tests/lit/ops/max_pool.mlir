// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @max_pool
func.func @max_pool(%x: tensor<2x9x4xf32>) -> tensor<2x5x4xf32> {
  // CHECK: sinter.max_pool {{.*}}-> tensor<2x5x4xf32>
  %0 = sinter.max_pool %x {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, layout = "channels_last"} : (tensor<2x9x4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// -----

func.func @low(%x: tensor<2x4x9xf32>) -> tensor<2x4x5xf32> {
  // expected-error @+1 {{max_pool: low holds -1}}
  %0 = sinter.max_pool %x {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: -1>, high = array<i64: 1>, dilations = array<i64: 1>, layout = "channels_first"} : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}
