// Sums of columns by blocks of threads, each thread with a column.
// RUN: split-file %s %t
// RUN: sinter compile %t/few.mlir --target cuda:sm_90 -o %t/few.sinter
// RUN: sinter inspect %t/few.sinter | FileCheck %s --check-prefix=PHASES
// RUN: sinter inspect %t/few.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=FEW
// RUN: sinter compile %t/narrow.mlir --target cuda:sm_90 -o %t/narrow.sinter
// RUN: sinter inspect %t/narrow.sinter | FileCheck %s --check-prefix=PARTS
// RUN: sinter inspect %t/narrow.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=NARROW

// Of few rows a warp reads 64, all on their way at once. What is made of the
// sum is stored, and what has its shape and is made of something else: all of
// it is known before.
// PHASES: phase reduce_{{[0-9a-f]+}}: 48 chunks
// FEW: .reqntid 96, 1, 1
// FEW-COUNT-64: ld.global.b32
// FEW: st.shared.b32
// FEW: bar.sync
// FEW: bar.sync
// FEW: ld.global.b32
// FEW: st.global.b32
// FEW-NOT: ld.global
// FEW: st.global.b32

//--- few.mlir
func.func @main(%x: tensor<192x512xf32>, %w: tensor<512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %sum = sinter.sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<192x512xf32>) -> tensor<512xf32>
  %other = sinter.exp %w : (tensor<512xf32>) -> tensor<512xf32>
  %next = sinter.sub %other, %sum : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
  return %next, %other : tensor<512xf32>, tensor<512xf32>
}

// Of many rows of few columns, blocks of 64 rows are summed by a warp each, and
// merged by one block, four chunks of them at a time.
// PARTS: phase [[KERNEL:reduce_[0-9a-f]+]]: 676 chunks
// PARTS: phase [[KERNEL]]_phase1: 8 chunks
// NARROW: _phase1(
// NARROW: .reqntid 256, 1, 1
// NARROW-COUNT-64: ld.global.b32
// NARROW: bar.sync

//--- narrow.mlir
func.func @main(%x: tensor<43264x8xf32>) -> tensor<8xf32> {
  %sum = sinter.sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<43264x8xf32>) -> tensor<8xf32>
  return %sum : tensor<8xf32>
}
