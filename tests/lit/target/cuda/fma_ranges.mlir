// A product of f32 whose sizes a launch finds has a phase for each number of
// slices of k that it may need, and a tile for these; all phases but one have no
// chunks then. Sums that take k in order have a single phase, and so have sizes
// for which a single tile is the best of all.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/rows.mlir --stage ptx --target cuda:sm_80 > %t/rows.ptx
// RUN: FileCheck %s --check-prefix=ROWS < %t/rows.ptx
// RUN: %ptxas -arch=sm_80 -v %t/rows.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/rows.mlir --stage ptx --target cuda:sm_80 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=ONE
// RUN: sinter inspect %t/short.mlir --stage ptx --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter inspect %t/rows.mlir --stage target --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=TILES
// RUN: sinter inspect %t/short.mlir --stage target --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=TILE

// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// Four slices, two, eight, and one, as rows grow.
// ROWS: .visible .entry [[KERNEL:contraction_[0-9a-f]+]](
// ROWS: .reqntid 256, 1, 1
// ROWS-COUNT-3: bar.sync
// ROWS: .visible .entry [[KERNEL]]_phase1(
// ROWS-COUNT-3: bar.sync
// ROWS: .visible .entry [[KERNEL]]_phase2(
// ROWS: .reqntid 256, 1, 1
// ROWS-COUNT-3: bar.sync
// ROWS: .visible .entry [[KERNEL]]_phase3(
// ROWS-COUNT-2: bar.sync
// ROWS-NOT: bar.sync
// ROWS-NOT: .entry
// ONE: .visible .entry
// ONE-NOT: .entry
// The tiles of each, in turn.
// TILES: 4 phases
// TILES-NEXT: tile {{.*}} slices 4
// TILES-NEXT: tile {{.*}} slices 2
// TILES-NEXT: tile {{.*}} slices 8
// TILES-NEXT: tile {{.*}} depth 8{{$}}
// TILE: 1 phases
// TILE: tile contraction_
//--- rows.mlir
#x = affine_map<()[s0] -> (s0, 1024)>
#y = affine_map<()[s0] -> (s0, 512)>
func.func @main(%x: tensor<?x1024xf32, #x>, %w: tensor<1024x512xf32>) -> tensor<?x512xf32, #y> {
  %0 = sinter.matmul %x, %w : (tensor<?x1024xf32, #x>, tensor<1024x512xf32>) -> tensor<?x512xf32, #y>
  return %0 : tensor<?x512xf32, #y>
}
//--- short.mlir
#x = affine_map<()[s0] -> (s0, 8)>
#y = affine_map<()[s0] -> (s0, 512)>
func.func @main(%x: tensor<?x8xf32, #x>, %w: tensor<8x512xf32>) -> tensor<?x512xf32, #y> {
  %0 = sinter.matmul %x, %w : (tensor<?x8xf32, #x>, tensor<8x512xf32>) -> tensor<?x512xf32, #y>
  return %0 : tensor<?x512xf32, #y>
}
