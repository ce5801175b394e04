// RUN: sinter-opt %s --split-input-file --verify-diagnostics \
// RUN:   | sinter-opt --split-input-file | FileCheck %s

// CHECK-LABEL: @custom_op
func.func @custom_op(%x: tensor<4x8xf32>, %y: tensor<i64>) -> tensor<3xf16> {
  // CHECK: sinter.custom_op {{.*}}source = "a \22text\22"{{.*}}-> tensor<3xf16>
  %0 = sinter.custom_op %x, %y {glsl = "", spirv = "", source = "a \"text\"", function = "f", extents = array<i64: 4, 8>, grid = array<i64: 2, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f16, shape = array<i64: 3>} : (tensor<4x8xf32>, tensor<i64>) -> tensor<3xf16>
  return %0 : tensor<3xf16>
}

// A dim that is not known is guarded to be the extent.
// CHECK-LABEL: @symbolic
func.func @symbolic(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<3xf32> {
  // CHECK: sinter.custom_op
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 4>, grid = array<i64: 2, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error0(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{an extent is not the operand's dim}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 5>, grid = array<i64: 2, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error1(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{there are fewer extents than dims}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64>, grid = array<i64: 2, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error2(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{there are more extents than dims}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 4, 4>, grid = array<i64: 2, 1, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error3(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{no device takes a grid of {2, 0, 1}}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 4>, grid = array<i64: 2, 0, 1>, block = array<i64: 32, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error4(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{a block has at most 1024 threads}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 4>, grid = array<i64: 2, 1, 1>, block = array<i64: 64, 64, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error5(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{the function 'f()' is no name of C}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f()", extents = array<i64: 4>, grid = array<i64: 2, 1, 1>, block = array<i64: 64, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error6(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{there is no source}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "", function = "f", extents = array<i64: 4>, grid = array<i64: 2, 1, 1>, block = array<i64: 64, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error7(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{no device has -1 bytes of shared memory}}
  %0 = sinter.custom_op %x {glsl = "", spirv = "", source = "s", function = "f", extents = array<i64: 4>, grid = array<i64: 2, 1, 1>, block = array<i64: 64, 1, 1>, shared_bytes = -1, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @error8(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{both GLSL and SPIR-V are given}}
  %0 = sinter.custom_op %x {glsl = "g", spirv = "s", source = "", function = "f", extents = array<i64: 4>, grid = array<i64: 2, 1, 1>, block = array<i64: 64, 1, 1>, shared_bytes = 0, dtype = f32, shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
