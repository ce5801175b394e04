// Reductions of a few elements are a thread's: nothing goes between threads.
// Rows of a few bytes lie in lines that the threads of a warp read together;
// longer ones are a warp's, unless other axes are neighbours in memory.
// RUN: split-file %s %t
// RUN: sinter inspect %t/rows.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=OWN
// RUN: sinter inspect %t/apart.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=OWN
// RUN: sinter inspect %t/long.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SHARED
// RUN: sinter inspect %t/few.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=SHARED
// RUN: sinter inspect %t/pool.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=POOL

// OWN: .visible .entry reduce_
// OWN-NOT: shfl.sync
// OWN: add.rn.f32
// OWN-NOT: shfl.sync

// SHARED: .visible .entry reduce_
// SHARED: shfl.sync

// The gradient of max pooling: positions are bytes, and what windows have is
// gathered in one kernel, without a frame around the image.
// POOL: .visible .entry reduce_
// POOL-NOT: shfl.sync
// POOL-NOT: ld.global{{.*}}b64
// POOL: st.global{{.*}}b8
// POOL: .visible .entry reduce_
// POOL-NOT: shfl.sync
// POOL-NOT: .visible
// POOL: ld.global{{.*}}b8
// POOL-NOT: .visible
//--- rows.mlir
func.func @main(%x: tensor<100000x9xf32>) -> tensor<100000xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<100000x9xf32>) -> tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

//--- apart.mlir
func.func @main(%x: tensor<30x32x5000xf32>) -> tensor<30x5000xf32> {
  %0 = sinter.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<30x32x5000xf32>) -> tensor<30x5000x32xf32>
  %1 = sinter.sum %0 {axes = array<i64: 2>, keepdims = false} : (tensor<30x5000x32xf32>) -> tensor<30x5000xf32>
  return %1 : tensor<30x5000xf32>
}

//--- long.mlir
func.func @main(%x: tensor<100000x32xf32>) -> tensor<100000xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<100000x32xf32>) -> tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

//--- few.mlir
func.func @main(%x: tensor<100x9xf32>) -> tensor<100xf32> {
  %0 = sinter.sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<100x9xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

//--- pool.mlir
func.func @main(%x: tensor<8x56x56x64xbf16>, %g: tensor<8x28x28x64xbf16>) -> tensor<8x56x56x64xbf16> {
  %p = sinter.pad %x {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, shape = affine_map<() -> (8, 58, 58, 64)>, interior = array<i64: 0, 0, 0, 0>, value = 0xFFF0000000000000 : f64} : (tensor<8x56x56x64xbf16>) -> tensor<8x58x58x64xbf16>
  %w = sinter.window %p {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>} : (tensor<8x58x58x64xbf16>) -> tensor<8x28x28x64x3x3xbf16>
  %f = sinter.reshape %w {shape = affine_map<() -> (8, 28, 28, 64, 9)>} : (tensor<8x28x28x64x3x3xbf16>) -> tensor<8x28x28x64x9xbf16>
  %a = sinter.argmax %f {axis = 4 : i64, keepdims = true} : (tensor<8x28x28x64x9xbf16>) -> tensor<8x28x28x64x1xi64>
  %b = sinter.broadcast %a {shape = affine_map<() -> (8, 28, 28, 64, 9)>} : (tensor<8x28x28x64x1xi64>) -> tensor<8x28x28x64x9xi64>
  %i = sinter.iota {axis = 4 : i64, dtype = i64, shape = affine_map<() -> (8, 28, 28, 64, 9)>} : () -> tensor<8x28x28x64x9xi64>
  %e = sinter.compare %i, %b {predicate = "eq"} : (tensor<8x28x28x64x9xi64>, tensor<8x28x28x64x9xi64>) -> tensor<8x28x28x64x9xi1>
  %gc = sinter.reshape %g {shape = affine_map<() -> (8, 28, 28, 64, 1)>} : (tensor<8x28x28x64xbf16>) -> tensor<8x28x28x64x1xbf16>
  %gb = sinter.broadcast %gc {shape = affine_map<() -> (8, 28, 28, 64, 9)>} : (tensor<8x28x28x64x1xbf16>) -> tensor<8x28x28x64x9xbf16>
  %z = sinter.full {shape = affine_map<() -> (8, 28, 28, 64, 9)>, value = 0.0 : f64, dtype = bf16} : () -> tensor<8x28x28x64x9xbf16>
  %s = sinter.where %e, %gb, %z : (tensor<8x28x28x64x9xi1>, tensor<8x28x28x64x9xbf16>, tensor<8x28x28x64x9xbf16>) -> tensor<8x28x28x64x9xbf16>
  %q = sinter.reshape %s {shape = affine_map<() -> (8, 28, 28, 64, 3, 3)>} : (tensor<8x28x28x64x9xbf16>) -> tensor<8x28x28x64x3x3xbf16>
  %u = sinter.unwindow %q {axes = array<i64: 1, 2>, dilations = array<i64: 1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>, shape = affine_map<() -> (8, 58, 58, 64)>} : (tensor<8x28x28x64x3x3xbf16>) -> tensor<8x58x58x64x3x3xbf16>
  %r = sinter.sum %u {axes = array<i64: 4, 5>, keepdims = false} : (tensor<8x58x58x64x3x3xbf16>) -> tensor<8x58x58x64xbf16>
  %y = sinter.slice %r {starts = array<i64: 0, 1, 1, 0>, limits = affine_map<() -> (8, 57, 57, 64)>, steps = array<i64: 1, 1, 1, 1>} : (tensor<8x58x58x64xbf16>) -> tensor<8x56x56x64xbf16>
  return %y : tensor<8x56x56x64xbf16>
}
