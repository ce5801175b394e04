/// TensorBoard: a training's numbers in the files that TensorBoard reads.
#pragma once

#include <sinter/train/Events.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sinter::train {

/// An event file as TensorFlow writes it: TFRecords with masked CRC-32C, of
/// `Event` messages (tensorflow/core/util/event.proto). For loops of one's own:
///
///     sn::train::EventFile file("runs/first");
///     file.add_scalar("loss", 0.5, step);
///
/// A step lies between 0 and 2^63-1. Errors are of kind `io`.
class EventFile {
public:
  /// A setting, for TensorBoard's table of runs.
  using Setting = std::variant<double, bool, std::string>;

  /// A new file in `folder`, which is made.
  explicit EventFile(const std::string &folder);
  EventFile(EventFile &&) noexcept;
  EventFile &operator=(EventFile &&) noexcept;
  ~EventFile();

  const std::string &path() const;

  /// TensorBoard keeps values as f32.
  void add_scalar(std::string_view tag, double value, int64_t step,
                  double time = wall_time());
  /// Markdown.
  void add_text(std::string_view tag, std::string_view text, int64_t step,
                double time = wall_time());
  void add_histogram(std::string_view tag, const Histogram &histogram,
                     int64_t step, double time = wall_time());
  /// Once, before the other values.
  void add_settings(std::span<const std::pair<std::string, Setting>> settings,
                    double time = wall_time());
  /// What was added is in the file.
  void flush();

private:
  friend class TensorBoard;
  struct State;
  explicit EventFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Writes `tensorboard/train` and `tensorboard/valid` below `RunBegin::folder`,
/// and nothing where that is empty. Tags are `step/NAME` by the step over the
/// whole run, `epoch/NAME` by the epoch, `histogram/NAME`; config, model,
/// devices, hardware and fusion are texts, and the config's values settings.
///
/// A run that begins anew removes event files of an earlier one in these two
/// folders; one that goes on cuts and continues them. Belongs into a
/// `Background`.
class TensorBoard final : public Listener {
public:
  explicit TensorBoard(std::string folder = "tensorboard");
  ~TensorBoard() override;

  void on(const Event &event) override;
  void flush() override;
  void tick() override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sinter::train
