// RUN: sinter opt %s --split-input-file --pipeline=drop-padding-taps | FileCheck %s

// Of 3 x 3 taps that stand 4 apart, the middle row of an image of 4 rows is left,
// and of its 8 columns all.
// CHECK-LABEL: @main
// CHECK: %[[W:.*]] = sinter.slice %arg1 {{.*}}starts = array<i64: 0, 0, 1, 0>{{.*}} -> tensor<16x8x1x3xf32>
// CHECK: %[[Y:.*]] = sinter.conv %arg0, %[[W]] {dilations = array<i64: 4, 4>, groups = 1 : i64, high = array<i64: 0, 4>, layout = "channels_first", low = array<i64: 0, 4>, sizes = array<i64: 1, 3>
// CHECK: return %[[Y]]
func.func @main(%x: tensor<2x8x4x8xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<2x16x4x8xf32> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 4, 4>, groups = 1 : i64, high = array<i64: 4, 4>, layout = "channels_first", low = array<i64: 4, 4>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x8x4x8xf32>, tensor<16x8x3x3xf32>) -> tensor<2x16x4x8xf32>
  return %0 : tensor<2x16x4x8xf32>
}

// -----

// The last tap stands 6 behind the first one, which reads 3 of 5 elements: the
// image is cut, too. Channels are last.
// CHECK-LABEL: @main
// CHECK: %[[X:.*]] = sinter.slice %arg0 {{.*}}starts = array<i64: 0, 0, 0>{{.*}} -> tensor<2x4x8xf32>
// CHECK: %[[W:.*]] = sinter.slice %arg1 {{.*}}starts = array<i64: 0, 0, 0>{{.*}} -> tensor<16x8x1xf32>
// CHECK: sinter.conv %[[X]], %[[W]] {dilations = array<i64: 6>, groups = 1 : i64, high = array<i64: 0>, layout = "channels_last", low = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<2x4x8xf32>, tensor<16x8x1xf32>) -> tensor<2x4x16xf32>
func.func @main(%x: tensor<2x5x8xf32>, %w: tensor<16x8x2xf32>) -> tensor<2x4x16xf32> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 6>, groups = 1 : i64, high = array<i64: 5>, layout = "channels_last", low = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<2x5x8xf32>, tensor<16x8x2xf32>) -> tensor<2x4x16xf32>
  return %0 : tensor<2x4x16xf32>
}

// -----

// The gradient of the image: what the kept taps do not reach is 0.
// CHECK-LABEL: @main
// CHECK: %[[W:.*]] = sinter.slice %arg1 {{.*}}starts = array<i64: 0, 0, 0>{{.*}} -> tensor<16x8x1xf32>
// CHECK: %[[G:.*]] = sinter.conv_transpose %arg0, %[[W]] {{.*}}high = array<i64: 0>{{.*}}low = array<i64: 0>, sizes = array<i64: 1>{{.*}} -> tensor<2x8x4xf32>
// CHECK: sinter.pad %[[G]] {{.*}}low = array<i64: 0, 0, 0>{{.*}} -> tensor<2x8x5xf32>
func.func @main(%g: tensor<2x16x4xf32>, %w: tensor<16x8x2xf32>) -> tensor<2x8x5xf32> {
  %0 = sinter.conv_transpose %g, %w {dilations = array<i64: 6>, groups = 1 : i64, high = array<i64: 5>, layout = "channels_first", low = array<i64: 0>, sizes = array<i64: 2>, space = affine_map<() -> (5)>, strides = array<i64: 1>} : (tensor<2x16x4xf32>, tensor<16x8x2xf32>) -> tensor<2x8x5xf32>
  return %0 : tensor<2x8x5xf32>
}

// -----

// The gradient of the weight: that of a tap that is left out is 0.
// CHECK-LABEL: @main
// CHECK: %[[G:.*]] = sinter.conv_weight_grad %arg0, %arg1 {{.*}}sizes = array<i64: 1>{{.*}} -> tensor<16x8x1xf32>
// CHECK: sinter.pad %[[G]] {{.*}}low = array<i64: 0, 0, 1>{{.*}} -> tensor<16x8x3xf32>
func.func @main(%x: tensor<2x8x4xf32>, %g: tensor<2x16x4xf32>) -> tensor<16x8x3xf32> {
  %0 = sinter.conv_weight_grad %x, %g {dilations = array<i64: 4>, groups = 1 : i64, high = array<i64: 4>, layout = "channels_first", low = array<i64: 4>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<2x8x4xf32>, tensor<2x16x4xf32>) -> tensor<16x8x3xf32>
  return %0 : tensor<16x8x3xf32>
}

// -----

// All taps read something; the size of an axis is not known; no tap reads
// anything, as windows stand at padding alone.
// CHECK-LABEL: @main
// CHECK-NOT: sinter.slice
// CHECK: sinter.conv {{.*}}sizes = array<i64: 3>
// CHECK: sinter.conv {{.*}}sizes = array<i64: 3>
// CHECK: sinter.conv {{.*}}sizes = array<i64: 2>
func.func @main(%x: tensor<2x8x5xf32>, %y: tensor<2x8x?xf32, affine_map<()[s0] -> (2, 8, s0)>>, %z: tensor<2x8x1xf32>, %w: tensor<16x8x3xf32>, %v: tensor<16x8x2xf32>) -> (tensor<2x16x5xf32>, tensor<2x16x?xf32, affine_map<()[s0] -> (2, 16, s0)>>, tensor<2x16x1xf32>) {
  %0 = sinter.conv %x, %w {dilations = array<i64: 4>, groups = 1 : i64, high = array<i64: 4>, layout = "channels_first", low = array<i64: 4>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<2x8x5xf32>, tensor<16x8x3xf32>) -> tensor<2x16x5xf32>
  %1 = sinter.conv %y, %w {dilations = array<i64: 4>, groups = 1 : i64, high = array<i64: 4>, layout = "channels_first", low = array<i64: 4>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<2x8x?xf32, affine_map<()[s0] -> (2, 8, s0)>>, tensor<16x8x3xf32>) -> tensor<2x16x?xf32, affine_map<()[s0] -> (2, 16, s0)>>
  %2 = sinter.conv %z, %v {dilations = array<i64: 4>, groups = 1 : i64, high = array<i64: 2>, layout = "channels_first", low = array<i64: 2>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<2x8x1xf32>, tensor<16x8x2xf32>) -> tensor<2x16x1xf32>
  return %0, %1, %2 : tensor<2x16x5xf32>, tensor<2x16x?xf32, affine_map<()[s0] -> (2, 16, s0)>>, tensor<2x16x1xf32>
}
