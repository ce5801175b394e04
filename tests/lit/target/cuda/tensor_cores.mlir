// A warp multiplies bf16 in its tensor cores: operands in words of k, one load
// of 16 bytes for the words of a row or column, sums in registers to the end.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_80 > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=NOT < %t
// RUN: sinter inspect %s --stage ptx --target cuda:sm_80 --numerics exact \
// RUN:   | FileCheck %s --check-prefix=EXACT

// CHECK: .visible .entry contraction_
// CHECK: ld.global.v4.b32
// CHECK-COUNT-64: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
// CHECK: bar.warp.sync
// CHECK: st.global
// NOT-NOT: .local
// EXACT-NOT: mma.sync
func.func @main(%x: tensor<128x512xbf16>, %w: tensor<512x192xbf16>) -> tensor<128x192xbf16> {
  %0 = sinter.matmul %x, %w : (tensor<128x512xbf16>, tensor<512x192xbf16>) -> tensor<128x192xbf16>
  %1 = sinter.relu %0 : (tensor<128x192xbf16>) -> tensor<128x192xbf16>
  return %1 : tensor<128x192xbf16>
}
