/// All listeners, on two threads.
#include <sinter/train/Monitors.h>

namespace sinter::train {

void add_monitors(Listeners &listeners, const MonitorOptions &options) {
  auto files = std::make_shared<Background>();
  // The report of a run that goes on reads what the table keeps.
  if (options.csv)
    files->add(std::make_shared<CsvFile>());
  if (options.experiment_log)
    files->add(std::make_shared<ExperimentLog>());
  if (options.metric_logs)
    files->add(std::make_shared<MetricLogs>());
  if (options.json_lines)
    files->add(std::make_shared<JsonLines>());
  if (options.tensorboard)
    files->add(std::make_shared<TensorBoard>());
  if (options.html_report)
    files->add(std::make_shared<HtmlReport>());
  listeners.add(std::move(files));
  if (!options.dashboard)
    return;
  constexpr size_t few = size_t{1} << 20;
  auto terminal = std::make_shared<Background>(
      Background::Options{.limit = few, .may_skip = true});
  terminal->add(std::make_shared<Dashboard>(options.terminal));
  listeners.add(std::move(terminal));
}

} // namespace sinter::train
