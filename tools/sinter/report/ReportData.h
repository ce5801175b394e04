/// A program as JSON, for the page of `sinter report`.
#pragma once

#include "tools/sinter/Model.h"
#include "tools/sinter/report/Times.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sinter::cli {

/// Everything that reports show of a program, for these values of its symbols.
/// Where they do not fit, `problem` says why, and what depends on them is left
/// out. `stages` is JSON, too.
std::string programJson(const FileParts &parts,
                        std::span<const int64_t> symbols,
                        const std::optional<LaunchTimes> &times,
                        std::string_view stages);

} // namespace sinter::cli
