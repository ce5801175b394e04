// The gradient of a depthwise weight, where lanes are threads: a task takes in
// a block of 64 rows for all places of the window, which are states in
// registers. Lanes are channels, as the image has them last, and inside of the
// image neighbours share what they read: four rows of nine products each read
// 3 x 6 elements and 4. Outside nothing is read that is not there, and no
// branch keeps loads apart. Two more phases merge blocks and chunks.
// RUN: split-file %s %t
// RUN: sinter inspect %t/many.mlir --stage lower --target cuda:sm_90 \
// RUN:   | FileCheck %t/many.mlir
// RUN: sinter inspect %t/many.mlir --stage lower --target vulkan:lavapipe \
// RUN:   | FileCheck %t/many.mlir --check-prefix=VULKAN
// RUN: sinter inspect %t/few.mlir --stage lower --target cuda:sm_90 \
// RUN:   | FileCheck %t/few.mlir

//--- many.mlir
// CHECK-LABEL: func.func @reduce_
// CHECK-NOT: memref.alloca
// CHECK-NOT: vector.gather
// CHECK: %c0 to %c2 step
// CHECK: scf.for
// CHECK-COUNT-10: vector.load {{.*}} vector<64xi16>
// CHECK-NOT: vector.load
// CHECK: scf.if
// CHECK: scf.for {{.*}} step %c4
// CHECK-COUNT-22: vector.load {{.*}} vector<64xi16>
// CHECK-NOT: vector.load
// CHECK-COUNT-9: vector.store {{.*}} vector<64xf32>
// CHECK-LABEL: func.func @reduce_{{.*}}_phase1
// CHECK-COUNT-32: vector.load {{.*}} vector<32xf32>
// CHECK-LABEL: func.func @reduce_{{.*}}_phase2
// CHECK: vector.scatter
// VULKAN: func.func @reduce_{{.*}}_phase2
func.func @main(%x: tensor<64x56x56x64xbf16>, %g: tensor<64x56x56x64xbf16>) -> tensor<64x1x3x3xbf16> {
  %0 = sinter.conv_weight_grad %x, %g {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 64 : i64, layout = "channels_last"} : (tensor<64x56x56x64xbf16>, tensor<64x56x56x64xbf16>) -> tensor<64x1x3x3xbf16>
  return %0 : tensor<64x1x3x3xbf16>
}
//--- few.mlir
// Few blocks: lines of the window are shared out, too. One chunk needs no
// phase of its own.
// CHECK-LABEL: func.func @reduce_
// CHECK: scf.for
// CHECK-COUNT-4: vector.load {{.*}} vector<32xf32>
// CHECK-LABEL: func.func @reduce_{{.*}}_phase1
// CHECK-NOT: _phase2
func.func @main(%x: tensor<2x40x40x32xf32>, %g: tensor<2x40x40x32xf32>) -> tensor<32x1x3x3xf32> {
  %0 = sinter.conv_weight_grad %x, %g {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64, layout = "channels_last"} : (tensor<2x40x40x32xf32>, tensor<2x40x40x32xf32>) -> tensor<32x1x3x3xf32>
  return %0 : tensor<32x1x3x3xf32>
}
