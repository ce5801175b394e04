// The lanes of an elementwise kernel are the threads of a subgroup: each loads
// and stores four neighbours at once. Everything is reached by addresses, of
// which one is pushed; products and sums round by themselves.
// RUN: sinter inspect %s --stage asm --target vulkan:lavapipe > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=NOT < %t
// RUN: %spirv_val %t
// RUN: sinter inspect %s --stage asm --target vulkan:h200 > %t.h200
// RUN: FileCheck %s --check-prefix=H200 < %t.h200
// RUN: %spirv_val %t.h200
// RUN: sinter inspect %s --stage asm \
// RUN:   --target vulkan:subgroup32+shared32+i64+denormal32 \
// RUN:   | FileCheck %s --check-prefix=DENORM

// CHECK: spirv.module PhysicalStorageBuffer64 GLSL450
// CHECK-SAME: PhysicalStorageBufferAddresses, Int64, GroupNonUniform
// CHECK: @arguments : !spirv.ptr<!spirv.struct<(i64 [0]), Block>, PushConstant>
// CHECK: spirv.Load "PhysicalStorageBuffer" {{.*}} ["Aligned", 16] : vector<4xf32>
// CHECK: spirv.FAdd {{.*}} {no_contraction} : f32
// CHECK: spirv.Store "PhysicalStorageBuffer" {{.*}} ["Aligned", 16] : vector<4xf32>
// CHECK: "LocalSize", 128, 1, 1
// CHECK: "SignedZeroInfNanPreserve", 32
// A driver that rounds Fma once and knows Exp2 well is given those.
// H200: spirv.GL.Fma {{.*}} {no_contraction} : f32
// H200: spirv.GL.Exp2
// H200-NOT: DenormPreserve
// DENORM: "DenormPreserve", 32
// NOT-NOT: spirv.CL.
// NOT-NOT: binding
// NOT-NOT: ControlBarrier
// NOT-NOT: GL.Exp
func.func @main(%x: tensor<1000x300xf32>, %y: tensor<1000x300xf32>) -> tensor<1000x300xf32> {
  %0 = sinter.add %x, %y : (tensor<1000x300xf32>, tensor<1000x300xf32>) -> tensor<1000x300xf32>
  %1 = sinter.exp %0 : (tensor<1000x300xf32>) -> tensor<1000x300xf32>
  return %1 : tensor<1000x300xf32>
}
