/// MissingTypes: types that not every device has.
#pragma once

#include "compiler/target/vulkan/VulkanProfile.h"

#include "mlir/IR/Types.h"

namespace sinter::compiler {

/// What a device has to have for elements of a type that it computes with; null
/// where the profile has it.
const char *missingFor(mlir::Type type, const VulkanProfile &profile);

} // namespace sinter::compiler
