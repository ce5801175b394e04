// Windows over images of f32 on Hopper: only the image is copied in pieces, with
// the zeros around it, and pieces stand before images in its map, as places under a window of their own.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/forward.mlir --stage ptx --target cuda:sm_90 > %t/forward.ptx
// RUN: FileCheck %s --check-prefix=FORWARD < %t/forward.ptx
// RUN: %ptxas -arch=sm_90a -v %t/forward.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/forward.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --dynamic 0:0=n | FileCheck %s --check-prefix=IMAGES
// RUN: sinter inspect %t/weights.mlir --stage ptx --target cuda:sm_90 > %t/weights.ptx
// RUN: FileCheck %s --check-prefix=WEIGHTS < %t/weights.ptx
// RUN: %ptxas -arch=sm_90a -v %t/weights.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/line.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=LINE
// RUN: sinter inspect %t/channels.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: sinter inspect %t/forward.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=NONE

// CHECK-NOT: C75
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: C75

// NONE-NOT: im2col

// FORWARD: cvt.rn.bf16x2.f32
// FORWARD: cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// FORWARD: // tensor_map [[K:contraction_[0-9a-f]+]]{{.*}} bf16 3 5 0 128 1 64 30 128 {{[0-9]+}} 30 3840 1 3 1843200 1 16 115200 1 0 -2 1 0 -2 1 0 -2 1
// IMAGES: // tensor_map {{.*}} bf16 3 5 0 128 1 64 30 128 {{[0-9]+}} 30 3840 1 3 115200*s0 1 1*s0 115200 1 0 -2 1 0 -2 1 0 -2 1
//--- forward.mlir
func.func @main(%x: tensor<16x28x28x128xf32>, %w: tensor<256x128x3x3xf32>) -> tensor<16x28x28x256xf32> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<16x28x28x128xf32>, tensor<256x128x3x3xf32>) -> tensor<16x28x28x256xf32>
  return %0 : tensor<16x28x28x256xf32>
}

// Windows are k.
// WEIGHTS: // tensor_map {{.*}} bf16 {{[0-9]+}} 5 0 64 1 64 30 64 64 30 1920 1 3 3686400 1 64 57600 1 0 -2 1 0 -2 1 0 -2 1
//--- weights.mlir
func.func @main(%g: tensor<50176x128xf32>, %x: tensor<64x28x28x64xf32>) -> tensor<128x576xf32> {
  %0 = sinter.pad %x {interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 1, 0>, shape = affine_map<() -> (64, 30, 30, 64)>, value = 0 : i64} : (tensor<64x28x28x64xf32>) -> tensor<64x30x30x64xf32>
  %1 = sinter.window %0 {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<64x30x30x64xf32>) -> tensor<64x28x28x64x3x3xf32>
  %2 = sinter.transpose %1 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<64x28x28x64x3x3xf32>) -> tensor<64x28x28x3x3x64xf32>
  %3 = sinter.reshape %2 {shape = affine_map<() -> (50176, 576)>} : (tensor<64x28x28x3x3x64xf32>) -> tensor<50176x576xf32>
  %4 = sinter.transpose %g {permutation = array<i64: 1, 0>} : (tensor<50176x128xf32>) -> tensor<128x50176xf32>
  %5 = sinter.matmul %4, %3 : (tensor<128x50176xf32>, tensor<50176x576xf32>) -> tensor<128x576xf32>
  return %5 : tensor<128x576xf32>
}

// Along one axis.
// LINE: cp.async.bulk.tensor.4d.shared::cluster.global.im2col
// LINE: bf16 {{[0-9]+}} 4 0 64 1 64 2004 64 {{[0-9]+}} 3 2052096 1 16 128256 1 0 -4 1 0 -2 1
//--- line.mlir
func.func @main(%x: tensor<16x2000x64xf32>, %w: tensor<128x64x5xf32>) -> tensor<16x2000x128xf32> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 2>, layout = "channels_last", low = array<i64: 2>, sizes = array<i64: 5>, strides = array<i64: 1>} : (tensor<16x2000x64xf32>, tensor<128x64x5xf32>) -> tensor<16x2000x128xf32>
  return %0 : tensor<16x2000x128xf32>
}

// Boxes are of 64 channels, and what lies under windows is not copied.
//--- channels.mlir
func.func @main(%x: tensor<16x28x28x40xf32>, %w: tensor<256x40x3x3xf32>) -> tensor<16x28x28x256xf32> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<16x28x28x40xf32>, tensor<256x40x3x3xf32>) -> tensor<16x28x28x256xf32>
  return %0 : tensor<16x28x28x256xf32>
}
