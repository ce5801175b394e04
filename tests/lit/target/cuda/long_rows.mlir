// Rows that no block's registers hold, of an odd length too, are a block's: its
// threads go along them for each reduction, and read what is near. In `exact`,
// whose sums take chunks in order, a row is a warp's.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/softmax.mlir --stage ptx --target cuda:sm_90 > %t/ptx
// RUN: FileCheck %s < %t/ptx
// RUN: %ptxas -arch=sm_90a -v %t/ptx -o %t/out 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REGISTERS
// RUN: sinter inspect %t/softmax.mlir --stage ptx --target cuda:sm_90 \
// RUN:   --numerics exact | FileCheck %s --check-prefix=EXACT
// RUN: sinter inspect %t/sums.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SUMS
// RUN: sinter inspect %t/variance.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=VARIANCE

// REGISTERS: 0 bytes spill stores, 0 bytes spill loads

// CHECK: .visible .entry rowwise_
// CHECK: .reqntid 512
// CHECK: max{{.*}}f32
// CHECK: shfl.sync.bfly.b32
// CHECK: bar{{.*}}sync
// CHECK: shfl.sync.bfly.b32
// CHECK: bar{{.*}}sync
// CHECK: st.global.b16
// CHECK-NOT: .visible .entry
// EXACT: .reqntid 256
//--- softmax.mlir
func.func @main(%x: tensor<1000x50257xbf16>) -> tensor<1000x50257xbf16> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<1000x50257xbf16>) -> tensor<1000x50257xbf16>
  return %0 : tensor<1000x50257xbf16>
}

// Chunks of rows are warps', whatever the count of rows, and whatever lies
// between the parts of a row; a second phase merges them in order.
// SUMS: .visible .entry [[K:reduce_[0-9a-f]+]](
// SUMS: .visible .entry [[K]]_phase1(
// SUMS-NOT: _phase2(
//--- sums.mlir
func.func @main(%x: tensor<64x256x56x56xf32>) -> tensor<256xf32> {
  %0 = sinter.sum %x {axes = array<i64: 0, 2, 3>, keepdims = false} : (tensor<64x256x56x56xf32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}

// A sum that needs the mean of the same row follows in two phases more.
// VARIANCE: .visible .entry [[K:[a-z]+_[0-9a-f]+]](
// VARIANCE: .visible .entry [[K]]_phase3(
// VARIANCE-NOT: _phase4(
//--- variance.mlir
func.func @main(%x: tensor<4x50257xf32>) -> tensor<4x1xf32> {
  %n = sinter.full {shape = affine_map<() -> (4, 1)>, value = 50257.0 : f64, dtype = f32} : () -> tensor<4x1xf32>
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x50257xf32>) -> tensor<4x1xf32>
  %m = sinter.div %0, %n : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %b = sinter.broadcast %m {shape = affine_map<() -> (4, 50257)>} : (tensor<4x1xf32>) -> tensor<4x50257xf32>
  %d = sinter.sub %x, %b : (tensor<4x50257xf32>, tensor<4x50257xf32>) -> tensor<4x50257xf32>
  %s = sinter.mul %d, %d : (tensor<4x50257xf32>, tensor<4x50257xf32>) -> tensor<4x50257xf32>
  %v = sinter.sum %s {axes = array<i64: 1>, keepdims = true} : (tensor<4x50257xf32>) -> tensor<4x1xf32>
  %w = sinter.div %v, %n : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %w : tensor<4x1xf32>
}
