// A long row is worked on by a block of threads: it is read once, before
// anything is computed, and stays in registers. Where bits matter, sums pass
// through the memory of the block, where two warps sum the 64 lanes of the
// canonical order; else each thread sums what it has.
// RUN: split-file %s %t
// RUN: sinter inspect %t/softmax.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SOFTMAX
// RUN: sinter inspect %t/softmax.mlir --stage ptx --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=SOFTMAX
// RUN: sinter inspect %t/softmax.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=EXACT
// RUN: sinter inspect %t/norm.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=NORM
// RUN: sinter inspect %t/columns.mlir --stage plan --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=PLAN
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=COLUMNS
// RUN: sed 's/xf32/xbf16/g' %t/columns.mlir > %t/halves.mlir
// RUN: sinter inspect %t/halves.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=HALVES
// RUN: sinter inspect %t/few.mlir --stage plan --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=FEW
// RUN: sinter inspect %t/columns.mlir --stage plan --target cpu \
// RUN:   | FileCheck %s --check-prefix=FEW

// SOFTMAX: .reqntid 256, 1, 1
// SOFTMAX-COUNT-4: ld.global.v4.b32
// SOFTMAX-NOT: ld.global
// SOFTMAX: max.NaN.f32
// SOFTMAX-COUNT-5: shfl.sync.bfly.b32
// SOFTMAX: bar.sync
// SOFTMAX-NOT: st.shared.v4
// SOFTMAX: add.rn.f32
// SOFTMAX-COUNT-5: shfl.sync.bfly.b32
// SOFTMAX: bar.sync
// SOFTMAX-NOT: bar.sync
// SOFTMAX-COUNT-4: st.global.v4.b32

// EXACT: max.NaN.f32
// EXACT-COUNT-5: shfl.sync.bfly.b32
// EXACT: bar.sync
// EXACT-COUNT-4: st.shared.v4.b32
// EXACT: bar.sync
// EXACT: ld.shared.b32
// EXACT: add.rn.f32
// EXACT: bar.sync
// EXACT-COUNT-5: shfl.sync.bfly.b32
// EXACT-COUNT-4: st.global.v4.b32

//--- softmax.mlir
func.func @main(%x: tensor<256x4096xf32>) -> tensor<256x4096xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<256x4096xf32>) -> tensor<256x4096xf32>
  return %0 : tensor<256x4096xf32>
}

// Products that need not be rounded are summed by multiply-add as elsewhere.
// NORM: .reqntid 160, 1, 1
// NORM-COUNT-4: ld.global.v4.b16
// NORM: add.rn.f32
// NORM: bar.sync
// NORM: fma.rn.f32
// NORM: bar.sync
// NORM-NOT: bar.sync
// NORM: st.global.v2.b32

//--- norm.mlir
#rows = affine_map<()[s0] -> (s0, 2560)>
func.func @main(%x: tensor<?x2560xbf16, #rows>, %w: tensor<2560xf32>, %b: tensor<2560xf32>) -> tensor<?x2560xbf16, #rows> {
  %wide = sinter.cast %x {dtype = f32} : (tensor<?x2560xbf16, #rows>) -> tensor<?x2560xf32, #rows>
  %0 = sinter.layer_norm %wide, %w, %b {eps = 1.0e-5 : f64} : (tensor<?x2560xf32, #rows>, tensor<2560xf32>, tensor<2560xf32>) -> tensor<?x2560xf32, #rows>
  %1 = sinter.cast %0 {dtype = bf16} : (tensor<?x2560xf32, #rows>) -> tensor<?x2560xbf16, #rows>
  return %1 : tensor<?x2560xbf16, #rows>
}

// Sums of columns join the kernel of the rows where rows are many: a block takes
// 64 of them, and adds up columns in registers. A second phase adds the blocks.
// PLAN: program.kernel @rowwise
// PLAN: program.yield %{{.*}}, %{{.*}}, %{{.*}} :
// PLAN-COUNT-1: program.launch
// PLAN-NOT: program.launch
// PLAN: accepted shares_input: sum beside sum: rowwise

// Elements of two bytes are read by eights, and those of the next row are on
// their way in registers while a row is worked on; wider ones are only brought
// near.
// HALVES: .entry [[KERNEL:rowwise_[0-9a-f]+]](
// HALVES-COUNT-4: ld.global.v4.b32
// HALVES: {{^}}$L__BB
// HALVES-NOT: prefetch.L2
// HALVES-COUNT-4: ld.global.v4.b32
// HALVES-NOT: prefetch.L2
// HALVES: .entry [[KERNEL]]_phase1(

// COLUMNS: .entry [[KERNEL:rowwise_[0-9a-f]+]](
// COLUMNS-COUNT-8: ld.global.v4.b32
// COLUMNS-NOT: ld.global
// COLUMNS-COUNT-8: prefetch.L2
// COLUMNS: bar.sync
// COLUMNS: .entry [[KERNEL]]_phase1(
// COLUMNS-COUNT-64: ld.global.b32
// COLUMNS: bar.sync
// COLUMNS: ld.shared.b32

//--- columns.mlir
func.func @main(%x: tensor<16384x4096xf32>, %g: tensor<16384x4096xf32>) -> (tensor<16384x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %sum = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<16384x4096xf32>) -> tensor<16384x1xf32>
  %sums = sinter.broadcast %sum {shape = affine_map<() -> (16384, 4096)>} : (tensor<16384x1xf32>) -> tensor<16384x4096xf32>
  %rest = sinter.sub %x, %sums : (tensor<16384x4096xf32>, tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %y = sinter.add %rest, %g : (tensor<16384x4096xf32>, tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %product = sinter.mul %rest, %g : (tensor<16384x4096xf32>, tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
  %scale = sinter.sum %product {axes = array<i64: 0>, keepdims = false} : (tensor<16384x4096xf32>) -> tensor<4096xf32>
  %shift = sinter.sum %g {axes = array<i64: 0>, keepdims = false} : (tensor<16384x4096xf32>) -> tensor<4096xf32>
  return %y, %scale, %shift : tensor<16384x4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}

// Weights are widened where they are read, not by a kernel of their own.
// RUN: sinter inspect %t/weights.mlir --stage plan --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: program.kernel @rowwise
// WEIGHTS-COUNT-1: program.launch
// WEIGHTS-NOT: program.launch

//--- weights.mlir
func.func @main(%x: tensor<16384x4096xbf16>, %w: tensor<4096xbf16>, %b: tensor<4096xbf16>) -> tensor<16384x4096xbf16> {
  %0 = sinter.layer_norm %x, %w, %b {eps = 1.0e-5 : f64} : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %0 : tensor<16384x4096xbf16>
}

// Few rows are a block each, and their columns a kernel of their own.
// FEW: program.kernel @rowwise
// FEW: program.kernel @reduce
// FEW-COUNT-2: program.launch
// FEW-NOT: program.launch

//--- few.mlir
func.func @main(%x: tensor<512x4096xf32>) -> (tensor<512x4096xf32>, tensor<4096xf32>) {
  %y = sinter.softmax %x {axis = 1 : i64} : (tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %sum = sinter.sum %y {axes = array<i64: 0>, keepdims = false} : (tensor<512x4096xf32>) -> tensor<4096xf32>
  return %y, %sum : tensor<512x4096xf32>, tensor<4096xf32>
}
