/// DeviceGaps: what a device leaves out of the conformance suite, and why.
#pragma once

#include "sinter/runtime/DeviceId.h"

#include <string>
#include <string_view>

namespace sinter::conformance {

/// What a test needs of a device.
enum class Ability { memory, kernels, loss };

/// Why the device lacks the ability; empty when it has it.
std::string gap(DeviceId device, Ability ability);

} // namespace sinter::conformance
