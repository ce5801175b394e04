// Sixteen-bit floats are stored as they are and computed in f32: no device needs
// to know them. A byte is a byte.
// RUN: sinter inspect %s --stage asm --target vulkan:lavapipe > %t
// RUN: FileCheck %s < %t
// RUN: %spirv_val %t

// CHECK: requires #spirv.vce<v1.6, [
// CHECK-SAME: StorageBuffer16BitAccess
// CHECK-SAME: StorageBuffer8BitAccess
// CHECK-NOT: : f16
// CHECK-NOT: bf16
// CHECK: !spirv.rtarray<i16, stride=2>
// CHECK: !spirv.rtarray<i8, stride=1>
// CHECK: spirv.FMul {{.*}} : f32
func.func @main(%x: tensor<64xbf16>, %y: tensor<64xi1>) -> tensor<64xbf16> {
  %0 = sinter.mul %x, %x : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xbf16>
  %1 = sinter.where %y, %0, %x : (tensor<64xi1>, tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xbf16>
  return %1 : tensor<64xbf16>
}
