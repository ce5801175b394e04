// Halves that no tensor cores take are multiplied as f32 by the threads of a
// block, from panels in shared memory: few columns, rows of odd lengths, what
// lies under windows, batches; in order, too.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_90 > %t/columns.ptx
// RUN: FileCheck %s --check-prefix=FMA < %t/columns.ptx
// RUN: %ptxas -arch=sm_90 -v %t/columns.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_80 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=FMA
// RUN: sinter inspect %t/odd.mlir --stage ptx --target cuda:sm_80 > %t/odd.ptx
// RUN: FileCheck %s --check-prefix=FMA < %t/odd.ptx
// RUN: %ptxas -arch=sm_80 -v %t/odd.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/windows.mlir --stage ptx --target cuda:sm_90 > %t/windows.ptx
// RUN: FileCheck %s --check-prefix=FMA < %t/windows.ptx
// RUN: %ptxas -arch=sm_90 -v %t/windows.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/batches.mlir --stage ptx --target cuda:sm_80 > %t/batches.ptx
// RUN: FileCheck %s --check-prefix=FMA < %t/batches.ptx
// RUN: %ptxas -arch=sm_80 -v %t/batches.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/gradient.mlir --stage ptx --target cuda:sm_80 > %t/gradient.ptx
// RUN: FileCheck %s --check-prefix=PARTS < %t/gradient.ptx

// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// FMA: .visible .entry contraction_
// FMA-NOT: mma
// FMA: ld.global.{{.*}}b16
// FMA-NOT: mma
// FMA: ld.shared.v4.b32
// FMA-NOT: mma
// FMA: fma.rn.f32
// FMA-NOT: mma

//--- columns.mlir
func.func @main(%x: tensor<8192x603xbf16>, %w: tensor<603x5xbf16>) -> tensor<8192x5xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<8192x603xbf16>, tensor<603x5xbf16>) -> tensor<8192x5xbf16>
  return %0 : tensor<8192x5xbf16>
}

//--- odd.mlir
func.func @main(%x: tensor<4096x35xf16>, %w: tensor<35x20xf16>) -> tensor<4096x20xf16> {
  %0 = sinter.matmul %x, %w : (tensor<4096x35xf16>, tensor<35x20xf16>) -> tensor<4096x20xf16>
  return %0 : tensor<4096x20xf16>
}

//--- windows.mlir
func.func @main(%x: tensor<8x31x29x3xbf16>, %w: tensor<17x3x3x3xbf16>) -> tensor<8x16x15x17xbf16> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<8x31x29x3xbf16>, tensor<17x3x3x3xbf16>) -> tensor<8x16x15x17xbf16>
  return %0 : tensor<8x16x15x17xbf16>
}

//--- batches.mlir
func.func @main(%x: tensor<6x257x134xf16>, %w: tensor<6x134x12xf16>) -> tensor<6x257x12xf16> {
  %0 = sinter.matmul %x, %w : (tensor<6x257x134xf16>, tensor<6x134x12xf16>) -> tensor<6x257x12xf16>
  return %0 : tensor<6x257x12xf16>
}

// Rows of both operands are summed in parts.
// PARTS: .visible .entry [[K:contraction_[0-9a-f]+]](
// PARTS: fma.rn.f32
// PARTS: .visible .entry [[K]]_phase1(
//--- gradient.mlir
func.func @main(%x: tensor<200704x16xbf16>, %g: tensor<200704x24xbf16>) -> tensor<16x24xbf16> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<200704x16xbf16>) -> tensor<16x200704xbf16>
  %1 = sinter.matmul %0, %g : (tensor<16x200704xbf16>, tensor<200704x24xbf16>) -> tensor<16x24xbf16>
  return %1 : tensor<16x24xbf16>
}
