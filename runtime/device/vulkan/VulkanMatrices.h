/// VulkanMatrices: whether a device's subgroups multiply matrices of halves.
#pragma once

#include "runtime/device/vulkan/Loader.h"

namespace sinter::runtime::vulkan {

/// The extensions that this needs, of a device that has all of them.
inline constexpr const char *matrixExtensions[] = {"VK_KHR_cooperative_matrix",
                                                   "VK_KHR_shader_bfloat16"};

/// What they add to a chain of features.
struct MatrixFeatures {
  CooperativeMatrixFeatures matrices;
  Bfloat16Features bfloat16;

  MatrixFeatures() { matrices.next = &bfloat16; }
  MatrixFeatures(const MatrixFeatures &) = delete;
  void ask() {
    matrices.matrices = 1;
    bfloat16.types = bfloat16.matrices = 1;
  }
};

/// Whether a device that has the extensions multiplies 16 x 16 x 16 of f16 and
/// of bf16 with sums in f32, and all that such kernels ask for besides.
bool multipliesHalves(const Loader &loader, PhysicalDevice physical);

} // namespace sinter::runtime::vulkan
