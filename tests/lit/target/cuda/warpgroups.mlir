// On Hopper a block's warpgroups multiply bf16 and f16: tensor maps copy both
// operands, however they lie, to a ring in shared memory, sums stay in registers,
// and what is stored in two bytes is copied out by a map as well.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_90 > %t/linear.ptx
// RUN: FileCheck %s --check-prefix=LINEAR < %t/linear.ptx
// RUN: %ptxas -arch=sm_90a -v %t/linear.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/gradient.mlir --stage ptx --target cuda:sm_90 > %t/gradient.ptx
// RUN: FileCheck %s --check-prefix=GRADIENT < %t/gradient.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gradient.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/batches.mlir --stage ptx --target cuda:sm_90 > %t/batches.ptx
// RUN: FileCheck %s --check-prefix=BATCHES < %t/batches.ptx
// RUN: %ptxas -arch=sm_90a -v %t/batches.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/symbolic.mlir --stage ptx --target cuda:sm_90 > %t/symbolic.ptx
// RUN: FileCheck %s --check-prefix=SYMBOLIC < %t/symbolic.ptx
// RUN: %ptxas -arch=sm_90a -v %t/symbolic.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/batch.mlir --stage ptx --target cuda:sm_90 > %t/batch.ptx
// RUN: FileCheck %s --check-prefix=BATCH < %t/batch.ptx
// RUN: %ptxas -arch=sm_90a -v %t/batch.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/wide.mlir --stage ptx --target cuda:sm_90 > %t/wide.ptx
// RUN: FileCheck %s --check-prefix=WIDE < %t/wide.ptx
// RUN: %ptxas -arch=sm_90a -v %t/wide.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/few.mlir --stage ptx --target cuda:sm_90 > %t/few.ptx
// RUN: FileCheck %s --check-prefix=FEW < %t/few.ptx
// RUN: %ptxas -arch=sm_90a -v %t/few.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/image.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=IMAGE
// RUN: sinter inspect %t/part.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PART
// RUN: sinter inspect %t/rows.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ROWS
// RUN: sinter inspect %t/pitch.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=NONE

// No warnings of wgmma that waits for each other (C75xx), no spills.
// CHECK-NOT: C75
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: C75

// NONE-NOT: wgmma
// ROWS-NOT: phase1

// A weight as it stands for matmul: neighbours lie along columns, four boxes.
// LINEAR: .target sm_90a
// LINEAR: .extern .shared .align 1024 .b8 [[K:contraction_[0-9a-f]+]]_launched_
// LINEAR: .reqntid 384, 1, 1
// LINEAR: .minnctapersm 1
// LINEAR-NOT: .local
// LINEAR-DAG: setmaxnreg.dec.sync.aligned.u32 40
// LINEAR-DAG: setmaxnreg.inc.sync.aligned.u32 232
// LINEAR-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, p, 1, 1, 0, 1;
// LINEAR-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// LINEAR-DAG: stmatrix.sync.aligned.m8n8.x4.shared.b16
// LINEAR-DAG: cp.async.bulk.tensor.2d.global.shared::cta
// LINEAR: // tensor_map [[K]] bf16 0 2 0 512 1 64 4096 512 128
// LINEAR: // tensor_map [[K]] bf16 1 2 0 4096 1 64 512 4096 64
// LINEAR: // tensor_map [[K]] bf16 3 2 0 4096 1 64 4096 4096 64

//--- linear.mlir
func.func @main(%x: tensor<4096x512xbf16>, %w: tensor<512x4096xbf16>, %b: tensor<4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<4096x512xbf16>, tensor<512x4096xbf16>) -> tensor<4096x4096xbf16>
  %1 = sinter.broadcast %b {shape = affine_map<() -> (4096, 4096)>} : (tensor<4096xbf16>) -> tensor<4096x4096xbf16>
  %2 = sinter.add %0, %1 : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %3 = sinter.relu %2 : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %3 : tensor<4096x4096xbf16>
}

// Both operands are read along rows of the batch; sums are stored as f32.
// GRADIENT: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.f16.f16 {{.*}}, p, 1, 1, 1, 0;
// GRADIENT-NOT: stmatrix
// GRADIENT: st.global.v2.b32
// GRADIENT: // tensor_map {{.*}} f16 0 2 0 1000 1 64 4096 1000 64
// GRADIENT: // tensor_map {{.*}} f16 1 2 0 4096 1 64 520 4096 {{[0-9]+}}
// GRADIENT-NOT: tensor_map
//--- gradient.mlir
func.func @main(%x: tensor<4096x1000xf16>, %g: tensor<520x4096xf16>) -> tensor<1000x520xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4096x1000xf16>) -> tensor<1000x4096xf16>
  %1 = sinter.transpose %g {permutation = array<i64: 1, 0>} : (tensor<520x4096xf16>) -> tensor<4096x520xf16>
  %2 = sinter.matmul %0, %1 : (tensor<1000x4096xf16>, tensor<4096x520xf16>) -> tensor<1000x520xf16>
  %3 = sinter.cast %2 {dtype = f32} : (tensor<1000x520xf16>) -> tensor<1000x520xf32>
  return %3 : tensor<1000x520xf32>
}

// Axes of batches are axes of the maps, of the second operand only one.
// BATCHES: cp.async.bulk.tensor.4d.shared::cluster.global
// BATCHES: cp.async.bulk.tensor.3d.shared::cluster.global
// BATCHES: // tensor_map {{.*}} bf16 1 4 0 128 1 64 200 128 {{[0-9]+}} 5 25600 1 3 128000 1
// BATCHES: // tensor_map {{.*}} bf16 0 3 0 136 1 64 128 136 64 5 17408 1
//--- batches.mlir
func.func @main(%x: tensor<3x5x200x128xbf16>, %w: tensor<5x128x136xbf16>) -> tensor<3x5x200x136xbf16> {
  %0 = sinter.broadcast %w {shape = affine_map<() -> (3, 5, 128, 136)>} : (tensor<5x128x136xbf16>) -> tensor<3x5x128x136xbf16>
  %1 = sinter.matmul %x, %0 : (tensor<3x5x200x128xbf16>, tensor<3x5x128x136xbf16>) -> tensor<3x5x200x136xbf16>
  return %1 : tensor<3x5x200x136xbf16>
}

// SYMBOLIC: // tensor_map {{.*}} bf16 0 2 0 512 1 64 1*s0 512 128
//--- symbolic.mlir
#x = affine_map<()[s0] -> (s0, 512)>
#y = affine_map<()[s0] -> (s0, 768)>
func.func @main(%x: tensor<?x512xbf16, #x>, %w: tensor<512x768xbf16>, %r: tensor<?x768xbf16, #y>) -> tensor<?x768xbf16, #y> {
  %0 = sinter.matmul %x, %w : (tensor<?x512xbf16, #x>, tensor<512x768xbf16>) -> tensor<?x768xbf16, #y>
  %1 = sinter.add %0, %r : (tensor<?x768xbf16, #y>, tensor<?x768xbf16, #y>) -> tensor<?x768xbf16, #y>
  return %1 : tensor<?x768xbf16, #y>
}

// Few results of a long k, which is rows: parts of it are summed side by side,
// and added in order by a second phase, which does the rest.
// FEW: .visible .entry [[K:contraction_[0-9a-f]+]](
// FEW: wgmma.mma_async
// FEW: st.global.v2.b32
// FEW: .visible .entry [[K]]_phase1(
// FEW: add.rn.f32
// FEW: max.NaN.bf16x2
//--- few.mlir
func.func @main(%x: tensor<8192x64xbf16>, %g: tensor<8192x1024xbf16>) -> tensor<64x1024xbf16> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8192x64xbf16>) -> tensor<64x8192xbf16>
  %1 = sinter.matmul %0, %g : (tensor<64x8192xbf16>, tensor<8192x1024xbf16>) -> tensor<64x1024xbf16>
  %2 = sinter.relu %1 : (tensor<64x1024xbf16>) -> tensor<64x1024xbf16>
  return %2 : tensor<64x1024xbf16>
}

// The gradient of a weight over a batch of any size: a launch says how long k
// is, and in how many parts it is summed.
// BATCH: .visible .entry [[K:contraction_[0-9a-f]+]](
// BATCH-DAG: wgmma.mma_async
// BATCH-DAG: st.global.v2.b32
// BATCH: .visible .entry [[K]]_phase1(
// BATCH: add.rn.f32
// BATCH: // tensor_map [[K]] bf16 0 2 0 64 1 64 1*s0 64 64
// BATCH: // tensor_map [[K]] bf16 1 2 0 1024 1 64 1*s0 1024 64
//--- batch.mlir
#x = affine_map<()[s0] -> (s0, 64)>
#t = affine_map<()[s0] -> (64, s0)>
#g = affine_map<()[s0] -> (s0, 1024)>
func.func @main(%x: tensor<?x64xbf16, #x>, %g: tensor<?x1024xbf16, #g>) -> tensor<64x1024xbf16> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x64xbf16, #x>) -> tensor<64x?xbf16, #t>
  %1 = sinter.matmul %0, %g : (tensor<64x?xbf16, #t>, tensor<?x1024xbf16, #g>) -> tensor<64x1024xbf16>
  return %1 : tensor<64x1024xbf16>
}

// Tiles enough for all multiprocessors: one launch, whose blocks store results.
// WIDE: wgmma.mma_async.sync.aligned.m64n256k16
// WIDE: stmatrix
// WIDE-NOT: _phase1
// WIDE: // tensor_map [[K:contraction_[0-9a-f]+]] bf16 0 2 0 4096 1 64 1*s0 4096 64
//--- wide.mlir
#x = affine_map<()[s0] -> (s0, 4096)>
#t = affine_map<()[s0] -> (4096, s0)>
func.func @main(%x: tensor<?x4096xbf16, #x>, %g: tensor<?x4096xbf16, #x>) -> tensor<4096x4096xbf16> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x4096xbf16, #x>) -> tensor<4096x?xbf16, #t>
  %1 = sinter.matmul %0, %g : (tensor<4096x?xbf16, #t>, tensor<?x4096xbf16, #x>) -> tensor<4096x4096xbf16>
  return %1 : tensor<4096x4096xbf16>
}

// A convolution of single pixels: axes of a view become one where they follow
// each other, as those of an image do, and those of one element anywhere.
// IMAGE: wgmma.mma_async
// IMAGE: // tensor_map {{.*}} bf16 0 2 0 128 1 64 12544 128 {{[0-9]+}}
// IMAGE: // tensor_map {{.*}} bf16 1 2 0 128 1 64 512 128 {{[0-9]+}}
//--- image.mlir
func.func @main(%x: tensor<16x28x28x128xbf16>, %w: tensor<512x128x1x1xbf16>) -> tensor<16x28x28x512xbf16> {
  %0 = sinter.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, layout = "channels_last", low = array<i64: 0, 0>, sizes = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<16x28x28x128xbf16>, tensor<512x128x1x1xbf16>) -> tensor<16x28x28x512xbf16>
  return %0 : tensor<16x28x28x512xbf16>
}

// Rows of a part of an image do not follow each other: they are copied before.
// PART: entry [[PART:contraction_[0-9a-f]+]](
// PART: entry [[PART]]_phase1(
// PART: // tensor_map [[PART]]_phase1 bf16 3 2 0 128 1 64 6272 128 {{[0-9]+}}
// PART: // tensor_map [[PART]]_phase1 bf16 1 2 0 512 1 64 128 512 64
//--- part.mlir
func.func @main(%x: tensor<16x28x28x128xbf16>, %w: tensor<128x512xbf16>) -> tensor<6272x512xbf16> {
  %0 = sinter.slice %x {limits = affine_map<() -> (16, 28, 18, 128)>, starts = array<i64: 0, 0, 4, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<16x28x28x128xbf16>) -> tensor<16x28x14x128xbf16>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (6272, 128)>} : (tensor<16x28x14x128xbf16>) -> tensor<6272x128xbf16>
  %2 = sinter.matmul %1, %w : (tensor<6272x128xbf16>, tensor<128x512xbf16>) -> tensor<6272x512xbf16>
  return %2 : tensor<6272x512xbf16>
}

// Rows of the left operand may be any number, and choose nothing.
//--- rows.mlir
func.func @main(%x: tensor<64x8192xbf16>, %w: tensor<8192x1024xbf16>) -> tensor<64x1024xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<64x8192xbf16>, tensor<8192x1024xbf16>) -> tensor<64x1024xbf16>
  return %0 : tensor<64x1024xbf16>
}

// Rows of 200 bytes do not start at multiples of 16.
//--- pitch.mlir
func.func @main(%x: tensor<128x512xbf16>, %w: tensor<512x100xbf16>) -> tensor<128x100xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<128x512xbf16>, tensor<512x100xbf16>) -> tensor<128x100xbf16>
  return %0 : tensor<128x100xbf16>
}
