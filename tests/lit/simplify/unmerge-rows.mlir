// RUN: sinter opt %s --split-input-file --pipeline=unmerge-rows | FileCheck %s

// A group of channels is reduced: the axes of the image come apart, around the
// reduction and behind it, up to the next reshape.
// CHECK-LABEL: @main
// CHECK: %[[X:.*]] = sinter.reshape %{{.*}} -> tensor<2x4x3x5x7xf32>
// CHECK: %[[S:.*]] = sinter.sum %[[X]] {axes = array<i64: 2, 3, 4>, keepdims = true} : (tensor<2x4x3x5x7xf32>) -> tensor<2x4x1x1x1xf32>
// CHECK: %[[N:.*]] = sinter.reshape %[[S]] {{.*}} -> tensor<2x4x1xf32>
// CHECK: %[[E:.*]] = sinter.exp %[[N]]
// CHECK: %[[R:.*]] = sinter.reshape %[[E]] {{.*}} -> tensor<2x4x1x1x1xf32>
// CHECK: %[[B:.*]] = sinter.broadcast %[[R]] {{.*}} -> tensor<2x4x3x5x7xf32>
// CHECK: %[[D:.*]] = sinter.sub %[[X]], %[[B]] : (tensor<2x4x3x5x7xf32>
// CHECK: %[[Y:.*]] = sinter.reshape %[[D]] {{.*}} -> tensor<2x12x5x7xf32>
// CHECK: sinter.conv %[[Y]]
func.func @main(%x: tensor<2x12x5x7xf32>, %w: tensor<8x12x3x3xf32>) -> tensor<2x8x5x7xf32> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (2, 4, 105)>} : (tensor<2x12x5x7xf32>) -> tensor<2x4x105xf32>
  %1 = sinter.sum %0 {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x105xf32>) -> tensor<2x4x1xf32>
  %2 = sinter.exp %1 : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %3 = sinter.broadcast %2 {shape = affine_map<() -> (2, 4, 105)>} : (tensor<2x4x1xf32>) -> tensor<2x4x105xf32>
  %4 = sinter.sub %0, %3 : (tensor<2x4x105xf32>, tensor<2x4x105xf32>) -> tensor<2x4x105xf32>
  %5 = sinter.reshape %4 {shape = affine_map<() -> (2, 12, 5, 7)>} : (tensor<2x4x105xf32>) -> tensor<2x12x5x7xf32>
  %6 = sinter.conv %5, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x12x5x7xf32>, tensor<8x12x3x3xf32>) -> tensor<2x8x5x7xf32>
  return %6 : tensor<2x8x5x7xf32>
}

// -----

// Batch and space may be symbols; another op reads what is joined as it was.
// CHECK-LABEL: @main
// CHECK: %[[X:.*]] = sinter.reshape %{{.*}} -> tensor<?x4x3x?x7xf32
// CHECK: %[[E:.*]] = sinter.exp %[[X]]
// CHECK: %[[J:.*]] = sinter.reshape %[[E]] {{.*}} -> tensor<?x4x?xf32
// CHECK: %[[M:.*]] = sinter.amax %[[E]] {axes = array<i64: 2, 3, 4>, keepdims = false}
// CHECK: %[[C:.*]] = sinter.cumsum %[[J]]
// CHECK: return %{{.*}}, %[[M]], %[[C]]
#x = affine_map<()[s0, s1] -> (s0, 12, s1, 7)>
#j = affine_map<()[s0, s1] -> (s0, 4, s1 * 21)>
#r = affine_map<()[s0, s1] -> (s0, 4)>
#y = affine_map<()[s0, s1] -> (s0, 8, s1, 7)>
func.func @main(%x: tensor<?x12x?x7xf32, #x>, %w: tensor<8x12x3x3xf32>) -> (tensor<?x8x?x7xf32, #y>, tensor<?x4xf32, #r>, tensor<?x4x?xf32, #j>) {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<?x12x?x7xf32, #x>, tensor<8x12x3x3xf32>) -> tensor<?x8x?x7xf32, #y>
  %1 = sinter.reshape %x {shape = #j} : (tensor<?x12x?x7xf32, #x>) -> tensor<?x4x?xf32, #j>
  %2 = sinter.exp %1 : (tensor<?x4x?xf32, #j>) -> tensor<?x4x?xf32, #j>
  %3 = sinter.amax %2 {axes = array<i64: 2>, keepdims = false} : (tensor<?x4x?xf32, #j>) -> tensor<?x4xf32, #r>
  %4 = sinter.cumsum %2 {axis = 2 : i64, reverse = false} : (tensor<?x4x?xf32, #j>) -> tensor<?x4x?xf32, #j>
  return %0, %3, %4 : tensor<?x8x?x7xf32, #y>, tensor<?x4xf32, #r>, tensor<?x4x?xf32, #j>
}

// -----

// No image: nothing to gain.
// CHECK-LABEL: @main
// CHECK: sinter.sum %{{.*}} {axes = array<i64: 2>
func.func @main(%x: tensor<2x12x5x7xf32>) -> tensor<2x4xf32> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (2, 4, 105)>} : (tensor<2x12x5x7xf32>) -> tensor<2x4x105xf32>
  %1 = sinter.sum %0 {axes = array<i64: 2>, keepdims = false} : (tensor<2x4x105xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
