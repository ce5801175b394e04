/// Optimizers by the names and attributes of golden cases.
#pragma once

#include "tests/goldens/Attrs.h"

#include <memory>
#include <string_view>

namespace sinter::goldens {

/// Null when there is none of that name.
std::unique_ptr<optim::Optimizer> makeOptimizer(std::string_view op,
                                                const Attrs &attrs);

} // namespace sinter::goldens
