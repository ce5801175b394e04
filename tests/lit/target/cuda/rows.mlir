// A warp reduces a row: sums go between its threads by shuffles, and values
// that two passes need stand in the block's shared memory.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s

// CHECK: .visible .entry rowwise_
// CHECK: .shared .align
// CHECK: ld.global.v2.b32
// CHECK: shfl.sync.idx.b32
// CHECK: bar.warp.sync
// CHECK: st.shared.v2.b32
// CHECK: bar.warp.sync
// CHECK: shfl.sync.idx.b32
// CHECK: ld.shared.v
// CHECK: st.global.v
func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}
