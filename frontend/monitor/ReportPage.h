/// ReportPage: a training's state as HTML.
#pragma once

#include "frontend/monitor/Progress.h"

#include <string>
#include <vector>

namespace sinter::train {

/// A whole page; the same state gives the same bytes.
std::string reportPage(const Progress &progress,
                       const std::vector<CheckpointWritten> &checkpoints);

} // namespace sinter::train
