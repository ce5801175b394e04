// 16-bit floats are added and compared as such: what is rounded once from the
// exact sum, or not at all, needs no wider type.
// RUN: split-file %s %t
// RUN: sinter inspect %t/relu.mlir --stage ptx --target cuda:sm_90 | FileCheck %s
// RUN: sinter inspect %t/relu.mlir --stage ptx --target cuda:sm_80 \
// RUN:   | FileCheck %s --check-prefix=OLD
// RUN: sinter inspect %t/pool.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %s --check-prefix=POOL

// CHECK: .visible .entry
// CHECK-NOT: cvt.{{rn|f32}}
// CHECK: add.rn.bf16x2
// CHECK-NOT: cvt.{{rn|f32}}
// CHECK: max.NaN.bf16x2
// The NaN of all targets is the least of them.
// CHECK: min.s16x2
// OLD: fma.rn.bf16x2
// OLD: max.NaN.bf16x2

//--- relu.mlir
func.func @main(%x: tensor<1024x512xbf16>, %y: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = sinter.add %x, %y : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  %1 = sinter.relu %0 : (tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %1 : tensor<1024x512xbf16>
}

// The largest under a window that has one element is that: its NaN is not the
// machine's, and may be any.
// POOL: .entry reduce_
// POOL-NOT: min.s16
// POOL: 31744
// POOL: selp.b16 {{.*}}32256

//--- pool.mlir
func.func @main(%x: tensor<6x1x5xf16>) -> tensor<6x1x5xf16> {
  %0 = sinter.max_pool %x {dilations = array<i64: 1>, high = array<i64: 1>, layout = "channels_last", low = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<6x1x5xf16>) -> tensor<6x1x5xf16>
  return %0 : tensor<6x1x5xf16>
}
