// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @conv_weight_grad
func.func @conv_weight_grad(%x: tensor<2x4x9xf32>, %g: tensor<2x6x5xf32>) -> tensor<6x2x3xf32> {
  // CHECK: sinter.conv_weight_grad {{.*}}-> tensor<6x2x3xf32>
  %0 = sinter.conv_weight_grad %x, %g {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64, layout = "channels_first"} : (tensor<2x4x9xf32>, tensor<2x6x5xf32>) -> tensor<6x2x3xf32>
  return %0 : tensor<6x2x3xf32>
}

// -----

func.func @positions(%x: tensor<2x4x9xf32>, %g: tensor<2x6x6xf32>) -> tensor<6x2x3xf32> {
  // expected-error @+1 {{conv_weight_grad: grad has more positions than x has windows}}
  %0 = sinter.conv_weight_grad %x, %g {sizes = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, groups = 2 : i64, layout = "channels_first"} : (tensor<2x4x9xf32>, tensor<2x6x6xf32>) -> tensor<6x2x3xf32>
  return %0 : tensor<6x2x3xf32>
}
