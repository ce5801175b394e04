// The first index out of range is told by an atomic minimum of 64 bits.
// RUN: sinter inspect %s --stage asm --target vulkan:lavapipe > %t
// RUN: FileCheck %s < %t
// RUN: %spirv_val %t

// CHECK: Int64Atomics
// CHECK: spirv.AtomicUMin <Device> <None>
func.func @main(%x: tensor<10x4xf32>, %i: tensor<7x4xi64>) -> tensor<7x4xf32> {
  %0 = sinter.gather %x, %i {axis = 0 : i64} : (tensor<10x4xf32>, tensor<7x4xi64>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}
