/// CustomOp: kernels of users.
#pragma once

#include <sinter/CustomGradient.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// What a kernel makes, and how it is launched for it.
struct KernelLaunch {
  DType dtype = DType::f32;        ///< of the result
  std::vector<int64_t> shape;      ///< of the result
  std::vector<int64_t> grid = {};  ///< blocks: x, y, z; what is missing is 1
  std::vector<int64_t> block = {}; ///< threads of a block, as the grid
  int64_t shared_bytes = 0;        ///< of dynamic shared memory
};

/// A kernel in CUDA C++ for CUDA devices, in GLSL or SPIR-V for Vulkan devices,
/// or for both.
struct CustomKernel {
  /// CUDA C++. Compiled at run time by NVRTC (CUDA toolkit 12 or newer) for
  /// each set of shapes and dtypes. These macros say what they are, of input 0,
  /// 1, ...:
  ///
  ///     IN0_TYPE  IN0_RANK  IN0_DIM0, IN0_DIM1, ...  IN0_SIZE
  ///
  /// and OUT_... of the result. f16 is `__half`, bf16 `__nv_bfloat16`, whose
  /// headers are included; i8 is `signed char`, i64 `long long`.
  std::string source = {};
  /// GLSL of a compute shader, without `#version`. Compiled at run time by
  /// glslangValidator (Debian's package glslang-tools) with the same macros and
  /// BLOCK_X, BLOCK_Y, BLOCK_Z, SHARED_BYTES of the launch. IN0, IN1, ... and
  /// OUT are the tensors, arrays without an end by device address:
  ///
  ///     layout(local_size_x = BLOCK_X) in;
  ///     void main() {
  ///       uint i = gl_GlobalInvocationID.x;
  ///       if (i < OUT_SIZE)
  ///         OUT[i] = 2 * IN0[i];
  ///     }
  ///
  /// f16 is `float16_t`, which converts but does not compute; bf16 is its bits,
  /// `uint16_t`; i8, u8, i16 and i64 are `int8_t` and so on, and bool is
  /// `uint8_t`. A feature that the device has not is an error.
  std::string glsl = {};
  /// The same kernel as an assembly of SPIR-V 1.6, for spirv-as (Debian's
  /// package spirv-tools); its entry point has the name `function`. The push
  /// constant is one address (i64) of a list of addresses, each input's and
  /// then the result's. The macros stand for numbers there, and IN0_TYPE for
  /// `OpTypeFloat 32`.
  std::string spirv = {};
  /// In CUDA C++ declared `extern "C" __global__ void`; takes a pointer for
  /// each input and one for the result. Tensors lie dense, the last axis
  /// innermost. It writes all of the result and nothing else, and gives the
  /// same for the same.
  std::string function;
  /// Called when a call is recorded. Looks at shapes and dtypes only.
  std::function<KernelLaunch(std::span<const Tensor> inputs)> launch;
  /// As custom_gradient takes it; without one, `backward` through the result
  /// is an error.
  CustomBackward gradient = {};
};

/// An op that is a kernel of the user's. On a device that it has no code for,
/// calling it is an error of kind `unsupported`. What is before and after it
/// fuses as always; the kernel itself reads and writes tensors in memory. A
/// program is made for each set of its inputs' dims.
///
///     auto twice = sn::custom_op({
///         .source = R"(
///           extern "C" __global__ void twice(const IN0_TYPE *x, OUT_TYPE *y) {
///             long long i = blockIdx.x * 256LL + threadIdx.x;
///             if (i < OUT_SIZE)
///               y[i] = 2 * x[i];
///           })",
///         .function = "twice",
///         .launch = [](std::span<const sn::Tensor> inputs) {
///           int64_t n = inputs[0].dim(0).value;
///           return sn::KernelLaunch{.dtype = inputs[0].dtype(),
///                                   .shape = {n},
///                                   .grid = {(n + 255) / 256},
///                                   .block = {256}};
///         },
///         .gradient = [](const sn::CustomContext &c) {
///           return std::vector{2 * c.gradient};
///         }});
///     sn::Tensor y = twice({x});
///
/// What the compiler of its language says of the source stands in the error of
/// the first evaluation.
CustomFunction custom_op(CustomKernel kernel);

} // namespace sinter
