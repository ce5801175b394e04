/// Numbers of the device that count the steps which were taken.
#pragma once

#include "sinter/runtime/Cell.h"

#include <string>

namespace sinter::optim {

/// A number of the device that begins as `value`.
runtime::CellRef takenNumber(const std::string &name, double value,
                             DeviceId device);

} // namespace sinter::optim
