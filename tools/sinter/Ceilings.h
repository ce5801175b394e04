/// Ceilings: the most that a device does, measured now.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/program/ProfileText.h"
#include "tools/sinter/Arguments.h"

namespace sinter::cli {

/// What the process's pool of threads reaches together: of a copy larger than
/// the caches, both ways, and of f32 multiply-adds in registers. Of another
/// device, which the arguments of a command name, what its own kernels reach: a
/// negation of such a tensor, and products of bf16. Takes about a third of a
/// second; on another device longer, since those are compiled.
Result<runtime::Ceilings> measureCeilings(const runtime::Device &device,
                                          const Arguments &arguments);

} // namespace sinter::cli
