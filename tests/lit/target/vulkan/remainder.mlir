// A step of the long division may take the divisor away once too often, which is
// mended, but not too seldom: where a device finds x / x a little below 1, which
// Vulkan lets it, the loop would not end.
// RUN: sinter inspect %s --stage asm --target vulkan:h200 > %t
// RUN: FileCheck %s < %t
// RUN: %spirv_val %t

// CHECK: %[[QUARTER:.*]] = spirv.Constant 2.500000e-01 : f32
// CHECK: spirv.mlir.loop
// CHECK: spirv.GroupNonUniformAny
// CHECK: spirv.FDiv
// CHECK: %[[MORE:.*]] = spirv.FAdd %{{.*}}, %[[QUARTER]]
// CHECK: spirv.GL.Floor %[[MORE]]
func.func @main(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = sinter.fmod %x, %y : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}
