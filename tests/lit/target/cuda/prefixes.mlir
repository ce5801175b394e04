// A few long lines have many owners: totals of chunks, what comes before each,
// then the chunks. Lanes are along a row, in registers; short rows, and many
// columns, need one phase.
// RUN: split-file %s %t
// RUN: sinter inspect %t/row.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ROW
// RUN: sinter inspect %t/columns.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=COLUMNS
// RUN: sinter inspect %t/short.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: sinter inspect %t/wide.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ONE

// ROW: .visible .entry prefix_
// ROW: ld.global.v2.b32
// ROW: shfl.sync
// ROW: .visible .entry prefix_{{.*}}_phase1
// ROW: .visible .entry prefix_{{.*}}_phase2
// ROW: shfl.sync
// ROW: st.global.v2.b32
// ROW-NOT: .visible

// COLUMNS: .visible .entry prefix_
// COLUMNS-NOT: shfl.sync
// COLUMNS: ld.global.v4.b32
// COLUMNS: .visible .entry prefix_{{.*}}_phase1
// COLUMNS: .visible .entry prefix_{{.*}}_phase2
// COLUMNS-NOT: shfl.sync
// COLUMNS: st.global.v4.b32
// COLUMNS-NOT: .visible

// ONE: .visible .entry prefix_
// ONE-NOT: .visible
//--- row.mlir
func.func @main(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %0 = sinter.cumsum %x {axis = 0 : i64, reverse = false} : (tensor<16777216xf32>) -> tensor<16777216xf32>
  return %0 : tensor<16777216xf32>
}
//--- columns.mlir
func.func @main(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = sinter.cummax %x {axis = 0 : i64, reverse = true} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
//--- short.mlir
func.func @main(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = sinter.cumsum %x {axis = 1 : i64, reverse = true} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
//--- wide.mlir
func.func @main(%x: tensor<100x999999xf32>) -> tensor<100x999999xf32> {
  %0 = sinter.cumsum %x {axis = 0 : i64, reverse = false} : (tensor<100x999999xf32>) -> tensor<100x999999xf32>
  return %0 : tensor<100x999999xf32>
}
