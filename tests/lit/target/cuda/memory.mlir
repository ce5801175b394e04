// What a warp waits for, it waits for at once: the elements of a row are loaded
// before the first is looked at, also where each is computed with and kept in
// shared memory, which other threads wait for once.
// RUN: split-file %s %t
// RUN: sinter inspect %t/softmax.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=ROW
// RUN: sinter inspect %t/sum.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SUM
// RUN: sinter inspect %t/turn.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=TURN
// RUN: sinter inspect %t/map.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=MAP
// RUN: sinter inspect %t/doubles.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=DOUBLES

// ROW-COUNT-8: ld.global.v2.b32
// ROW: max.NaN.f32
// ROW-COUNT-8: ld.global.v2.b32
// ROW: bar.warp.sync
// ROW-COUNT-8: st.shared.v2.b32
// ROW-NEXT: bar.warp.sync

//--- softmax.mlir
func.func @main(%x: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  return %0 : tensor<256x1024xf32>
}

// Blocks of 64 rows are summed by a warp each, and merged in order by another
// kernel, whose blocks bring those of 8192 rows to their memory at once.
// SUM: .entry [[KERNEL:reduce_[0-9a-f]+]](
// SUM-COUNT-16: ld.global.v4.b32
// SUM: .entry [[KERNEL]]_phase1(
// SUM-COUNT-16: ld.global.b32
// SUM: bar.sync
// SUM-COUNT-16: ld.shared.b32
// SUM: add.rn.f32

//--- sum.mlir
func.func @main(%x: tensor<16384x4096xf32>) -> tensor<4096xf32> {
  %0 = sinter.sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<16384x4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// A square is read along one axis and written along the other.
// TURN: ld.global.v2.b32
// TURN-COUNT-64: st.shared
// TURN: bar.warp.sync
// TURN-NOT: bar.warp.sync
// TURN: ld.shared.b32
// TURN: add.rn.f32
// TURN: st.global.v2.b32

//--- turn.mlir
func.func @main(%x: tensor<512x1024xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : (tensor<512x1024xf32>) -> tensor<1024x512xf32>
  %1 = sinter.add %0, %y : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %1 : tensor<1024x512xf32>
}

// The machine computes with pairs of bf16, and reads eight at a time.
// MAP-COUNT-4: ld.global.v4.b32
// MAP: mul.rn.bf16x2
// MAP-COUNT-4: st.global.v4.b32

//--- map.mlir
func.func @main(%x: tensor<1048576xbf16>) -> tensor<1048576xbf16> {
  %0 = sinter.mul %x, %x : (tensor<1048576xbf16>, tensor<1048576xbf16>) -> tensor<1048576xbf16>
  return %0 : tensor<1048576xbf16>
}

// Words of 64 bits are stored whole: of halves ptxas 13.0 makes the first one an
// integer where the register is a float's.
// DOUBLES: rcp.rn.f64
// DOUBLES-NOT: st.shared.b32
// DOUBLES: st.shared.b64
// DOUBLES-NOT: ld.shared.b32
// DOUBLES: ld.shared.b64
//--- doubles.mlir
func.func @main(%x: tensor<4x20x20xf64>) -> tensor<4x20x20xf64> {
  %0 = sinter.softmax %x {axis = 0 : i64} : (tensor<4x20x20xf64>) -> tensor<4x20x20xf64>
  %1 = sinter.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<4x20x20xf64>) -> tensor<4x20x20xf64>
  return %1 : tensor<4x20x20xf64>
}
