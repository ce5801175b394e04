/// Events: what a training tells those who watch it, in one stream.
///
///     sn::train::Listeners listeners;
///     listeners.add(std::make_shared<sn::train::Dashboard>());
///     listeners.on(sn::train::RunBegin{.name = "mnist", .epochs = 10});
///
/// What an event points to (`std::span`) lives as long as the call; who needs
/// it later copies it. The order is
///
///     RunBegin (EpochBegin StepEnd* EpochEnd* ...)* RunEnd
///
/// with anything else in between. An EpochEnd comes once for each split.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sinter::train {

/// Seconds since 1970, by the system's clock: the `time` of an event.
double wall_time();

/// Of which data something was computed.
enum class Split : uint8_t { train, valid };

/// `train` or `valid`, as folders are called.
std::string_view to_string(Split split);

/// What a value tells, so that it is shown where it belongs.
enum class Role : uint8_t {
  metric,        ///< of the model: a loss, an accuracy
  learning_rate, ///< of the optimizer
  system,        ///< of the machine: items/s, load, temperature
};

/// `metric`, `learning_rate` or `system`.
std::string_view to_string(Role role);

/// Which of two values is the better one.
enum class Better : uint8_t { neither, lower, higher };

/// `neither`, `lower` or `higher`.
std::string_view to_string(Better better);

/// One number with what it means. Who emits events keeps a list of these and
/// changes `value` and `items`: listeners copy nothing else twice.
struct Value {
  std::string name = {}; ///< as people read it, `Loss`; unique in its event
  double value = 0;      ///< may be NaN or infinite
  std::string unit = {}; ///< `%`, `B`, `items/s`, or empty
  Better better = Better::neither;
  Role role = Role::metric;
  /// How many items it was taken over; 0 where that says nothing.
  uint64_t items = 0;
};

/// Where a run goes on that was ended before. Steps are counted over the whole
/// run. Files that listeners append to are cut behind these counts first, so
/// that what is done again is not there twice.
struct Resume {
  int64_t epoch = 0;       ///< epochs that are whole, and kept
  int64_t train_steps = 0; ///< steps that are kept
  int64_t valid_steps = 0;
};

/// A training begins, or goes on.
struct RunBegin {
  std::string name = {};
  std::string folder = {};  ///< the artifact folder; empty: nothing is written
  std::string config = {};  ///< JSON text, or empty
  std::string model = {};   ///< its summary, lines of text
  std::string devices = {}; ///< `cuda:0 (NVIDIA H100, 80 GB)`, a line for each
  std::string hardware =
      {};                  ///< of the machine: processor, cores, memory, system
  int64_t epochs = 0;      ///< of the whole run; 0: not known
  int64_t train_steps = 0; ///< of an epoch; 0: not known
  int64_t valid_steps = 0; ///< of an epoch; 0: none, or not known
  int64_t parameters = 0;  ///< numbers in the model; 0: not known
  std::optional<Resume> resume = {};
  double time = wall_time();
};

struct EpochBegin {
  int64_t epoch = 1;       ///< from 1
  int64_t train_steps = 0; ///< 0: not known
  int64_t valid_steps = 0;
  double time = wall_time();
};

/// A step is done. `values` has what was read at this step: nothing between two
/// readings, so that a step waits for no device.
struct StepEnd {
  Split split = Split::train;
  int64_t epoch = 1;
  int64_t step = 1;       ///< within the epoch and split, from 1
  int64_t steps = 0;      ///< of the epoch and split; 0: not known
  int64_t total_step = 1; ///< of this split over the whole run, from 1
  uint64_t items = 0;     ///< of this step
  std::span<const Value> values = {};
  double time = wall_time();
};

/// A split of an epoch is done: the values of all of it, in the units that
/// people read, such as per cent.
struct EpochEnd {
  Split split = Split::train;
  int64_t epoch = 1;
  int64_t steps = 0;      ///< that were done in it
  int64_t total_step = 0; ///< of this split over the whole run, so far
  uint64_t items = 0;
  double seconds = 0;
  std::span<const Value> values = {};
  double time = wall_time();
};

/// What a device has to give, and what is taken.
struct DeviceUse {
  std::string device = {}; ///< `cuda:0`
  uint64_t in_use = 0;     ///< bytes, as `sinter::Memory` has them
  uint64_t peak = 0;       ///< bytes
  uint64_t total = 0;      ///< bytes; 0: not known
  double load = -1;        ///< 0 to 1; negative: not known
  double temperature = 0;  ///< degrees Celsius; 0: not known
};

/// Beside logged steps, at most once a second: what the devices are doing.
struct DeviceReport {
  std::vector<DeviceUse> devices = {};
  double time = wall_time();
};

/// How the numbers of one tensor are spread: `counts[i]` of them are at most
/// `limits[i]` and more than the limit before; the last limit is at least
/// `maximum`. Numbers that are not finite are not counted.
struct Histogram {
  std::string name = {}; ///< `conv1.weight`
  int64_t total_step = 0;
  double minimum = 0, maximum = 0, sum = 0, sum_of_squares = 0;
  uint64_t count = 0;
  std::vector<double> limits = {};
  std::vector<double> counts = {};
  double time = wall_time();
};

/// The histogram of numbers, in `bins` of equal width (at least 1).
Histogram histogram_of(std::string name, int64_t total_step,
                       std::span<const float> numbers, int bins = 30);

/// A checkpoint is durable.
struct CheckpointWritten {
  std::string path = {};
  int64_t epoch = 0;
  int64_t train_steps = 0; ///< over the whole run
  uint64_t bytes = 0;
  std::string why = {}; ///< `last`, `best Accuracy`, ...
  double time = wall_time();
};

struct CheckpointRemoved {
  std::string path = {};
  double time = wall_time();
};

enum class Level : uint8_t { debug, info, warning, error };

/// `debug`, `info`, `warning` or `error`.
std::string_view to_string(Level level);

/// A line of the log.
struct Message {
  Level level = Level::info;
  std::string text = {};
  double time = wall_time();
};

/// The run was asked to end, and will at the border of a step. RunEnd follows.
struct Interrupted {
  std::string why = {}; ///< `SIGINT`, ...
  double time = wall_time();
};

enum class Status : uint8_t {
  finished,    ///< all epochs or steps
  stopped,     ///< early, by a rule
  interrupted, ///< by a person; can go on
  failed,      ///< by an error
};

/// `finished`, `stopped`, `interrupted` or `failed`.
std::string_view to_string(Status status);

/// Nothing follows.
struct RunEnd {
  Status status = Status::finished;
  std::string why = {}; ///< the rule or the error, or empty
  double seconds = 0;   ///< of this process
  std::vector<DeviceUse> devices = {};
  std::string fusion = {}; ///< what was compiled and fused, lines of text
  uint64_t programs = 0;   ///< that were compiled
  uint64_t cached = 0;     ///< that were found in the caches
  double compile_seconds = 0;
  double time = wall_time();
};

using Event = std::variant<RunBegin, EpochBegin, StepEnd, EpochEnd,
                           DeviceReport, Histogram, CheckpointWritten,
                           CheckpointRemoved, Message, Interrupted, RunEnd>;

/// Watches a training. All calls come from one thread at a time. Who emits
/// events holds a `Listeners`; what throws there is not called again, and the
/// training goes on.
class Listener {
public:
  Listener() = default;
  Listener(const Listener &) = delete;
  Listener &operator=(const Listener &) = delete;
  virtual ~Listener();

  /// Takes a microsecond, not more: a training waits for it. What takes longer
  /// belongs into a `Background`.
  virtual void on(const Event &event) = 0;
  /// What was told so far is where others see it, in files and on the screen,
  /// even if this process is killed next. A learner asks for it before it
  /// writes a checkpoint, so that a run that goes on from there finds the lines
  /// up to it.
  virtual void flush() {}
  /// Some time has passed without an event. Comes from a `Background` alone,
  /// about ten times a second.
  virtual void tick() {}
  /// What went wrong since this was asked last, a line each, where that could
  /// not be thrown.
  virtual std::vector<std::string> take_problems() { return {}; }
};

/// Several listeners as one. One that throws (a full disk, a closed terminal)
/// is told nothing more; the others are told what it threw, once, as a
/// `Message` of level `warning`. Where no other is left, the log is
/// (sinter/Log.h).
class Listeners final : public Listener {
public:
  /// A null pointer is an Error of kind `invalid_argument`.
  void add(std::shared_ptr<Listener> listener);
  bool empty() const { return list.empty(); }
  /// What listeners threw so far, a line each.
  const std::vector<std::string> &failures() const { return failed; }

  void on(const Event &event) override;
  void flush() override;
  void tick() override;

private:
  friend class Background;
  void each(void (*call)(Listener &, const Event *), const Event *event);
  void report();

  std::vector<std::shared_ptr<Listener>> list;
  std::vector<std::string> failed;
  size_t reported = 0;
};

/// Has listeners called on a thread of its own, in order: those that write and
/// draw. The thread lasts as long as the object.
///
/// At `RunEnd` and `flush` the caller waits until everything was told. Where
/// events come faster than they are told, and `limit` bytes of them wait, the
/// caller waits; with `may_skip`, steps are left out instead, for what is only
/// looked at, and `flush` does not wait.
class Background final : public Listener {
public:
  struct Options {
    size_t limit = size_t{64} << 20;
    bool may_skip = false;
  };

  Background() : Background(Options{}) {}
  explicit Background(Options options);
  explicit Background(std::shared_ptr<Listener> listener);
  ~Background() override;

  /// Before the first event alone. A null pointer is an Error of kind
  /// `invalid_argument`.
  void add(std::shared_ptr<Listener> listener);

  void on(const Event &event) override;
  void flush() override;
  std::vector<std::string> take_problems() override;

private:
  struct Queue;
  std::unique_ptr<Queue> queue;
};

} // namespace sinter::train
