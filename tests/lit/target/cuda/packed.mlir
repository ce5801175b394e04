// Sums of two numbers in a word, of which ptxas 13.0 takes the wrong one, are
// not made: here of neighbours in an image between whose elements zeros stand.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s
// CHECK: .entry contraction_
// CHECK-NOT: {{[su]}}16x2

#space = affine_map<() -> (12, 14)>
func.func @main(%x: tensor<1x1x4x5xf32>, %w: tensor<1x1x4x3xf32>) -> tensor<1x1x12x14xf32> {
  %0 = sinter.conv_transpose %x, %w {dilations = array<i64: 2, 3>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 4, 3>, space = #space, strides = array<i64: 2, 2>} : (tensor<1x1x4x5xf32>, tensor<1x1x4x3xf32>) -> tensor<1x1x12x14xf32>
  return %0 : tensor<1x1x12x14xf32>
}
