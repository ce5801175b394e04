// RUN: sinter opt %s --split-input-file --pipeline=assign-layouts | FileCheck %s
// RUN: sinter opt %s --split-input-file --pipeline='assign-layouts{exact=true}' | FileCheck %s --check-prefix=EXACT

// Between two convolutions nothing is turned; weights stay as they are.
// CHECK: accepted = true{{.*}}detail = "conv and 1 more, channels last; tensors turned: 2"{{.*}}rule = "layout"
// CHECK-LABEL: @main
// CHECK: %[[X:.*]] = sinter.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>, sinter.stored}
// CHECK: %[[A:.*]] = sinter.conv %[[X]], %arg1 {{.*}}layout = "channels_last"{{.*}} -> tensor<2x30x28x64xf32>
// CHECK: %[[B:.*]] = sinter.exp %[[A]] : (tensor<2x30x28x64xf32>)
// CHECK: %[[C:.*]] = sinter.conv %[[B]], %arg2 {{.*}}layout = "channels_last"
// CHECK: %[[Y:.*]] = sinter.transpose %[[C]] {permutation = array<i64: 0, 3, 1, 2>, sinter.stored}
// CHECK: return %[[Y]]
// EXACT: accepted = false{{.*}}sums would be in another order{{.*}}rule = "exact"
// EXACT-LABEL: @main
// EXACT-NOT: channels_last
// EXACT: return
func.func @main(%x: tensor<2x64x30x28xf32>, %v: tensor<64x64x3x3xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<2x64x30x28xf32> {
  %0 = sinter.conv %x, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x64x30x28xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x30x28xf32>
  %1 = sinter.exp %0 : (tensor<2x64x30x28xf32>) -> tensor<2x64x30x28xf32>
  %2 = sinter.conv %1, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x64x30x28xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x30x28xf32>
  return %2 : tensor<2x64x30x28xf32>
}

// -----

// Windows of one element are none: turning would only cost.
// CHECK: accepted = false{{.*}}turning its images would cost more
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK-NOT: sinter.transpose
// CHECK: layout = "channels_first"
func.func @main(%x: tensor<2x64x30x28xf32>, %w: tensor<64x64x1x1xf32>) -> tensor<2x64x30x28xf32> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, layout = "channels_first", low = array<i64: 0, 0>, sizes = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x64x30x28xf32>, tensor<64x64x1x1xf32>) -> tensor<2x64x30x28xf32>
  return %0 : tensor<2x64x30x28xf32>
}

// -----

// What a user turned between convolutions is turned back again: the sum is done
// as the images are stored. Its mean over an image loses both axes.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[A:.*]] = sinter.conv %arg0
// CHECK-NOT: sinter.transpose
// CHECK: %[[B:.*]] = sinter.add %[[A]], %[[A]] : (tensor<2x30x28x64xf32>
// CHECK: %[[S:.*]] = sinter.sum %[[B]] {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x30x28x64xf32>) -> tensor<2x64xf32>
// CHECK: %[[C:.*]] = sinter.conv %[[B]]
// CHECK: return %[[S]], %[[C]]
func.func @main(%x: tensor<2x30x28x64xf32>, %w: tensor<64x64x3x3xf32>) -> (tensor<2x64xf32>, tensor<2x30x28x64xf32>) {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x30x28x64xf32>, tensor<64x64x3x3xf32>) -> tensor<2x30x28x64xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x30x28x64xf32>) -> tensor<2x64x30x28xf32>
  %2 = sinter.add %1, %1 : (tensor<2x64x30x28xf32>, tensor<2x64x30x28xf32>) -> tensor<2x64x30x28xf32>
  %3 = sinter.sum %2 {axes = array<i64: 2, 3>, keepdims = false} : (tensor<2x64x30x28xf32>) -> tensor<2x64xf32>
  %4 = sinter.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x64x30x28xf32>) -> tensor<2x30x28x64xf32>
  %5 = sinter.conv %4, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x30x28x64xf32>, tensor<64x64x3x3xf32>) -> tensor<2x30x28x64xf32>
  return %3, %5 : tensor<2x64xf32>, tensor<2x30x28x64xf32>
}

// -----

// A batch may be a symbol. Numbers of a channel, views by axis and pooling
// follow; tokens of what is left need no order of their own.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: sinter.conv {{.*}}layout = "channels_last"
// CHECK: %[[M:.*]] = sinter.reshape %arg2 {{.*}} -> tensor<1x1x64xf32>
// CHECK: %[[N:.*]] = sinter.reshape %[[M]] {{.*}} -> tensor<1x1x1x64xf32>
// CHECK: sinter.broadcast %[[N]] {{.*}} -> tensor<?x28x28x64xf32
// CHECK: sinter.pad {{.*}}interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 2, 0>
// CHECK: %[[P:.*]] = sinter.max_pool {{.*}}layout = "channels_last"{{.*}} -> tensor<?x15x16x64xf32
// CHECK: %[[T:.*]] = sinter.reshape %[[P]] {{.*}} -> tensor<?x240x64xf32
// CHECK: return %[[T]]
#x = affine_map<()[s0] -> (s0, 64, 28, 28)>
#y = affine_map<()[s0] -> (s0, 64, 30, 32)>
#p = affine_map<()[s0] -> (s0, 64, 15, 16)>
#f = affine_map<()[s0] -> (s0, 64, 240)>
#t = affine_map<()[s0] -> (s0, 240, 64)>
#n = affine_map<()[s0] -> (64, 1, 1)>
func.func @main(%x: tensor<?x64x28x28xf32, #x>, %w: tensor<64x64x3x3xf32>, %n: tensor<64xf32>) -> tensor<?x240x64xf32, #t> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<?x64x28x28xf32, #x>, tensor<64x64x3x3xf32>) -> tensor<?x64x28x28xf32, #x>
  %1 = sinter.reshape %n {shape = #n} : (tensor<64xf32>) -> tensor<64x1x1xf32>
  %2 = sinter.broadcast %1 {shape = #x} : (tensor<64x1x1xf32>) -> tensor<?x64x28x28xf32, #x>
  %3 = sinter.mul %0, %2 : (tensor<?x64x28x28xf32, #x>, tensor<?x64x28x28xf32, #x>) -> tensor<?x64x28x28xf32, #x>
  %4 = sinter.pad %3 {interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 1, 2>, shape = #y, value = 0 : i64} : (tensor<?x64x28x28xf32, #x>) -> tensor<?x64x30x32xf32, #y>
  %5 = sinter.max_pool %4 {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, layout = "channels_first", low = array<i64: 0, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x64x30x32xf32, #y>) -> tensor<?x64x15x16xf32, #p>
  %6 = sinter.reshape %5 {shape = #f} : (tensor<?x64x15x16xf32, #p>) -> tensor<?x64x240xf32, #f>
  %7 = sinter.transpose %6 {permutation = array<i64: 0, 2, 1>} : (tensor<?x64x240xf32, #f>) -> tensor<?x240x64xf32, #t>
  return %7 : tensor<?x240x64xf32, #t>
}

// -----

// The first operand alone is stored in another order: what a value waits for,
// of any shape, stays as it is recorded.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[A:.*]] = sinter.conv {{.*}}layout = "channels_last"
// CHECK: %[[B:.*]] = sinter.after %[[A]], %arg2 : (tensor<2x30x28x64xf32>, tensor<2x64x30x28xf32>) -> tensor<2x30x28x64xf32>
// CHECK: %[[C:.*]] = sinter.after %[[B]], %arg3 : (tensor<2x30x28x64xf32>, tensor<f32>) -> tensor<2x30x28x64xf32>
// CHECK-NOT: sinter.transpose
// CHECK: sinter.conv %[[C]]
func.func @main(%x: tensor<2x64x30x28xf32>, %w: tensor<64x64x3x3xf32>, %e: tensor<2x64x30x28xf32>, %s: tensor<f32>) -> tensor<2x64x30x28xf32> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x64x30x28xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x30x28xf32>
  %1 = sinter.after %0, %e : (tensor<2x64x30x28xf32>, tensor<2x64x30x28xf32>) -> tensor<2x64x30x28xf32>
  %2 = sinter.after %1, %s : (tensor<2x64x30x28xf32>, tensor<f32>) -> tensor<2x64x30x28xf32>
  %3 = sinter.conv %2, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x64x30x28xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x30x28xf32>
  return %3 : tensor<2x64x30x28xf32>
}

// -----

// A group of channels falls apart where channels are last: what is neighbours
// is summed side by side, and then what is left of each group.
// CHECK-LABEL: @main
// EXACT-LABEL: @main
// CHECK: %[[A:.*]] = sinter.conv %{{.*}}layout = "channels_last"
// CHECK: %[[G:.*]] = sinter.reshape %[[A]] {{.*}} -> tensor<2x30x28x16x4xf32>
// CHECK: %[[C:.*]] = sinter.sum %[[G]] {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x30x28x16x4xf32>) -> tensor<2x1x1x16x4xf32>
// CHECK: %[[S:.*]] = sinter.sum %[[C]] {axes = array<i64: 4>, keepdims = true} : (tensor<2x1x1x16x4xf32>) -> tensor<2x1x1x16x1xf32>
// CHECK: %[[B:.*]] = sinter.broadcast %[[S]]
// CHECK: %[[D:.*]] = sinter.sub %[[G]], %[[B]] : (tensor<2x30x28x16x4xf32>
// CHECK: %[[M:.*]] = sinter.amax %[[D]] {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x30x28x16x4xf32>) -> tensor<2x16x4xf32>
// CHECK: sinter.amax %[[M]] {axes = array<i64: 2>, keepdims = false} : (tensor<2x16x4xf32>) -> tensor<2x16xf32>
// CHECK-NOT: sinter.transpose %[[D]]
// CHECK: sinter.conv
func.func @main(%x: tensor<2x64x30x28xf32>, %v: tensor<64x64x3x3xf32>, %w: tensor<64x64x3x3xf32>) -> (tensor<2x16xf32>, tensor<2x64x30x28xf32>) {
  %0 = sinter.conv %x, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x64x30x28xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x30x28xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (2, 16, 4, 30, 28)>} : (tensor<2x64x30x28xf32>) -> tensor<2x16x4x30x28xf32>
  %2 = sinter.sum %1 {axes = array<i64: 2, 3, 4>, keepdims = true} : (tensor<2x16x4x30x28xf32>) -> tensor<2x16x1x1x1xf32>
  %3 = sinter.broadcast %2 {shape = affine_map<() -> (2, 16, 4, 30, 28)>} : (tensor<2x16x1x1x1xf32>) -> tensor<2x16x4x30x28xf32>
  %4 = sinter.sub %1, %3 : (tensor<2x16x4x30x28xf32>, tensor<2x16x4x30x28xf32>) -> tensor<2x16x4x30x28xf32>
  %5 = sinter.amax %4 {axes = array<i64: 2, 3, 4>, keepdims = false} : (tensor<2x16x4x30x28xf32>) -> tensor<2x16xf32>
  %6 = sinter.reshape %4 {shape = affine_map<() -> (2, 64, 30, 28)>} : (tensor<2x16x4x30x28xf32>) -> tensor<2x64x30x28xf32>
  %7 = sinter.conv %6, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_first", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x64x30x28xf32>, tensor<64x64x3x3xf32>) -> tensor<2x64x30x28xf32>
  return %5, %7 : tensor<2x16xf32>, tensor<2x64x30x28xf32>
}
