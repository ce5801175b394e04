// From loops to the LLVM dialect pass by pass (tests/lit/lower/passes.mlir has
// those of a processor).
// RUN: split-file %s %t
// RUN: sinter inspect %t/rows.mlir --stage fuse --target cuda:sm_80 > %t/rows.fused
// RUN: sinter opt %t/rows.fused --pipeline=emit-loops,expand-math > %t/rows.loops
// RUN: FileCheck %t/rows.mlir --check-prefix=LOOPS < %t/rows.loops
// RUN: sinter opt %t/rows.loops --pipeline=distribute-lanes | FileCheck %t/rows.mlir
// RUN: sinter opt %t/rows.loops --pipeline=cluster-loads,distribute-lanes,narrow-math,call-far-trig,lower-abi | FileCheck %t/rows.mlir --check-prefix=LLVM

// RUN: sinter inspect %t/loads.mlir --stage fuse --target cuda:sm_90 > %t/loads.fused
// RUN: sinter opt %t/loads.fused --pipeline=emit-loops | FileCheck %t/loads.mlir --check-prefix=APART
// RUN: sinter opt %t/loads.fused --pipeline=emit-loops,cluster-loads | FileCheck %t/loads.mlir --check-prefix=TOGETHER
// RUN: sinter opt %t/loads.fused --pipeline=emit-loops,expand-math,cluster-loads,distribute-lanes > %t/loads.lanes
// RUN: FileCheck %t/loads.mlir --check-prefix=LANES < %t/loads.lanes
// RUN: sinter opt %t/loads.lanes --pipeline=narrow-math | FileCheck %t/loads.mlir --check-prefix=NARROW

// RUN: sinter inspect %t/tiles.mlir --stage fuse --target cuda:sm_90 > %t/tiles.fused
// RUN: sinter opt %t/tiles.fused --pipeline=emit-loops > %t/tiles.loops
// RUN: FileCheck %t/tiles.mlir < %t/tiles.loops
// RUN: sinter opt %t/tiles.loops --pipeline=expand-math,cluster-loads,distribute-lanes,narrow-math,call-far-trig,lower-abi | FileCheck %t/tiles.mlir --check-prefix=LLVM

// RUN: sinter inspect %t/given.mlir --stage fuse --target cuda:sm_90 > %t/given.fused
// RUN: sinter opt %t/given.fused --pipeline=emit-loops | FileCheck %t/given.mlir
// RUN: sinter opt %t/given.fused --pipeline=emit-loops,expand-math,cluster-loads,distribute-lanes,narrow-math,call-far-trig,lower-abi | FileCheck %t/given.mlir

// Values that two passes over a row need stand in the frame of a warp, which
// is memory of its block then.
//--- rows.mlir
// LOOPS: func.func @rowwise_{{.*}}sinter.elements
// LOOPS: memref.alloca
// CHECK: llvm.mlir.global internal @[[FRAME:rowwise_[0-9a-f]+_frame]]() {addr_space = 3
// CHECK: func.func @rowwise_{{.*}}sinter.warps = 8
// CHECK-NOT: memref.alloca
// CHECK: llvm.mlir.addressof @[[FRAME]]
// CHECK: vector<2xf32>
// CHECK: "llvm.nvvm.shfl.sync.idx.i32"
// LLVM: llvm.func @rowwise_{{.*}}sinter.warps = 8
// LLVM-NOT: sinter.elements
// LLVM-NOT: scf.
func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}

// Lanes of a vector are neighbours in each thread.
//--- loads.mlir
// APART: scf.for
// APART: scf.for
// APART-NEXT: vector.load {{.*}}vector<256xi16>
// APART-NEXT: arith.bitcast
// APART-NEXT: vector.load
// TOGETHER: scf.for
// TOGETHER: scf.for
// TOGETHER-NEXT: vector.load {{.*}}vector<256xi16>
// TOGETHER-NEXT: vector.load
// TOGETHER-NEXT: arith.addi
// TOGETHER-NEXT: vector.load
// LANES: func.func @map_{{.*}}sinter.warps = 8
// LANES-NOT: vector<{{[0-9][0-9]}}
// LANES: vector.load {{.*}}vector<8xi16>
// LANES-NOT: vector<{{[0-9][0-9]}}
// NARROW: arith.maximumf {{.*}}xbf16>
// NARROW: arith.minsi {{.*}}xi16>
func.func @main(%x: tensor<1024x512xbf16>, %y: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = sinter.add %x, %y : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  %1 = sinter.relu %0 : (tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %1 : tensor<1024x512xbf16>
}

// A kernel of tensor cores says so: its blocks, and the tensor maps in its text.
//--- tiles.mlir
// CHECK: func.func @contraction_
// CHECK-SAME: sinter.blocks = 1
// CHECK-SAME: sinter.lines = "
// CHECK-SAME: sinter.warps = {{[0-9]+}}
// CHECK: llvm.inline_asm {{.*}}wgmma
// LLVM: llvm.func @contraction_
// LLVM-SAME: sinter.lines = "
// LLVM: llvm.inline_asm {{.*}}wgmma
func.func @main(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// The code of a user's kernel is as it is.
//--- given.mlir
// CHECK: module @[[K:opaque_[0-9a-f]+]] attributes {program.target = #program.target<name = "cuda:sm_90"
// CHECK-NEXT: func.func private @[[K]]() attributes {sinter.given = "__global__ void f"}
// CHECK-NEXT: }
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "__global__ void f", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
