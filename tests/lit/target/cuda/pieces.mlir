// On Hopper warpgroups multiply large matrices of f32 in three pieces of bf16
// for each element: a phase before writes them, a stage has six products of
// pieces, the least first, and adds their sums to those of other stages. What
// is not finite is summed once more by multiply-add.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_90 > %t/linear.ptx
// RUN: FileCheck %s --check-prefix=LINEAR < %t/linear.ptx
// RUN: FileCheck %s --check-prefix=STAGE < %t/linear.ptx
// RUN: %ptxas -arch=sm_90a -v %t/linear.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/gradient.mlir --stage ptx --target cuda:sm_90 > %t/gradient.ptx
// RUN: FileCheck %s --check-prefix=GRADIENT < %t/gradient.ptx
// RUN: %ptxas -arch=sm_90a -v %t/gradient.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/batches.mlir --stage ptx --target cuda:sm_90 > %t/batches.ptx
// RUN: FileCheck %s --check-prefix=BATCHES < %t/batches.ptx
// RUN: %ptxas -arch=sm_90a -v %t/batches.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/any.mlir --stage ptx --target cuda:sm_90 > %t/any.ptx
// RUN: FileCheck %s --check-prefix=ANY < %t/any.ptx
// RUN: %ptxas -arch=sm_90a -v %t/any.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics fast > %t/fast.ptx
// RUN: FileCheck %s --check-prefix=FAST < %t/fast.ptx
// RUN: %ptxas -arch=sm_90a -v %t/fast.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/small.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=NONE

// CHECK-NOT: C75
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: C75

// NONE-NOT: wgmma

// LINEAR: cvt.rn.bf16x2.f32
// LINEAR: .reqntid 384, 1, 1
// LINEAR-NOT: .local
// LINEAR: fma.rn.f32
// LINEAR: // tensor_map [[K:contraction_[0-9a-f]+]]{{.*}} bf16 4 3 0 2048 1 64 4096 2048 128 3 8388608 1
// LINEAR: // tensor_map [[K]]{{.*}} bf16 5 3 0 4096 1 64 2048 4096 64 3 8388608 1

// Six products of four steps; the first has no sums before.
// STAGE: wgmma.fence
// STAGE-SAME: k16.f32.bf16.bf16 {{[^;]*}} b, p, 1, 1, 0, 1;
// STAGE-COUNT-23: k16.f32.bf16.bf16 {{[^;]*}} b, 1, 1, 1, 0, 1;
// STAGE: wgmma.commit_group

// Where products may be approximate there are two pieces, and three products.
// FAST: cvt.rn.bf16x2.f32
// FAST: wgmma.fence
// FAST-SAME: k16.f32.bf16.bf16 {{[^;]*}} b, p, 1, 1, 0, 1;
// FAST-COUNT-11: k16.f32.bf16.bf16 {{[^;]*}} b, 1, 1, 1, 0, 1;
// FAST-NOT: k16.f32
// FAST: wgmma.commit_group
// FAST: // tensor_map {{.*}} bf16 4 3 0 2048 1 64 4096 2048 128 2 8388608 1

//--- linear.mlir
func.func @main(%x: tensor<4096x2048xf32>, %w: tensor<2048x4096xf32>, %b: tensor<4096xf32>) -> tensor<4096x4096xf32> {
  %0 = sinter.matmul %x, %w : (tensor<4096x2048xf32>, tensor<2048x4096xf32>) -> tensor<4096x4096xf32>
  %1 = sinter.broadcast %b {shape = affine_map<() -> (4096, 4096)>} : (tensor<4096xf32>) -> tensor<4096x4096xf32>
  %2 = sinter.add %0, %1 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %3 = sinter.relu %2 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %3 : tensor<4096x4096xf32>
}

// Parts of a k that counts rows hold whole pairs of stages.
// GRADIENT: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}} 1, 1, 1, 1;
//--- gradient.mlir
func.func @main(%x: tensor<20000x512xf32>, %g: tensor<20000x512xf32>) -> tensor<512x512xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<20000x512xf32>) -> tensor<512x20000xf32>
  %1 = sinter.matmul %0, %g : (tensor<512x20000xf32>, tensor<20000x512xf32>) -> tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// BATCHES: // tensor_map {{.*}} bf16 {{[0-9]+}} 4 0 512 1 64 1024 512 128 12 524288 1 3 6291456 1
//--- batches.mlir
func.func @main(%x: tensor<12x1024x512xf32>, %w: tensor<12x1024x512xf32>) -> tensor<12x1024x1024xf32> {
  %0 = sinter.transpose %w {permutation = array<i64: 0, 2, 1>} : (tensor<12x1024x512xf32>) -> tensor<12x512x1024xf32>
  %1 = sinter.matmul %x, %0 : (tensor<12x1024x512xf32>, tensor<12x512x1024xf32>) -> tensor<12x1024x1024xf32>
  return %1 : tensor<12x1024x1024xf32>
}

// Of a number of rows that a launch finds, few are multiplied by multiply-add:
// there are phases for both, of which a launch has those of its sizes.
// ANY: cvt.rn.bf16x2.f32
// ANY: wgmma.fence
// ANY: .visible .entry [[K:contraction_[0-9a-f]+]]_phase3(
// ANY-NOT: wgmma
// ANY: fma.rn.f32
//--- any.mlir
#x = affine_map<()[s0] -> (s0, 1024)>
#y = affine_map<()[s0] -> (s0, 512)>
func.func @main(%x: tensor<?x1024xf32, #x>, %w: tensor<1024x512xf32>) -> tensor<?x512xf32, #y> {
  %0 = sinter.matmul %x, %w : (tensor<?x1024xf32, #x>, tensor<1024x512xf32>) -> tensor<?x512xf32, #y>
  return %0 : tensor<?x512xf32, #y>
}

// Copies would take longer than the product.
//--- small.mlir
func.func @main(%x: tensor<256x512xf32>, %w: tensor<512x512xf32>) -> tensor<256x512xf32> {
  %0 = sinter.matmul %x, %w : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
  return %0 : tensor<256x512xf32>
}
