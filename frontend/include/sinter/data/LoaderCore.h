/// LoaderCore: what a DataLoader does whatever its items and batches are.
#pragma once

#include <sinter/runtime/DeviceId.h>

#include <sinter/Error.h>
#include <sinter/data/Sampler.h>
#include <sinter/record/RecordTree.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sinter::data {

/// A place in the batches of all epochs: the next batch.
struct Cursor {
  int64_t epoch = 0;
  int64_t batch = 0;
  bool operator==(const Cursor &) const = default;
};

struct LoaderOptions {
  int64_t batch_size = 32;
  /// Threads that make batches before they are asked for; with 0 the caller
  /// makes them.
  int64_t workers = 0;
  int64_t prefetch = 2;   ///< batches that a worker may be ahead
  bool drop_last = false; ///< leaves out a last batch that is not full
  Sampler sampler = sequential_sampler();
  /// Of the random numbers that `get` and the batcher draw.
  uint64_t seed = 0;
  /// Workers go on with the next epoch while the loop is between two, and are
  /// not started again. They end when a loop is left early, when the cursor is
  /// moved, when something is thrown, and with the loader. The sampler is then
  /// called by one of them.
  bool keep_workers = false;
  /// Where tensors go to a device with memory of its own, batches are written
  /// to pinned memory and copied beside the work that is queued there, not
  /// behind it.
  bool device_prefetch = true;
};

/// How well loops were fed since the loader was made, or `reset_stats`.
struct LoaderStats {
  int64_t batches = 0; ///< that a loop was given
  double waited = 0;   ///< seconds in which a loop waited for a batch
  double stepped = 0;  ///< seconds in which it had one
  /// The part of its time that a loop waited: 0 when it was always fed.
  double stall() const {
    return waited + stepped > 0 ? waited / (waited + stepped) : 0;
  }
};

/// What `get` or the batcher threw, thrown where the loop asked for that batch:
/// with the item, the line of the `map` whose function it was, if it was one,
/// the same message and, as a std::nested_exception, the exception itself.
class LoaderError : public Error {
public:
  LoaderError(ErrorInfo info, Cursor cursor, std::optional<int64_t> item)
      : Error(std::move(info)), at(cursor), index(item) {}
  Cursor cursor() const { return at; }
  /// The item's index; none when the batcher threw.
  std::optional<int64_t> item() const { return index; }

private:
  Cursor at;
  std::optional<int64_t> index;
};

} // namespace sinter::data

namespace sinter::detail {

/// How far the making of one batch has come.
class BatchTask {
public:
  /// Before each item's `get`. False when nobody wants the batch any more.
  bool begin(int64_t item);
  /// Before the batcher.
  void beginBatcher() { item.reset(); }

private:
  friend class LoaderCore;
  std::function<bool()> stopped;
  std::optional<int64_t> item;
};

class BatchQueue;

/// Knows the order of the items and the place in it, and has batches made.
class LoaderCore {
public:
  /// Makes the batch of some items; null when the task was stopped.
  using Make = std::function<std::shared_ptr<void>(
      std::span<const int64_t> items, BatchTask &task)>;

  LoaderCore(int64_t items, data::LoaderOptions options, Make make,
             std::source_location where);
  ~LoaderCore();

  /// Batches of the epoch that the cursor is in.
  int64_t batches();
  /// Begins to make the batches from the cursor on, for one loop; of those
  /// before, none is in the making any more.
  void begin(std::source_location where);
  /// The next batch, after which the cursor stands; null at the end of the
  /// epoch, when the cursor moves to the next one. What was thrown in the
  /// making is thrown, and the cursor stays at that batch, which the next call
  /// makes again.
  std::shared_ptr<void> next();
  /// Ends a loop, which stops the making unless its epoch was complete and
  /// workers are kept.
  void leave();
  /// Stops the making.
  void end();

  data::Cursor cursor() const { return at; }
  void seek(data::Cursor cursor, std::source_location where);
  void save(const std::string &file, std::source_location where) const;
  void load(const std::string &file, std::source_location where);
  Record into_record(std::source_location where) const;
  void load_record(const Record &record, std::source_location where);

  const data::LoaderStats &stats() const { return fed; }
  void resetStats();

private:
  using Clock = std::chrono::steady_clock;
  /// One epoch's order of items.
  struct Order {
    int64_t epoch = -1;
    std::vector<int64_t> items;
  };
  using OrderRef = std::shared_ptr<const Order>;
  /// What workers and the loop share.
  struct Plan {
    std::mutex mutex;
    OrderRef known;                     ///< the one that was asked for last
    std::map<int64_t, OrderRef> begins; ///< epochs by the number they begin at
  };
  OrderRef order(int64_t epoch);
  void checkFingerprint(const std::string &found, const std::string &source,
                        std::source_location where) const;
  int64_t countBatches(int64_t items) const;
  bool keepsWorkers() const {
    return options.keep_workers && options.workers > 0;
  }
  void start(std::source_location where);
  void abandon();
  std::shared_ptr<void> take();
  std::shared_ptr<void> make(const Order &order, int64_t batch,
                             const std::function<bool()> &stopped) const;
  /// What the queue makes as its thing `number`: a batch, or null where an
  /// epoch ends and another one begins.
  std::shared_ptr<void> makeThing(int64_t number,
                                  const std::function<bool()> &stopped);
  std::pair<OrderRef, int64_t> placeOf(int64_t number);
  std::string fingerprint() const;

  int64_t size;
  data::LoaderOptions options;
  Make makeBatch;
  std::source_location line;
  data::Cursor at;
  std::unique_ptr<Plan> plan = std::make_unique<Plan>();
  DeviceId device;       ///< that the queue's tensors are made on
  bool isInLoop = false; ///< that has not come to its epoch's end
  data::LoaderStats fed;
  std::optional<Clock::time_point> given; ///< when the loop got its batch
  std::unique_ptr<BatchQueue> queue;
};

} // namespace sinter::detail
