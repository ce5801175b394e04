// A block multiplies f32 by multiply-add: its threads bring panels of both
// operands to one of two stages in shared memory, however they lie, and read
// their rows and columns of the tile as vectors. Operands may be computed.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/large.mlir --stage ptx --target cuda:sm_80 > %t/large.ptx
// RUN: FileCheck %s --check-prefix=LARGE < %t/large.ptx
// RUN: %ptxas -arch=sm_80 -v %t/large.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/large.mlir --stage ptx --target cuda:sm_80 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=LARGE
// RUN: sinter inspect %t/linear.mlir --stage ptx --target cuda:sm_90 > %t/linear.ptx
// RUN: FileCheck %s --check-prefix=LINEAR < %t/linear.ptx
// RUN: %ptxas -arch=sm_90 -v %t/linear.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/gradient.mlir --stage ptx --target cuda:sm_90 > %t/gradient.ptx
// RUN: FileCheck %s --check-prefix=GRADIENT < %t/gradient.ptx
// RUN: %ptxas -arch=sm_90 -v %t/gradient.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/gradient.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=EXACT
// RUN: sinter inspect %t/windows.mlir --stage ptx --target cuda:sm_90 > %t/windows.ptx
// RUN: FileCheck %s --check-prefix=WINDOWS < %t/windows.ptx
// RUN: %ptxas -arch=sm_90 -v %t/windows.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/odd.mlir --stage ptx --target cuda:sm_90 > %t/odd.ptx
// RUN: FileCheck %s --check-prefix=ODD < %t/odd.ptx
// RUN: %ptxas -arch=sm_90 -v %t/odd.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/symbolic.mlir --stage ptx --target cuda:sm_90 > %t/symbolic.ptx
// RUN: FileCheck %s --check-prefix=SYMBOLIC < %t/symbolic.ptx
// RUN: %ptxas -arch=sm_90 -v %t/symbolic.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/padded.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PADDED
// RUN: sinter inspect %t/joined.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PADDED
// RUN: sinter inspect %t/few.mlir --stage ptx --target cuda:sm_90 > %t/few.ptx
// RUN: FileCheck %s --check-prefix=FEW < %t/few.ptx
// RUN: %ptxas -arch=sm_90 -v %t/few.ptx -o %t/out 2>&1 | FileCheck %s
// RUN: sinter inspect %t/few.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=ORDERED
// RUN: sinter inspect %t/sums.mlir --stage fuse --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SUMS

// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// Nothing of Hopper's alone; one wait for all in a round.
// LARGE: .target sm_80
// LARGE-NOT: .local
// LARGE: .reqntid 256, 1, 1
// LARGE: .minnctapersm 2
// LARGE: ld.global.v4.b32
// LARGE: bar.sync 0;
// LARGE: ld.shared.v4.b32
// LARGE-COUNT-512: fma.rn.f32
// LARGE-NOT: fma.rn.f32
// LARGE: bar.sync 0;
// LARGE-NOT: bar.sync
// LARGE: st.global.v4.b32
//--- large.mlir
func.func @main(%x: tensor<4096x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = sinter.matmul %x, %w : (tensor<4096x1024xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// Both operands lie along k: what is read is turned on its way.
// LINEAR: .target sm_90
// LINEAR: ld.global.v4.b32
// LINEAR: st.shared.b32
// LINEAR: fma.rn.f32
// LINEAR: max.
// LINEAR: st.global.v4.b32
//--- linear.mlir
func.func @main(%x: tensor<256x784xf32>, %w: tensor<1024x784xf32>, %b: tensor<1024xf32>) -> tensor<256x1024xf32> {
  %0 = sinter.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x784xf32>) -> tensor<784x1024xf32>
  %1 = sinter.matmul %x, %0 : (tensor<256x784xf32>, tensor<784x1024xf32>) -> tensor<256x1024xf32>
  %2 = sinter.broadcast %b {shape = affine_map<() -> (256, 1024)>} : (tensor<1024xf32>) -> tensor<256x1024xf32>
  %3 = sinter.add %1, %2 : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %4 = sinter.relu %3 : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  return %4 : tensor<256x1024xf32>
}

// The gradient of a weight: parts of k, added by a second phase; one part where
// sums take k in order.
// GRADIENT: .visible .entry contraction_
// GRADIENT: fma.rn.f32
// GRADIENT: .visible .entry contraction_{{.*}}_phase1
// EXACT: .visible .entry contraction_
// EXACT-NOT: _phase1
//--- gradient.mlir
func.func @main(%x: tensor<2048x256xf32>, %g: tensor<2048x192xf32>) -> tensor<256x192xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2048x256xf32>) -> tensor<256x2048xf32>
  %1 = sinter.matmul %0, %g : (tensor<256x2048xf32>, tensor<2048x192xf32>) -> tensor<256x192xf32>
  return %1 : tensor<256x192xf32>
}

// Windows of an image, eight channels side by side.
// WINDOWS: .visible .entry contraction_
// WINDOWS: ld.global.v4.b32
// WINDOWS: fma.rn.f32
//--- windows.mlir
func.func @main(%x: tensor<64x26x26x8xf32>, %w: tensor<72x16xf32>) -> tensor<36864x16xf32> {
  %0 = sinter.window %x {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>} : (tensor<64x26x26x8xf32>) -> tensor<64x24x24x8x3x3xf32>
  %1 = sinter.transpose %0 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : (tensor<64x24x24x8x3x3xf32>) -> tensor<64x24x24x3x3x8xf32>
  %2 = sinter.reshape %1 {shape = affine_map<() -> (36864, 72)>} : (tensor<64x24x24x3x3x8xf32>) -> tensor<36864x72xf32>
  %3 = sinter.matmul %2, %w : (tensor<36864x72xf32>, tensor<72x16xf32>) -> tensor<36864x16xf32>
  return %3 : tensor<36864x16xf32>
}

// Nothing comes out even: elements are read and stored one by one.
// ODD: .visible .entry contraction_
// ODD-NOT: .v4.b32{{.*}}global
// ODD: fma.rn.f32
// ODD: st.global.b32
//--- odd.mlir
func.func @main(%x: tensor<3x129x37xf32>, %w: tensor<3x37x65xf32>) -> tensor<3x129x65xf32> {
  %0 = sinter.matmul %x, %w : (tensor<3x129x37xf32>, tensor<3x37x65xf32>) -> tensor<3x129x65xf32>
  return %0 : tensor<3x129x65xf32>
}

// k is known at run time only, and may be nothing.
// SYMBOLIC: .visible .entry contraction_
// SYMBOLIC: fma.rn.f32
// SYMBOLIC: .visible .entry contraction_{{.*}}_phase1
//--- symbolic.mlir
#rows = affine_map<()[s0] -> (s0, 128)>
#turned = affine_map<()[s0] -> (128, s0)>
func.func @main(%x: tensor<?x128xf32, #rows>, %g: tensor<?x128xf32, #rows>) -> tensor<128x128xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x128xf32, #rows>) -> tensor<128x?xf32, #turned>
  %1 = sinter.matmul %0, %g : (tensor<128x?xf32, #turned>, tensor<?x128xf32, #rows>) -> tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}

// No reduction joins a product's kernel there.
// SUMS-DAG: rejected column_statistics: {{.*}}threads share the tiles
// SUMS-DAG: rejected row_statistics: {{.*}}threads share the tiles
//--- sums.mlir
func.func @main(%x: tensor<2048x256xf32>, %w: tensor<256x512xf32>) -> (tensor<2048x512xf32>, tensor<512xf32>, tensor<2048xf32>) {
  %0 = sinter.matmul %x, %w : (tensor<2048x256xf32>, tensor<256x512xf32>) -> tensor<2048x512xf32>
  %1 = sinter.sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<2048x512xf32>) -> tensor<512xf32>
  %2 = sinter.exp %0 : (tensor<2048x512xf32>) -> tensor<2048x512xf32>
  %3 = sinter.sum %2 {axes = array<i64: 1>, keepdims = false} : (tensor<2048x512xf32>) -> tensor<2048xf32>
  return %0, %1, %3 : tensor<2048x512xf32>, tensor<512xf32>, tensor<2048xf32>
}
//--- padded.mlir
// Rows of six of which four are there: they are read by twos, of which the
// third has nothing.
// PADDED: st.shared.v2.b32
// PADDED-NOT: st.shared.v4.b32
// PADDED: bar.sync
func.func @main(%x: tensor<7x4x4xf32>, %w: tensor<2x4xf32>) -> tensor<7x2x6xf32> {
  %0 = sinter.pad %x {low = array<i64: 0, 0, 0>, shape = affine_map<() -> (7, 4, 6)>, interior = array<i64: 0, 0, 0>, value = 0 : i64} : (tensor<7x4x4xf32>) -> tensor<7x4x6xf32>
  %1 = sinter.broadcast %w {shape = affine_map<() -> (7, 2, 4)>} : (tensor<2x4xf32>) -> tensor<7x2x4xf32>
  %2 = sinter.matmul %1, %0 : (tensor<7x2x4xf32>, tensor<7x4x6xf32>) -> tensor<7x2x6xf32>
  return %2 : tensor<7x2x6xf32>
}
//--- joined.mlir
// The same rows, joined to one of 24: they consist of twos still.
func.func @main(%x: tensor<4x4x4xf32>, %w: tensor<2x4xf32>) -> tensor<2x24xf32> {
  %0 = sinter.pad %x {low = array<i64: 0, 0, 0>, shape = affine_map<() -> (4, 4, 6)>, interior = array<i64: 0, 0, 0>, value = 0 : i64} : (tensor<4x4x4xf32>) -> tensor<4x4x6xf32>
  %1 = sinter.reshape %0 {shape = affine_map<() -> (4, 24)>} : (tensor<4x4x6xf32>) -> tensor<4x24xf32>
  %2 = sinter.matmul %w, %1 : (tensor<2x4xf32>, tensor<4x24xf32>) -> tensor<2x24xf32>
  return %2 : tensor<2x24xf32>
}

// Few tiles: four warps of a block each sum every fourth group of four of k for
// the whole tile, and finish a row of each thread's, the sums of all four in
// order. In exact numerics a sum takes its products in order.
// FEW: .reqntid 128, 1, 1
// FEW-COUNT-256: fma.rn.f32
// FEW-NOT: fma.rn.f32
// FEW: bar.sync 0;
// FEW-COUNT-4: st.shared.v4.b32
// FEW-NOT: st.shared
// FEW: bar.sync 0;
// FEW-COUNT-4: ld.shared.v4.b32
// FEW-NOT: ld.shared
// FEW: add.rn.f32
// FEW: st.global.v4.b32
// ORDERED: bar.sync 0;
// ORDERED: fma.rn.f32
// ORDERED: bar.sync 0;
// ORDERED-NOT: st.shared
//--- few.mlir
func.func @main(%x: tensor<64x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<64x512xf32> {
  %0 = sinter.matmul %x, %w : (tensor<64x1024xf32>, tensor<1024x512xf32>) -> tensor<64x512xf32>
  return %0 : tensor<64x512xf32>
}
