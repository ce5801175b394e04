// Users' kernels are compiled for their shapes and dtypes, behind declarations
// of their operands, and say how they are launched.
// REQUIRES: glslang
// RUN: split-file %s %t
// RUN: sinter inspect %t/good.mlir --stage asm --target vulkan \
// RUN:   | FileCheck %t/good.mlir
// RUN: sinter compile %t/good.mlir --target vulkan -o %t/good.sinter
// RUN: not sinter inspect %t/wrong.mlir --stage asm --target vulkan 2>&1 \
// RUN:   | FileCheck %t/wrong.mlir
// RUN: not sinter inspect %t/double.mlir --stage asm --target vulkan 2>&1 \
// RUN:   | FileCheck %t/double.mlir
// RUN: not sinter inspect %t/cuda.mlir --stage asm --target vulkan 2>&1 \
// RUN:   | FileCheck %t/cuda.mlir

//--- good.mlir
// CHECK: #version 460
// CHECK: #extension GL_EXT_shader_16bit_storage : require
// CHECK: #define IN0_DIM1 8
// CHECK: #define IN1_SIZE 3
// CHECK: #define OUT_RANK 2
// CHECK: #define BLOCK_Y 4
// CHECK: #define IN1_TYPE float16_t
// CHECK: #define OUT_TYPE uint16_t
// CHECK: void main()
// CHECK: // launch opaque_[[#]]{{.*}} 5 1 1 8 4 1 1024 4 0 1 0 2
func.func @main(%x: tensor<4x8xf32>, %y: tensor<3xf16>) -> tensor<6x4xbf16> {
  %0 = sinter.reshape %x {shape = affine_map<() -> (32)>} : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = sinter.custom_op %x, %y, %0 {glsl = "layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y) in; void main() { OUT[0] = uint16_t(floatBitsToUint(IN0[1] + float(IN1[2]) + IN2[3]) >> 16); }", spirv = "", source = "", function = "f", extents = array<i64: 4, 8, 3, 32>, grid = array<i64: 5, 1, 1>, block = array<i64: 8, 4, 1>, shared_bytes = 1024, dtype = bf16, shape = array<i64: 6, 4>} : (tensor<4x8xf32>, tensor<3xf16>, tensor<32xf32>) -> tensor<6x4xbf16>
  return %1 : tensor<6x4xbf16>
}
//--- wrong.mlir
// CHECK: error: {{.*}}custom_op{{.*}} 'f': f:2: 'missing' : undeclared identifier
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = sinter.custom_op %x {glsl = "layout(local_size_x = 32) in; void main() {\0A OUT[0] = missing; }", spirv = "", source = "", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
//--- double.mlir
// CHECK: error: {{.*}}custom_op{{.*}} 'f': it needs Float64, which the device's profile lacks
func.func @main(%x: tensor<32xf32>) -> tensor<32xf64> {
  %0 = sinter.custom_op %x {glsl = "layout(local_size_x = 32) in; void main() { OUT[0] = IN0[0]; }", spirv = "", source = "", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f64, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf64>
  return %0 : tensor<32xf64>
}
//--- cuda.mlir
// CHECK: error: {{.*}}custom_op{{.*}} 'f' has no GLSL or SPIR-V
func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 32>, grid = array<i64: 1, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 32>} : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
