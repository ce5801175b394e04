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

/// A kernel in CUDA C++.
struct CustomKernel {
  /// Compiled at run time by NVRTC (CUDA toolkit 12 or newer) for each set of
  /// shapes and dtypes. These macros say what they are, of input 0, 1, ...:
  ///
  ///     IN0_TYPE  IN0_RANK  IN0_DIM0, IN0_DIM1, ...  IN0_SIZE
  ///
  /// and OUT_... of the result. f16 is `__half`, bf16 `__nv_bfloat16`, whose
  /// headers are included; i8 is `signed char`, i64 `long long`.
  std::string source;
  /// Declared `extern "C" __global__ void`; takes a pointer for each input and
  /// one for the result. Tensors lie dense, the last axis innermost. It writes
  /// all of the result and nothing else, and gives the same for the same.
  std::string function;
  /// Called when a call is recorded. Looks at shapes and dtypes only.
  std::function<KernelLaunch(std::span<const Tensor> inputs)> launch;
  /// As custom_gradient takes it; without one, `backward` through the result
  /// is an error.
  CustomBackward gradient = {};
};

/// An op that is a kernel of the user's. It runs on CUDA devices: elsewhere
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
/// What NVRTC says of the source stands in the error of the first evaluation.
CustomFunction custom_op(CustomKernel kernel);

} // namespace sinter
