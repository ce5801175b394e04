// What only far arguments of sin and cos need is a function that all places of
// a kernel call, on every target.
// RUN: sinter inspect %s --target cpu:x86-64-v4 --stage llvm \
// RUN:   | FileCheck %s --check-prefix=CPU
// RUN: sinter inspect %s --target cpu:x86-64-v4 --stage llvm \
// RUN:   | not grep "declare.*far"
// RUN: sinter inspect %s --target cuda:sm_90 --stage ptx \
// RUN:   | FileCheck %s --check-prefix=CUDA
// RUN: sinter inspect %s --target vulkan:lavapipe --stage asm > %t.spv
// RUN: FileCheck %s --check-prefix=VULKAN < %t.spv
// RUN: %spirv_val %t.spv

// CPU: define void @map_
// CPU: call {{.*}}@far_sin_f32_16
// CPU: call {{.*}}@far_cos_f32_16
// CPU: call {{.*}}@far_sin_f32_16
// CPU-DAG: define internal {{.*}}@far_sin_f32_16
// CPU-DAG: define internal {{.*}}@far_cos_f32_16
// CPU-DAG: define internal {{.*}}@far_sin_narrow_16
// CPU-DAG: define internal {{.*}}@far_cos_narrow_16

// CUDA-DAG: .func {{.*}} far_sin_f32
// CUDA-DAG: .func {{.*}} far_cos_f32
// CUDA-DAG: .func {{.*}} far_sin_narrow
// CUDA-DAG: .func {{.*}} far_cos_narrow
// CUDA: .entry map_

// VULKAN: spirv.func @map_
// VULKAN: spirv.FunctionCall @far_sin_
// VULKAN: spirv.func @far_sin_
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = sinter.sin %x : (tensor<1000xf32>) -> tensor<1000xf32>
  %1 = sinter.cos %0 : (tensor<1000xf32>) -> tensor<1000xf32>
  %2 = sinter.sin %1 : (tensor<1000xf32>) -> tensor<1000xf32>
  return %2 : tensor<1000xf32>
}
