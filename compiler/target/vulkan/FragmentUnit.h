/// FragmentUnit: products of f16 and bf16 as a workgroup's unit.
#pragma once

#include "compiler/target/BlockThreads.h"
#include "compiler/target/vulkan/VulkanProfile.h"

namespace sinter::compiler {

/// Tiles that subgroups sum in fragments (f32), by the device's cooperative
/// matrices or, where the profile says so, by loops. Operands are read element
/// by element: they may be computed. Which order sums of a fragment take is the
/// device's. `threads` outlives the unit.
std::unique_ptr<const BlockUnit> makeFragmentUnit(const VulkanProfile &profile,
                                                  const BlockThreads &threads);

} // namespace sinter::compiler
