/// Asks for features and shapes of cooperative matrices.
#include "runtime/device/vulkan/VulkanMatrices.h"

#include <algorithm>
#include <vector>

using namespace sinter::runtime::vulkan;

static bool hasFeatures(const Loader &loader, PhysicalDevice physical) {
  Features features;
  Features12 features12;
  MatrixFeatures matrices;
  features.next = &features12;
  features12.next = &matrices.matrices;
  loader.features(physical, &features);
  return features12.float16 && features12.memoryModel &&
         features12.memoryModelOfDevice && matrices.matrices.matrices &&
         matrices.bfloat16.types && matrices.bfloat16.matrices;
}

bool sinter::runtime::vulkan::multipliesHalves(const Loader &loader,
                                               PhysicalDevice physical) {
  auto list = reinterpret_cast<Code (*)(PhysicalDevice, uint32_t *,
                                        CooperativeMatrixShape *)>(
      loader.extension(loader.instance,
                       "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  uint32_t count = 0;
  if (!hasFeatures(loader, physical) || !list ||
      list(physical, &count, nullptr) != success)
    return false;
  std::vector<CooperativeMatrixShape> all(count);
  if (list(physical, &count, all.data()) < success)
    return false;
  auto has = [&](uint32_t element) {
    return std::ranges::any_of(all, [&](const CooperativeMatrixShape &shape) {
      return shape.rows == 16 && shape.columns == 16 && shape.depth == 16 &&
             shape.left == element && shape.right == element &&
             shape.sum == componentFloat32 &&
             shape.result == componentFloat32 && shape.scope == scopeSubgroup;
    });
  };
  return has(componentFloat16) && has(componentBfloat16);
}
