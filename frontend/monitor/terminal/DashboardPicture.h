/// DashboardPicture: the lines of a dashboard, of a state and a size.
#pragma once

#include "frontend/monitor/Progress.h"
#include "frontend/monitor/terminal/Screen.h"

#include <string>
#include <vector>

namespace sinter::train {

/// At most `rows - 1` lines, each narrower than the terminal.
std::vector<std::string> pictureOf(const Progress &progress, const Look &look);

/// Lines for where nothing can be drawn over, each with an end.
std::string beginLine(const Progress &progress);
std::string stepLine(const Progress &progress, const StepEnd &step);
std::string epochLine(const Progress &progress, const EpochEnd &epoch);
std::string endLine(const Progress &progress);

} // namespace sinter::train
