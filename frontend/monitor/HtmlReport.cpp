/// When the page is written.
#include <sinter/train/HtmlReport.h>

#include "frontend/Raise.h"
#include "frontend/monitor/Kept.h"
#include "frontend/monitor/ReportPage.h"
#include "runtime/files/ReplaceFile.h"

#include <array>
#include <filesystem>

namespace sinter::train {

struct HtmlReport::State {
  std::string file;
  Progress progress;
  std::vector<CheckpointWritten> checkpoints;
  double written = 0; ///< when, by events' times

  void write();
};

void HtmlReport::State::write() {
  if (progress.run.folder.empty())
    return;
  written = progress.time;
  std::string path = below(progress.run.folder, file);
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                      code);
  std::string page = reportPage(progress, checkpoints);
  std::array part = {std::as_bytes(std::span(page))};
  detail::unwrap(runtime::replaceFile(path, part), {});
}

HtmlReport::HtmlReport(std::string file) : state(std::make_unique<State>()) {
  state->file = std::move(file);
}

HtmlReport::~HtmlReport() = default;

void HtmlReport::on(const Event &event) {
  constexpr double apart = 1;
  state->progress.on(event);
  if (const auto *written = std::get_if<CheckpointWritten>(&event))
    state->checkpoints.push_back(*written);
  else if (const auto *removed = std::get_if<CheckpointRemoved>(&event))
    std::erase_if(state->checkpoints, [&](const CheckpointWritten &each) {
      return each.path == removed->path;
    });
  bool isEnd = std::holds_alternative<RunEnd>(event);
  bool isEpoch = std::holds_alternative<EpochEnd>(event);
  if (isEnd || (isEpoch && state->progress.time - state->written >= apart))
    state->write();
}

} // namespace sinter::train
