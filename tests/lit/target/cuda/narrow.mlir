// 16-bit floats are added and compared as such: what is rounded once from the
// exact sum, or not at all, needs no wider type.
// RUN: sinter inspect %s --stage ptx --target cuda:sm_90 | FileCheck %s
// RUN: sinter inspect %s --stage ptx --target cuda:sm_80 | FileCheck %s --check-prefix=OLD

// CHECK: .visible .entry
// CHECK-NOT: cvt.{{rn|f32}}
// CHECK: add.rn.bf16x2
// CHECK-NOT: cvt.{{rn|f32}}
// CHECK: max.NaN.bf16x2
// The NaN of all targets is the least of them.
// CHECK: min.s16x2
// OLD: fma.rn.bf16x2
// OLD: max.NaN.bf16x2
func.func @main(%x: tensor<1024x512xbf16>, %y: tensor<1024x512xbf16>) -> tensor<1024x512xbf16> {
  %0 = sinter.add %x, %y : (tensor<1024x512xbf16>, tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  %1 = sinter.relu %0 : (tensor<1024x512xbf16>) -> tensor<1024x512xbf16>
  return %1 : tensor<1024x512xbf16>
}
