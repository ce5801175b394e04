// The gradient of a weight of few results: sums over the positions of windows
// are so long that a copy of what lies under them, and of nothing else, pays.
// Of an unknown k it does from a size on, and of a smaller one threads sum it:
// phases of which a launch runs those of its size.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/long.mlir --stage ptx --target cuda:sm_90 > %t/long.ptx
// RUN: FileCheck %s --check-prefix=LONG < %t/long.ptx
// RUN: %ptxas -arch=sm_90a -v %t/long.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/short.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SHORT
// RUN: sinter inspect %t/any.mlir --stage ptx --target cuda:sm_90 > %t/any.ptx
// RUN: FileCheck %s --check-prefix=ANY < %t/any.ptx
// RUN: %ptxas -arch=sm_90a -v %t/any.ptx -o %t/out 2>&1 | FileCheck %s

// CHECK: 0 bytes spill stores, 0 bytes spill loads

// LONG: entry [[K:contraction_[0-9a-f]+]](
// LONG: entry [[K]]_phase1(
// LONG: wgmma.mma_async
// LONG: entry [[K]]_phase2(
// LONG-NOT: entry [[K]]_phase3(

// SHORT-NOT: wgmma

// ANY: wgmma.mma_async
// ANY: entry [[K:contraction_[0-9a-f]+]]_phase4(
//--- long.mlir
func.func @main(%x: tensor<8x96x96x4xbf16>, %g: tensor<8x48x48x48xbf16>) -> tensor<48x100xbf16> {
  %p = sinter.pad %x {low = array<i64: 0, 2, 2, 0>, interior = array<i64: 0, 0, 0, 0>, shape = affine_map<() -> (8, 100, 100, 4)>, value = 0.0 : f64} : (tensor<8x96x96x4xbf16>) -> tensor<8x100x100x4xbf16>
  %w = sinter.window %p {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 5, 5>, strides = array<i64: 2, 2>} : (tensor<8x100x100x4xbf16>) -> tensor<8x48x48x4x5x5xbf16>
  %wt = sinter.transpose %w {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<8x48x48x4x5x5xbf16>) -> tensor<8x48x48x5x5x4xbf16>
  %f = sinter.reshape %wt {shape = affine_map<() -> (18432, 100)>} : (tensor<8x48x48x5x5x4xbf16>) -> tensor<18432x100xbf16>
  %gf = sinter.reshape %g {shape = affine_map<() -> (18432, 48)>} : (tensor<8x48x48x48xbf16>) -> tensor<18432x48xbf16>
  %gt = sinter.transpose %gf {permutation = array<i64: 1, 0>} : (tensor<18432x48xbf16>) -> tensor<48x18432xbf16>
  %y = sinter.matmul %gt, %f : (tensor<48x18432xbf16>, tensor<18432x100xbf16>) -> tensor<48x100xbf16>
  return %y : tensor<48x100xbf16>
}

//--- short.mlir
func.func @main(%x: tensor<2x30x30x5xbf16>, %g: tensor<2x30x30x40xbf16>) -> tensor<40x45xbf16> {
  %p = sinter.pad %x {low = array<i64: 0, 1, 1, 0>, interior = array<i64: 0, 0, 0, 0>, shape = affine_map<() -> (2, 32, 32, 5)>, value = 0.0 : f64} : (tensor<2x30x30x5xbf16>) -> tensor<2x32x32x5xbf16>
  %w = sinter.window %p {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<2x32x32x5xbf16>) -> tensor<2x30x30x5x3x3xbf16>
  %wt = sinter.transpose %w {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<2x30x30x5x3x3xbf16>) -> tensor<2x30x30x3x3x5xbf16>
  %f = sinter.reshape %wt {shape = affine_map<() -> (1800, 45)>} : (tensor<2x30x30x3x3x5xbf16>) -> tensor<1800x45xbf16>
  %gf = sinter.reshape %g {shape = affine_map<() -> (1800, 40)>} : (tensor<2x30x30x40xbf16>) -> tensor<1800x40xbf16>
  %gt = sinter.transpose %gf {permutation = array<i64: 1, 0>} : (tensor<1800x40xbf16>) -> tensor<40x1800xbf16>
  %y = sinter.matmul %gt, %f : (tensor<40x1800xbf16>, tensor<1800x45xbf16>) -> tensor<40x45xbf16>
  return %y : tensor<40x45xbf16>
}

//--- any.mlir
func.func @main(%x: tensor<?x30x30x5xbf16, affine_map<()[s0] -> (s0, 30, 30, 5)>>, %g: tensor<?x30x30x40xbf16, affine_map<()[s0] -> (s0, 30, 30, 40)>>) -> tensor<40x45xbf16> {
  %p = sinter.pad %x {low = array<i64: 0, 1, 1, 0>, interior = array<i64: 0, 0, 0, 0>, shape = affine_map<()[s0] -> (s0, 32, 32, 5)>, value = 0.0 : f64} : (tensor<?x30x30x5xbf16, affine_map<()[s0] -> (s0, 30, 30, 5)>>) -> tensor<?x32x32x5xbf16, affine_map<()[s0] -> (s0, 32, 32, 5)>>
  %w = sinter.window %p {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<?x32x32x5xbf16, affine_map<()[s0] -> (s0, 32, 32, 5)>>) -> tensor<?x30x30x5x3x3xbf16, affine_map<()[s0] -> (s0, 30, 30, 5, 3, 3)>>
  %wt = sinter.transpose %w {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<?x30x30x5x3x3xbf16, affine_map<()[s0] -> (s0, 30, 30, 5, 3, 3)>>) -> tensor<?x30x30x3x3x5xbf16, affine_map<()[s0] -> (s0, 30, 30, 3, 3, 5)>>
  %f = sinter.reshape %wt {shape = affine_map<()[s0] -> (s0 * 900, 45)>} : (tensor<?x30x30x3x3x5xbf16, affine_map<()[s0] -> (s0, 30, 30, 3, 3, 5)>>) -> tensor<?x45xbf16, affine_map<()[s0] -> (s0 * 900, 45)>>
  %gf = sinter.reshape %g {shape = affine_map<()[s0] -> (s0 * 900, 40)>} : (tensor<?x30x30x40xbf16, affine_map<()[s0] -> (s0, 30, 30, 40)>>) -> tensor<?x40xbf16, affine_map<()[s0] -> (s0 * 900, 40)>>
  %gt = sinter.transpose %gf {permutation = array<i64: 1, 0>} : (tensor<?x40xbf16, affine_map<()[s0] -> (s0 * 900, 40)>>) -> tensor<40x?xbf16, affine_map<()[s0] -> (40, s0 * 900)>>
  %y = sinter.matmul %gt, %f : (tensor<40x?xbf16, affine_map<()[s0] -> (40, s0 * 900)>>, tensor<?x45xbf16, affine_map<()[s0] -> (s0 * 900, 45)>>) -> tensor<40x45xbf16>
  return %y : tensor<40x45xbf16>
}
