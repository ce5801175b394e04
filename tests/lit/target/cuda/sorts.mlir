// Rows of a known length are put in order by many owners: runs in registers,
// then pairs of runs, until one is left. Of the first few of a row only those go
// on. Rows that are a run need one phase and no memory.
// RUN: split-file %s %t
// RUN: sinter inspect %t/long.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=LONG
// RUN: sinter inspect %t/top.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=LONG
// RUN: sinter inspect %t/short.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SHORT
// RUN: sinter inspect %t/scatter.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SCATTER

// LONG: .visible .entry sort_
// LONG: shfl.sync
// LONG: .visible .entry sort_{{.*}}_phase1
// LONG-NOT: shfl.sync
// LONG: .visible .entry sort_{{.*}}_phase8
// LONG: .visible .entry sort_{{.*}}_phase9
// LONG-NOT: .visible

// SHORT: .visible .entry sort_
// SHORT-NOT: .shared
// SHORT: shfl.sync
// SHORT-NOT: .visible

// Positions of rows are sorted: five merges, where each begins, then rows.
// SCATTER: .visible .entry gather_scatter_
// SCATTER: .visible .entry gather_scatter_{{.*}}_phase6
// SCATTER: .visible .entry gather_scatter_{{.*}}_phase7
// SCATTER-DAG: ld.global{{.*}}v2.b32
// SCATTER-DAG: st.global{{.*}}v{{2.b32|4.b16}}
// SCATTER-NOT: .visible
//--- long.mlir
func.func @main(%x: tensor<64x50257xf32>) -> tensor<64x50257xf32> {
  %0 = sinter.sort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (50257)>} : (tensor<64x50257xf32>) -> tensor<64x50257xf32>
  return %0 : tensor<64x50257xf32>
}
//--- top.mlir
func.func @main(%x: tensor<64x50257xf32>) -> tensor<64x50xi64> {
  %0 = sinter.argsort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (50)>} : (tensor<64x50257xf32>) -> tensor<64x50xi64>
  return %0 : tensor<64x50xi64>
}
//--- short.mlir
func.func @main(%x: tensor<4096x8xf32>) -> tensor<4096x2xi64> {
  %0 = sinter.argsort %x {axis = 1 : i64, descending = true, count = affine_map<() -> (2)>} : (tensor<4096x8xf32>) -> tensor<4096x2xi64>
  return %0 : tensor<4096x2xi64>
}
//--- scatter.mlir
func.func @main(%x: tensor<10241x1024xbf16>, %i: tensor<8192x1xi64>, %u: tensor<8192x1024xbf16>) -> tensor<10241x1024xbf16> {
  %0 = sinter.broadcast %i {shape = affine_map<() -> (8192, 1024)>} : (tensor<8192x1xi64>) -> tensor<8192x1024xi64>
  %1 = sinter.scatter_add %x, %0, %u {axis = 0 : i64} : (tensor<10241x1024xbf16>, tensor<8192x1024xi64>, tensor<8192x1024xbf16>) -> tensor<10241x1024xbf16>
  return %1 : tensor<10241x1024xbf16>
}
