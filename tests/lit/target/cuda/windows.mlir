// Windows over images of bf16 on Hopper: maps of images copy what lies under
// them, place by place, and weights are copied before as the product takes them.
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
// RUN: sinter inspect %t/any.mlir --stage ptx --target cuda:sm_90 > %t/any.ptx
// RUN: FileCheck %s --check-prefix=ANY < %t/any.ptx
// RUN: %ptxas -arch=sm_90a -v %t/any.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/computed.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=COMPUTED
// RUN: sinter inspect %t/channels.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=CHANNELS
// RUN: sinter inspect %t/small.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SMALL

// CHECK-NOT: C75
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: C75

// Of the image's map: the first and the last window begin one place outside,
// and stand two places apart along lines.
// FORWARD: entry [[K:contraction_[0-9a-f]+]](
// FORWARD: entry [[K]]_phase1(
// FORWARD: wgmma.mma_async
// FORWARD: cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// FORWARD: // tensor_map [[K]]_phase1 bf16 0 4 0 128 1 64 28 128 128 28 3584 1 16 100352 1 -1 -1 2 -1 -1 1
// FORWARD: // tensor_map [[K]]_phase1 bf16 3 2 0 1152 1 64 256 1152 {{[0-9]+}}
// FORWARD: // tensor_map [[K]]_phase1 bf16 2 2 0 256 1 64 6272 256 64
// As many images as there are at a launch.
// IMAGES: // tensor_map {{.*}}_phase1 bf16 0 4 0 128 1 64 28 128 {{[0-9]+}} 28 3584 1 1*s0 100352 1 -1 -1 2 -1 -1 1
//--- forward.mlir
func.func @main(%x: tensor<16x28x28x128xbf16>, %w: tensor<256x128x3x3xbf16>) -> tensor<16x28x14x256xbf16> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 2>} : (tensor<16x28x28x128xbf16>, tensor<256x128x3x3xbf16>) -> tensor<16x28x14x256xbf16>
  return %0 : tensor<16x28x14x256xbf16>
}

// Windows are k: each copy has 64 of them, and 64 channels of a place.
// WEIGHTS: // tensor_map [[K:contraction_[0-9a-f]+]] bf16 0 2 0 128 1 64 12544 128 64
// WEIGHTS: // tensor_map [[K]] bf16 1 4 0 64 1 64 28 64 64 28 1792 1 16 50176 1 -1 -1 1 -1 -1 1
//--- weights.mlir
func.func @main(%g: tensor<12544x128xbf16>, %x: tensor<16x28x28x64xbf16>) -> tensor<128x576xbf16> {
  %0 = sinter.pad %x {interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 1, 0>, shape = affine_map<() -> (16, 30, 30, 64)>, value = 0 : i64} : (tensor<16x28x28x64xbf16>) -> tensor<16x30x30x64xbf16>
  %1 = sinter.window %0 {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<16x30x30x64xbf16>) -> tensor<16x28x28x64x3x3xbf16>
  %2 = sinter.transpose %1 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<16x28x28x64x3x3xbf16>) -> tensor<16x28x28x3x3x64xbf16>
  %3 = sinter.reshape %2 {shape = affine_map<() -> (12544, 576)>} : (tensor<16x28x28x3x3x64xbf16>) -> tensor<12544x576xbf16>
  %4 = sinter.transpose %g {permutation = array<i64: 1, 0>} : (tensor<12544x128xbf16>) -> tensor<128x12544xbf16>
  %5 = sinter.matmul %4, %3 : (tensor<128x12544xbf16>, tensor<12544x576xbf16>) -> tensor<128x576xbf16>
  return %5 : tensor<128x576xbf16>
}

// Of any number of images k is as long as there are positions.
// ANY: wgmma.mma_async
// ANY: // tensor_map [[K:contraction_[0-9a-f]+]] bf16 0 2 0 128 1 64 784*s0 128 64
// ANY: // tensor_map [[K]] bf16 1 4 0 64 1 64 28 64 64 28 1792 1 1*s0 50176 1 -1 -1 1 -1 -1 1
//--- any.mlir
#x = affine_map<()[s0] -> (s0, 28, 28, 64)>
#p = affine_map<()[s0] -> (s0, 30, 30, 64)>
#w = affine_map<()[s0] -> (s0, 28, 28, 64, 3, 3)>
#t = affine_map<()[s0] -> (s0, 28, 28, 3, 3, 64)>
#m = affine_map<()[s0] -> (s0 * 784, 576)>
#g = affine_map<()[s0] -> (s0 * 784, 128)>
#h = affine_map<()[s0] -> (128, s0 * 784)>
func.func @main(%g: tensor<?x128xbf16, #g>, %x: tensor<?x28x28x64xbf16, #x>) -> tensor<128x576xbf16> {
  %0 = sinter.pad %x {interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 1, 1, 0>, shape = #p, value = 0 : i64} : (tensor<?x28x28x64xbf16, #x>) -> tensor<?x30x30x64xbf16, #p>
  %1 = sinter.window %0 {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<?x30x30x64xbf16, #p>) -> tensor<?x28x28x64x3x3xbf16, #w>
  %2 = sinter.transpose %1 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<?x28x28x64x3x3xbf16, #w>) -> tensor<?x28x28x3x3x64xbf16, #t>
  %3 = sinter.reshape %2 {shape = #m} : (tensor<?x28x28x3x3x64xbf16, #t>) -> tensor<?x576xbf16, #m>
  %4 = sinter.transpose %g {permutation = array<i64: 1, 0>} : (tensor<?x128xbf16, #g>) -> tensor<128x?xbf16, #h>
  %5 = sinter.matmul %4, %3 : (tensor<128x?xbf16, #h>, tensor<?x576xbf16, #m>) -> tensor<128x576xbf16>
  return %5 : tensor<128x576xbf16>
}

// Windows stand on elements with others between: those are copied, not what
// lies under each window.
// COMPUTED: // tensor_map {{.*}}_phase1 bf16 3 4 0 64 1 64 29 64 128 29 1856 1 16 53824 1 0 -2 1 0 -2 1
//--- computed.mlir
func.func @main(%x: tensor<16x14x14x64xbf16>, %w: tensor<576x128xbf16>) -> tensor<11664x128xbf16> {
  %0 = sinter.pad %x {interior = array<i64: 0, 1, 1, 0>, low = array<i64: 0, 1, 1, 0>, shape = affine_map<() -> (16, 29, 29, 64)>, value = 0 : i64} : (tensor<16x14x14x64xbf16>) -> tensor<16x29x29x64xbf16>
  %1 = sinter.window %0 {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<16x29x29x64xbf16>) -> tensor<16x27x27x64x3x3xbf16>
  %2 = sinter.transpose %1 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<16x27x27x64x3x3xbf16>) -> tensor<16x27x27x3x3x64xbf16>
  %3 = sinter.reshape %2 {shape = affine_map<() -> (11664, 576)>} : (tensor<16x27x27x3x3x64xbf16>) -> tensor<11664x576xbf16>
  %4 = sinter.matmul %3, %w : (tensor<11664x576xbf16>, tensor<576x128xbf16>) -> tensor<11664x128xbf16>
  return %4 : tensor<11664x128xbf16>
}

// Three channels are no box: what lies under windows is copied whole, lines of
// 75 elements 80 apart.
// CHANNELS: // tensor_map {{.*}}_phase2 bf16 3 2 0 75 1 64 12544 80
//--- channels.mlir
func.func @main(%x: tensor<16x28x28x3xbf16>, %w: tensor<64x3x5x5xbf16>) -> tensor<16x28x28x64xbf16> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 2, 2>, layout = "channels_last", low = array<i64: 2, 2>, sizes = array<i64: 5, 5>, strides = array<i64: 1, 1>} : (tensor<16x28x28x3xbf16>, tensor<64x3x5x5xbf16>) -> tensor<16x28x28x64xbf16>
  return %0 : tensor<16x28x28x64xbf16>
}

// A copy would take longer than tensor cores win.
// SMALL-NOT: wgmma
//--- small.mlir
func.func @main(%x: tensor<1x14x14x64xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<1x14x14x64xbf16> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<1x14x14x64xbf16>, tensor<64x64x3x3xbf16>) -> tensor<1x14x14x64xbf16>
  return %0 : tensor<1x14x14x64xbf16>
}
