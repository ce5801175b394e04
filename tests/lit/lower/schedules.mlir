// Each kernel's schedule is in the text after `fuse`; emitters obey what stands
// there, edited or not, and refuse what a kernel cannot have.
// RUN: split-file %s %t
// RUN: sinter inspect %t/kinds.mlir --stage fuse --target cuda:sm_90 | FileCheck %s --check-prefix=KINDS
// RUN: sinter inspect %t/kinds.mlir --stage fuse --target cpu | FileCheck %s --check-prefix=CPU
// RUN: sinter inspect %t/row.mlir --stage fuse --target cuda:sm_90 > %t/fused.mlir
// RUN: sinter inspect %t/fused.mlir --stage fuse --target cuda:sm_90 | diff - %t/fused.mlir
// RUN: sinter inspect %t/fused.mlir --stage lower --target cuda:sm_90 | FileCheck %s --check-prefix=GRID
// RUN: sinter inspect %t/row.mlir --stage lower --target cuda:sm_90 > %t/plain.low
// RUN: sinter inspect %t/fused.mlir --stage lower --target cuda:sm_90 | diff - %t/plain.low
// RUN: sed 's/owner = grid, split = 8192/owner = block/' %t/fused.mlir > %t/block.mlir
// RUN: sinter inspect %t/block.mlir --stage lower --target cuda:sm_90 | FileCheck %s --check-prefix=BLOCK
// RUN: sed 's/, owner = grid, split = 8192//' %t/fused.mlir > %t/warp.mlir
// RUN: sinter inspect %t/warp.mlir --stage lower --target cuda:sm_90 | FileCheck %s --check-prefix=WARP
// RUN: sed 's/owner = grid, split = 8192/owner = lane/' %t/fused.mlir > %t/lane.mlir
// RUN: not sinter inspect %t/lane.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=OWNER
// RUN: sed 's/skeleton = rows/skeleton = turn/' %t/fused.mlir > %t/turn.mlir
// RUN: not sinter inspect %t/turn.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=SKELETON
// RUN: sed 's/owner = grid, split = 8192/owner = block, staging = registers/' %t/fused.mlir > %t/staging.mlir
// RUN: not sinter inspect %t/staging.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=STAGING
// RUN: sed 's/split = 8192/split = 65536/' %t/fused.mlir > %t/long.mlir
// RUN: sinter inspect %t/long.mlir --stage lower --target cuda:sm_90 | FileCheck %s --check-prefix=LONG
// RUN: sed 's/split = 8192/split = 10000/' %t/fused.mlir > %t/odd.mlir
// RUN: not sinter inspect %t/odd.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: sed 's/split = 8192/split = -8192/' %t/fused.mlir > %t/negative.mlir
// RUN: not sinter inspect %t/negative.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: sinter inspect %t/weight.mlir --stage fuse --target cuda:sm_90 > %t/product.mlir
// RUN: sed 's/split = 256/split = -256/' %t/product.mlir > %t/less.mlir
// RUN: not sinter inspect %t/less.mlir --stage plan --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: sed 's/kind = "reduce"/kind = "reduce", prepared = array<i64: 0>, workspaces = affine_map<() -> (1)>/' %t/warp.mlir > %t/stray.mlir
// RUN: sinter inspect %t/stray.mlir --stage lower --target cuda:sm_90 | FileCheck %s --check-prefix=WARP
// RUN: sed 's/array<i64: 0>/array<i64: 1>/' %t/stray.mlir > %t/none.mlir
// RUN: not sinter inspect %t/none.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: sed 's/prepared = array<i64: 0>, //' %t/stray.mlir > %t/half.mlir
// RUN: not sinter inspect %t/half.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: sed 's/owner = grid/owner = block/' %t/fused.mlir > %t/whole.mlir
// RUN: not sinter inspect %t/whole.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: sinter inspect %t/product.mlir --stage plan --target cuda:sm_90 | FileCheck %s --check-prefix=PARTS
// RUN: sed 's/split = 256/split = 1024/' %t/product.mlir > %t/parts.mlir
// RUN: sinter inspect %t/parts.mlir --stage plan --target cuda:sm_90 | FileCheck %s --check-prefix=FEWER
// RUN: sed 's/tile = "[^"]*"/tile = "fma 64x32 thread 8x8 depth 32 slices 4"/' %t/product.mlir > %t/tile.mlir
// RUN: sinter inspect %t/tile.mlir --stage ptx --target cuda:sm_90 > %t/tile.ptx
// RUN: sinter inspect %t/product.mlir --stage ptx --target cuda:sm_90 | not diff -q - %t/tile.ptx
// RUN: sed 's/tile = "[^"]*"/tile = "fma 1x1"/' %t/product.mlir > %t/small.mlir
// RUN: not sinter inspect %t/small.mlir --stage plan --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not sinter inspect %t/parts.mlir --stage plan --target cuda:sm_90 --numerics exact 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: sed 's/owner = grid/owner = nobody/' %t/fused.mlir > %t/nobody.mlir
// RUN: not sinter inspect %t/nobody.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not sinter inspect %t/fused.mlir --stage lower --target cpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: sed '/launch\|func.func/s/tensor<4x1048576xf32>/tensor<3x1048576xf32>/g' %t/fused.mlir > %t/other.mlir
// RUN: not sinter inspect %t/other.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sinter inspect %t/row.mlir --stage target --target cuda:sm_90 | FileCheck %s --check-prefix=CHOICES
// RUN: sinter inspect %t/row.mlir --stage plan --target cuda:sm_90 > %t/planned.mlir
// RUN: not sinter inspect %t/planned.mlir --stage lower --target cuda:sm_90 2>&1 | FileCheck %s --check-prefix=PLANNED

// KINDS-DAG: kind = "map"{{.*}}#program.schedule<skeleton = turn>
// KINDS-DAG: kind = "rowwise"{{.*}}#program.schedule<skeleton = rows, owner = block, staging = registers>
// KINDS-DAG: kind = "reduce"{{.*}}#program.schedule<skeleton = columns, owner = block>
// KINDS-DAG: kind = "contraction"{{.*}}#program.schedule<skeleton = contraction, tile = "{{[^"]*}}">
// CPU-DAG: kind = "rowwise"{{.*}}#program.schedule<skeleton = rows>
// CPU-DAG: kind = "reduce"{{.*}}#program.schedule<skeleton = columns, owner = lane>

// Two phases, one of a block for each row, one of a warp.
// GRID-COUNT-2: func.func
// GRID-NOT: func.func
// BLOCK: func.func
// BLOCK-SAME: sinter.warps = 16
// BLOCK-NOT: func.func
// WARP: func.func
// WARP-NOT: sinter.warps

// Eight chunks of the order of sums are a task's, one after the other.
// LONG: %[[EIGHT:.*]] = arith.constant 8 : index
// LONG: arith.muli %{{.*}}, %[[EIGHT]]
// LONG-NOT: sinter.warps = 16
// ODD: error: {{.*}}cannot have a schedule of split = 10000; it would be 8192
// NEGATIVE: error: {{.*}}cannot have a schedule of split = -8192; it would be 8192
// LESS: error: {{.*}}cannot have a schedule of split = -256; it would be 256
// INPUT: error: {{.*}}has no input 1
// HALF: error: {{.*}}says of 0 of 1 workspaces what decides them
// WHOLE: error: {{.*}}cannot have a schedule of split = 8192; nothing of it is cut into parts
// Sums of 32 parts, and of 8, each of 64 x 96 numbers of 4 bytes.
// PARTS: [[BYTES:#.*]] = affine_map<() -> (786432)>
// PARTS: schedule = #program.schedule<skeleton = contraction, split = 256, tile = "fma 16x32 thread 4x4 depth 32 slices 2">, workspaces = [[BYTES]]
// PARTS: program.buffer @w0 "temp" 0 bytes [[BYTES]]
// PARTS: program.launch {{.*}}buffers = [@in0, @in1, @out0, @w0]
// FEWER: [[BYTES:#.*]] = affine_map<() -> (196608)>
// FEWER: split = 1024, tile = "fma 16x32 thread 4x4 depth 32 slices 2">, workspaces = [[BYTES]]
// SMALL: error: {{.*}}has no tile 'fma 1x1'; it is one of fma
// EXACT: error: {{.*}}cannot have a schedule of split = 1024; nothing of it is cut into parts

// OWNER: error: {{.*}}cannot have a schedule of owner = lane; it is one of rows by grid, rows by block, rows by warp
// SKELETON: error: {{.*}}cannot have a schedule of skeleton = turn; it is one of rows by grid
// STAGING: error: {{.*}}cannot have a schedule of staging = registers; it is one of rows by grid
// NOBODY: error: expected one of [lane, warp, block, grid] for a schedule's owner
// TARGET: error: the text has kernels for target cuda:sm_90, not for cpu
// OTHER: error: {{.*}}gives reduce_{{.*}} other tensors than it takes
// CHOICES: tile [[K:reduce_[0-9a-f]+]]=rows by grid
// CHOICES-NEXT: tile [[K]]=rows by block
// CHOICES-NEXT: tile [[K]]=rows by warp
// PLANNED: error: a text after `plan` is not read; one after `fuse` is

//--- row.mlir
func.func @main(%x: tensor<4x1048576xf32>) -> tensor<4xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x1048576xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- weight.mlir
func.func @main(%a: tensor<8192x64xf32>, %b: tensor<8192x96xf32>) -> tensor<64x96xf32> {
  %0 = sinter.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8192x64xf32>) -> tensor<64x8192xf32>
  %1 = sinter.matmul %0, %b : (tensor<64x8192xf32>, tensor<8192x96xf32>) -> tensor<64x96xf32>
  return %1 : tensor<64x96xf32>
}
//--- kinds.mlir
func.func @main(%a: tensor<1024x4096xf32>, %b: tensor<300x500xf32>, %c: tensor<500x256xf32>) -> (tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<4096xf32>, tensor<300x256xf32>) {
  %0 = sinter.transpose %a {permutation = array<i64: 1, 0>} : (tensor<1024x4096xf32>) -> tensor<4096x1024xf32>
  %1 = sinter.softmax %a {axis = 1 : i64} : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %2 = sinter.sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<1024x4096xf32>) -> tensor<4096xf32>
  %3 = sinter.matmul %b, %c : (tensor<300x500xf32>, tensor<500x256xf32>) -> tensor<300x256xf32>
  return %0, %1, %2, %3 : tensor<4096x1024xf32>, tensor<1024x4096xf32>, tensor<4096xf32>, tensor<300x256xf32>
}
