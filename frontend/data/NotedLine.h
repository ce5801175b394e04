/// NotedLine: at which line the function was given that threw.
#pragma once

#include <sinter/Arg.h>

#include <optional>

namespace sinter::detail {

/// What `noteLine` of this thread was told first since this was called last.
std::optional<SourceLine> takeNotedLine();

} // namespace sinter::detail
