// Users' kernels are compiled for their shapes and dtypes, and launched as they
// say, with the addresses of their operands.
// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: sinter inspect %t/good.mlir --stage ptx --target cuda:sm_80 > %t/good.ptx
// RUN: FileCheck %t/good.mlir < %t/good.ptx
// RUN: %ptxas -arch=sm_80 %t/good.ptx -o %t/out
// RUN: sinter inspect %t/good.mlir --stage ptx --target cuda:sm_90 \
// RUN:   | FileCheck %t/good.mlir --check-prefix=HOPPER
// RUN: not sinter inspect %t/good.mlir --stage asm 2>&1 \
// RUN:   | FileCheck %t/good.mlir --check-prefix=CPU
// RUN: not sinter inspect %t/wrong.mlir --stage ptx --target cuda:sm_80 2>&1 \
// RUN:   | FileCheck %t/wrong.mlir
// RUN: not sinter inspect %t/lost.mlir --stage ptx --target cuda:sm_80 2>&1 \
// RUN:   | FileCheck %t/lost.mlir

//--- good.mlir
// CHECK: .target sm_80
// CHECK: .entry [[NAME:opaque_[0-9a-f]+]](
// CHECK: .shared .align 4 .b8 {{.*}}[96]
// CHECK: // launch [[NAME]] 5 1 1 8 4 1 1024 4 0 1 0 2
// HOPPER: .target sm_90a
// CPU: error: {{.*}}custom_op{{.*}} is a kernel for GPUs, which target 'cpu' does not run
func.func @main(%x: tensor<4x8xf32>, %y: tensor<3xf16>) -> tensor<6x4xbf16> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (32)>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = sinter.custom_op %x, %y, %0 {glsl = "", spirv = "", source = "extern \"C\" __global__ void f(const IN0_TYPE *x, const __half *y, const float *z, OUT_TYPE *out) { __shared__ float part[OUT_SIZE]; extern __shared__ int given[]; part[threadIdx.x] = x[IN0_DIM1] + float(y[IN1_RANK]); __syncthreads(); out[OUT_DIM0] = __float2bfloat16(part[threadIdx.y] + z[0] + given[1]); }", function = "f", extents = array<i64: 4, 8, 3, 32>, grid = array<i64: 5, 1, 1>, block = array<i64: 8, 4, 1>, shared_bytes = 1024, dtype = bf16, shape = array<i64: 6, 4>} : (tensor<4x8xf32>, tensor<3xf16>, tensor<32xf32>) -> tensor<6x4xbf16>
  return %1 : tensor<6x4xbf16>
}
//--- wrong.mlir
// CHECK: error: {{.*}}custom_op{{.*}} 'f': f(2): error: identifier "missing" is undefined
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "extern \"C\" __global__ void f(const float *x, float *y) {\0A  y[0] = missing; }", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
//--- lost.mlir
// CHECK: error: {{.*}}custom_op{{.*}} the source has no function 'extern "C" __global__ void f'
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "__global__ void f(const float *x, float *y) {\0A  y[0] = x[0]; }", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
