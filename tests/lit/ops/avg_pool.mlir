// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @avg_pool
func.func @avg_pool(%x: tensor<2x4x9xf32>) -> tensor<2x4x5xf32> {
  // CHECK: sinter.avg_pool {{.*}}-> tensor<2x4x5xf32>
  %0 = sinter.avg_pool %x {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, counted_low = array<i64: 0>, counted_high = array<i64: 0>, divisor = 0.0 : f64, layout = "channels_first"} : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// -----

func.func @dilation(%x: tensor<2x4x9xf32>) -> tensor<2x4x4xf32> {
  // expected-error @+1 {{avg_pool: windows of avg_pool have no dilation}}
  %0 = sinter.avg_pool %x {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 2>, counted_low = array<i64: 0>, counted_high = array<i64: 0>, divisor = 0.0 : f64, layout = "channels_first"} : (tensor<2x4x9xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}
