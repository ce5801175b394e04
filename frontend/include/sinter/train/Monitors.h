/// Monitors: all that shows and records a training, at once.
#pragma once

#include <sinter/train/Dashboard.h>
#include <sinter/train/Events.h>
#include <sinter/train/HtmlReport.h>
#include <sinter/train/Logs.h>
#include <sinter/train/TensorBoard.h>

namespace sinter::train {

struct MonitorOptions {
  bool dashboard = true;
  bool experiment_log = true;
  bool metric_logs = true;
  bool csv = true;
  bool json_lines = true;
  bool tensorboard = true;
  bool html_report = true;
  Dashboard::Options terminal = {};
};

/// Adds what is asked for: the dashboard on one thread, all that writes files
/// on another. A step costs the training less than a microsecond.
void add_monitors(Listeners &listeners, const MonitorOptions &options = {});

} // namespace sinter::train
