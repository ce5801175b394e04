/// HtmlReport: a training as one page for a browser.
#pragma once

#include <sinter/train/Events.h>

#include <memory>
#include <string>

namespace sinter::train {

/// Writes `report.html` below `RunBegin::folder` (nothing where that is empty):
/// curves, values of each epoch, config, model, hardware, memory, fusion,
/// checkpoints, messages. It is one file without scripts, which loads nothing.
/// It is replaced as a whole after each epoch, at most once a second, and at
/// the end. A run that goes on begins with what is kept of `metrics.csv`.
///
/// Errors are of kind `io`. Belongs into a `Background`.
class HtmlReport final : public Listener {
public:
  explicit HtmlReport(std::string file = "report.html");
  ~HtmlReport() override;

  void on(const Event &event) override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sinter::train
