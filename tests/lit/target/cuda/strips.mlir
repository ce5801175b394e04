// A transpose one of whose sides is short: all of it stands side by side in one
// of the tensors, so whole vectors are read and written on both sides.
// RUN: split-file %s %t
// RUN: sinter inspect %t/lines.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s
// RUN: sinter inspect %t/length.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s
// RUN: sinter compile %t/length.mlir --target cuda:sm_90 -o %t/length.sinter
// RUN: sinter inspect %t/length.sinter | FileCheck %s --check-prefix=CHUNKS

// CHECK-COUNT-8: ld.global.v2.b32
// CHECK: st.shared
// CHECK: ld.shared
// CHECK-COUNT-8: st.global.v2.b32
// CHECK-NOT: st.global

//--- lines.mlir
func.func @main(%x: tensor<64x8x26x26xf32>) -> tensor<64x26x26x8xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<64x8x26x26xf32>) -> tensor<64x26x26x8xf32>
  return %0 : tensor<64x26x26x8xf32>
}

// CHUNKS: phase {{.*}}: 64 chunks

//--- length.mlir
func.func @main(%x: tensor<64x8x8x8xf32>) -> tensor<64x8x8x8xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<64x8x8x8xf32>) -> tensor<64x8x8x8xf32>
  return %0 : tensor<64x8x8x8xf32>
}
