// The lanes of an elementwise kernel are the threads of a warp: each has four
// neighbours, loads and stores them at once, and nothing is spilled or called.
// The machine has powers of two, which are as near as what is computed, but not
// the same everywhere.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_80 > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=NOT < %t
// RUN: sinter inspect %s --stage ptx --target cuda:sm_80 --numerics exact \
// RUN:   | FileCheck %s --check-prefix=EXACT

// CHECK: .target sm_80
// CHECK: .visible .entry map_
// CHECK: .reqntid 256, 1, 1
// CHECK: ld.global.v4.b32
// CHECK: ld.global.v4.b32
// CHECK: fma.rn.f32
// CHECK: ex2.approx.f32
// EXACT-NOT: ex2
// EXACT: st.global.v4.b32
// CHECK: st.global.v4.b32
// NOT-NOT: .local
// NOT-NOT: call
// NOT-NOT: bar.warp.sync
func.func @main(%x: tensor<1000x300xf32>, %y: tensor<1000x300xf32>) -> tensor<1000x300xf32> {
  %0 = sinter.add %x, %y : (tensor<1000x300xf32>, tensor<1000x300xf32>) -> tensor<1000x300xf32>
  %1 = sinter.exp %0 : (tensor<1000x300xf32>) -> tensor<1000x300xf32>
  return %1 : tensor<1000x300xf32>
}
