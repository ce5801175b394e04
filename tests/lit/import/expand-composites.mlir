// RUN: sinter-opt %s --expand-composites | FileCheck %s

#rows = affine_map<()[s0] -> (s0, 8)>
#row = affine_map<()[s0] -> (s0)>
#image = affine_map<()[s0, s1] -> (s0, 4, 2)>
#positions = affine_map<()[s0, s1] -> (s0, s1, 4)>

// The count of a symbolic axis is a number of the run.
// CHECK-LABEL: @mean
func.func @mean(%x: tensor<?x8xf32, #rows>) -> tensor<8xf32> {
  // CHECK: %[[SUM:.*]] = sinter.sum %{{.*}} {axes = array<i64: 0>, keepdims = false}
  // CHECK: %[[COUNT:.*]] = sinter.extent {{.*}}-> tensor<f32>
  // CHECK: %[[COUNTS:.*]] = sinter.broadcast %[[COUNT]]
  // CHECK: sinter.div %[[SUM]], %[[COUNTS]]
  %0 = sinter.mean %x {axes = array<i64: 0>, keepdims = false} : (tensor<?x8xf32, #rows>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows> {
  // CHECK: %[[MAX:.*]] = sinter.amax %[[X:.*]] {axes = array<i64: 1>, keepdims = true}
  // CHECK: %[[SPREAD:.*]] = sinter.broadcast %[[MAX]]
  // CHECK: %[[SHIFTED:.*]] = sinter.sub %[[X]], %[[SPREAD]]
  // CHECK: %[[EXP:.*]] = sinter.exp %[[SHIFTED]]
  // CHECK: %[[SUM:.*]] = sinter.sum %[[EXP]]
  // CHECK: %[[SUMS:.*]] = sinter.broadcast %[[SUM]]
  // CHECK: sinter.div %[[EXP]], %[[SUMS]]
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<?x8xf32, #rows>) -> tensor<?x8xf32, #rows>
  return %0 : tensor<?x8xf32, #rows>
}

// Small floats are computed in f32; means inside are expanded too.
// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<4x8xf16>, %w: tensor<8xf16>) -> tensor<4x8xf16> {
  // CHECK: sinter.cast %{{.*}} {dtype = f32} : (tensor<4x8xf16>) -> tensor<4x8xf32>
  // CHECK-NOT: sinter.mean
  // CHECK: sinter.sum
  // CHECK: sinter.rsqrt
  // CHECK: sinter.cast %{{.*}} {dtype = f16} : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %0 = sinter.layer_norm %x, %w, %w {eps = 1.0e-5 : f64} : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// CHECK-LABEL: @cross_entropy
func.func @cross_entropy(%x: tensor<?x8xf32, #rows>, %l: tensor<?xi64, #row>) -> tensor<f32> {
  // CHECK: %[[LOG:.*]] = sinter.log
  // CHECK: sinter.broadcast %[[LOG]]
  // CHECK: %[[COLUMN:.*]] = sinter.reshape %{{.*}} : (tensor<?xi64, {{.*}}>) -> tensor<?x1xi64
  // CHECK: sinter.gather %{{.*}}, %[[COLUMN]] {axis = 1 : i64}
  // CHECK: sinter.neg
  %0 = sinter.cross_entropy %x, %l : (tensor<?x8xf32, #rows>, tensor<?xi64, #row>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @relu
func.func @relu(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: %[[ZERO:.*]] = sinter.full {{.*}}value = 0 : i64
  // CHECK: sinter.maximum %{{.*}}, %[[ZERO]]
  %0 = sinter.relu %x : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Without elements there is nothing to compute.
// CHECK-LABEL: @empty
func.func @empty(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  // CHECK-NEXT: sinter.full
  // CHECK-NEXT: return
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// The value itself; what linked it to its input was for gradients.
// CHECK-LABEL: @custom_gradient
// CHECK-SAME: (%[[VALUE:.*]]: tensor<4xf32>,
func.func @custom_gradient(%x: tensor<4xf32>, %y: tensor<3xi64>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[VALUE]]
  %0 = sinter.custom_gradient %x, %y : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An order, not arithmetic: fusion has to see it.
// CHECK-LABEL: @after
func.func @after(%x: tensor<4xf32>, %y: tensor<3xi64>) -> tensor<4xf32> {
  // CHECK-NEXT: sinter.after
  %0 = sinter.after %x, %y : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// As many positions as a guard lets there be: no number that stands for the
// symbol decides.
// CHECK-LABEL: @symbolic_positions
func.func @symbolic_positions(%x: tensor<?x4x2xf32, #image>, %g: tensor<?x?x4xf32, #positions>) -> tensor<4x2x3xf32> {
  // CHECK: sinter.window
  // CHECK: sinter.slice {{.*}} -> tensor<?x?x
  // CHECK: sinter.matmul
  %0 = sinter.conv_weight_grad %x, %g {sizes = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, groups = 1 : i64, layout = "channels_last"} : (tensor<?x4x2xf32, #image>, tensor<?x?x4xf32, #positions>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
