// Products of halves with few columns, a short k or odd rows on Hopper: a tile
// is as narrow as they are, the last part of a stage is zero, and places under
// windows whose channels fill no boxes take whole ones of k, of both operands.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_90 > %t/columns.ptx
// RUN: FileCheck %s --check-prefix=COLUMNS < %t/columns.ptx
// RUN: %ptxas -arch=sm_90a -v %t/columns.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/short.mlir --stage ptx --target cuda:sm_90 > %t/short.ptx
// RUN: FileCheck %s --check-prefix=SHORT < %t/short.ptx
// RUN: %ptxas -arch=sm_90a -v %t/short.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/batches.mlir --stage ptx --target cuda:sm_90 > %t/batches.ptx
// RUN: FileCheck %s --check-prefix=BATCHES < %t/batches.ptx
// RUN: %ptxas -arch=sm_90a -v %t/batches.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/rows.mlir --stage ptx --target cuda:sm_90 > %t/rows.ptx
// RUN: FileCheck %s --check-prefix=ROWS < %t/rows.ptx
// RUN: %ptxas -arch=sm_90a -v %t/rows.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/image.mlir --stage ptx --target cuda:sm_90 > %t/image.ptx
// RUN: FileCheck %s --check-prefix=IMAGE < %t/image.ptx
// RUN: sinter inspect %t/place.mlir --stage ptx --target cuda:sm_90 > %t/place.ptx
// RUN: FileCheck %s --check-prefix=PLACE < %t/place.ptx
// RUN: %ptxas -arch=sm_90a -v %t/place.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/place.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --dynamic 0:0=n | FileCheck %s --check-prefix=ANY
// RUN: sinter inspect %t/little.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=LITTLE

// CHECK-NOT: C75
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: C75

// Twelve columns, of which the copy has lines of sixteen.
// COLUMNS: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.bf16.bf16
// COLUMNS: // tensor_map {{.*}} bf16 0 2 0 1072 1 64 65536 1072
// COLUMNS: // tensor_map {{.*}} bf16 {{[0-9]+}} 2 0 12 1 64 1072 16 64
//--- columns.mlir
func.func @main(%x: tensor<65536x1072xbf16>, %w: tensor<1072x12xbf16>) -> tensor<65536x12xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<65536x1072xbf16>, tensor<1072x12xbf16>) -> tensor<65536x12xbf16>
  return %0 : tensor<65536x12xbf16>
}

// A quarter of a stage; a box of results ends with their columns.
// SHORT: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
// SHORT: cp.async.bulk.tensor.2d.global.shared::cta
// SHORT: // tensor_map {{.*}} f16 0 2 0 16 1 64 802816 16 64
// SHORT: // tensor_map {{.*}} f16 1 2 0 24 1 64 16 24 64
// SHORT: // tensor_map {{.*}} f16 {{[0-9]+}} 2 0 24 1 64 802816 24 64
//--- short.mlir
func.func @main(%x: tensor<802816x16xf16>, %w: tensor<16x24xf16>) -> tensor<802816x24xf16> {
  %0 = sinter.matmul %x, %w : (tensor<802816x16xf16>, tensor<16x24xf16>) -> tensor<802816x24xf16>
  %1 = sinter.relu %0 : (tensor<802816x24xf16>) -> tensor<802816x24xf16>
  return %1 : tensor<802816x24xf16>
}

// BATCHES: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// BATCHES: cp.async.bulk.tensor.3d.shared::cluster.global
//--- batches.mlir
func.func @main(%x: tensor<6x4096x64xbf16>, %w: tensor<6x64x24xbf16>) -> tensor<6x4096x24xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<6x4096x64xbf16>, tensor<6x64x24xbf16>) -> tensor<6x4096x24xbf16>
  return %0 : tensor<6x4096x24xbf16>
}

// Twenty columns are enough for a copy of odd rows.
// ROWS: entry [[K:contraction_[0-9a-f]+]](
// ROWS: entry [[K]]_phase2(
// ROWS: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.f16.f16
// ROWS: // tensor_map [[K]]_phase2 f16 {{[0-9]+}} 2 0 603 1 64 32768 608
//--- rows.mlir
func.func @main(%x: tensor<32768x603xf16>, %w: tensor<603x20xf16>) -> tensor<32768x20xf16> {
  %0 = sinter.matmul %x, %w : (tensor<32768x603xf16>, tensor<603x20xf16>) -> tensor<32768x20xf16>
  return %0 : tensor<32768x20xf16>
}

// The gradient of an image: 67 channels are copied in lines of 72, once for all
// windows, and the other operand has places behind columns and channels.
// IMAGE: wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16
// IMAGE: // tensor_map [[K:contraction_[0-9a-f]+]]_phase2 bf16 {{[0-9]+}} 4 0 67 1 64 60 72 64 60 4320 1 8 259200 1 0 -3 1 0 -3 1
// IMAGE: // tensor_map [[K]]_phase2 bf16 {{[0-9]+}} 3 0 12 1 64 67 16 64 16 1072 1
//--- image.mlir
func.func @main(%x: tensor<8x57x57x67xbf16>, %w: tensor<67x3x7x7xbf16>) -> tensor<8x113x113x3xbf16> {
  %0 = sinter.conv_transpose %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 3, 3>, layout = "channels_last", low = array<i64: 3, 3>, sizes = array<i64: 7, 7>, space = affine_map<() -> (113, 113)>, strides = array<i64: 2, 2>} : (tensor<8x57x57x67xbf16>, tensor<67x3x7x7xbf16>) -> tensor<8x113x113x3xbf16>
  return %0 : tensor<8x113x113x3xbf16>
}

// 72 channels are read where they lie.
// PLACE: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// PLACE: // tensor_map [[K:contraction_[0-9a-f]+]]_phase1 bf16 0 4 0 72 1 64 40 72
// PLACE: // tensor_map [[K]]_phase1 bf16 {{[0-9]+}} 3 0 72 1 64 20 648 24 9 72 1
// ANY: // tensor_map [[K:contraction_[0-9a-f]+]]_phase1 bf16 0 4 0 72 1 64 40 72
//--- place.mlir
func.func @main(%x: tensor<16x40x40x72xbf16>, %w: tensor<20x72x3x3xbf16>) -> tensor<16x40x40x20xbf16> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, layout = "channels_last", low = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<16x40x40x72xbf16>, tensor<20x72x3x3xbf16>) -> tensor<16x40x40x20xbf16>
  return %0 : tensor<16x40x40x20xbf16>
}

// Five columns pay for no copy of all rows.
// LITTLE-NOT: wgmma
//--- little.mlir
func.func @main(%x: tensor<32768x603xbf16>, %w: tensor<603x5xbf16>) -> tensor<32768x5xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<32768x603xbf16>, tensor<603x5xbf16>) -> tensor<32768x5xbf16>
  return %0 : tensor<32768x5xbf16>
}
