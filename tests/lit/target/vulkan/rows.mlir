// Rows are reduced by shuffles of the subgroup, whose size is the profile's.
// RUN: sinter inspect %s --stage asm --target vulkan:lavapipe > %t
// RUN: FileCheck %s < %t
// RUN: %spirv_val %t
// RUN: sinter inspect %s --stage asm --target vulkan:subgroup64+shared32+i64 > %t.wide
// RUN: FileCheck %s --check-prefix=WIDE < %t.wide
// RUN: %spirv_val %t.wide

// CHECK: GroupNonUniformShuffle
// CHECK: spirv.GroupNonUniformShuffle <Subgroup>
// WIDE-COUNT-6: spirv.GroupNonUniformShuffle <Subgroup>
func.func @main(%x: tensor<100x1024xf32>) -> tensor<100x1024xf32> {
  %0 = sinter.softmax %x {axis = 1 : i64} : (tensor<100x1024xf32>) -> tensor<100x1024xf32>
  return %0 : tensor<100x1024xf32>
}
