/// Recording: the work of a program's runs as graphs that its device repeats.
///
/// The first run of a plan launches step by step; the second makes graphs of
/// the same walk; later ones give nodes whose buffers moved their new addresses
/// and launch the graphs. New buffers for each run need no new graph. Symbols'
/// values are of the plan, so each set of them has graphs of its own.
#pragma once

#include "runtime/program/BoundPlan.h"
#include "runtime/program/WorkOrder.h"
#include "runtime/support/Fork.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// An error word that nobody set.
inline constexpr uint64_t noError = UINT64_MAX;

/// Takes the work of a run, in the order of its steps.
class WorkSink {
public:
  virtual ~WorkSink() = default;
  virtual Status launch(const LaunchArgs &args) = 0;
  virtual Status copy(const CopyArgs &args) = 0;
  /// Whether the work is queued now, and an error of it can be looked for.
  virtual bool isQueued() const { return false; }
};

/// Queues the work to a device.
class DirectSink final : public WorkSink {
public:
  explicit DirectSink(Device &device) : device(device) {}
  Status launch(const LaunchArgs &args) override { return device.launch(args); }
  Status copy(const CopyArgs &args) override {
    return device.move(args.to, args.from, args.bytes);
  }
  bool isQueued() const override { return true; }

private:
  Device &device;
};

/// A launch or copy with what its node got last.
struct RecordedWork {
  LaunchArgs launch; ///< its block is `block`, its buffers `buffers`
  CopyArgs copy;
  KernelBlock block{};
  std::vector<void *> buffers;
  WorkItem touched;
  uint32_t part = 0;
  uint32_t node = 0; ///< of the part's graph
};

/// The graphs of one plan. Not thread-safe.
class RecordedRun {
public:
  /// Makes graphs of at least one piece of work; the error word is at an
  /// address that stays.
  static Result<std::unique_ptr<RecordedRun>>
  make(Device &device, std::vector<RecordedWork> work, const void *errorWord);

  /// What another run does in its place. `fits` is false where it is not the
  /// same kernel and size; the graphs are of no more use then.
  Status setLaunch(size_t number, const LaunchArgs &args, bool &fits);
  Status setCopy(size_t number, const CopyArgs &args, bool &fits);
  size_t size() const { return work.size(); }

  /// Queues all parts. Behind one that may report, it waits for the error word
  /// and stops if it was set; the word, or `noError`. Adds the time that it
  /// waited.
  Result<uint64_t> launch(uint64_t &waitNanoseconds);

private:
  struct Part {
    std::unique_ptr<WorkGraph> graph;
    bool reports = false;
  };
  std::vector<RecordedWork> work;
  std::vector<Part> parts;
};

/// The work of a run as a list, and what each piece touches.
class Recorder final : public WorkSink {
public:
  /// Longer lists are not recorded.
  static constexpr size_t mostWork = 4096;

  /// `overwritten` is memory that the caller gave up.
  Recorder(const ProgramData &program, const BoundPlan &plan,
           std::vector<MemoryRange> overwritten)
      : program(program), plan(plan), overwritten(std::move(overwritten)) {}
  Status launch(const LaunchArgs &args) override;
  Status copy(const CopyArgs &args) override;

  bool isTooLong() const { return tooLong; }
  std::vector<RecordedWork> take() { return std::move(work); }

private:
  void add(RecordedWork piece);

  const ProgramData &program;
  const BoundPlan &plan;
  const std::vector<MemoryRange> overwritten;
  std::vector<RecordedWork> work;
  bool tooLong = false;
};

/// Gives a recorded run the addresses of another.
class Updater final : public WorkSink {
public:
  explicit Updater(RecordedRun &run) : run(run) {}
  Status launch(const LaunchArgs &args) override;
  Status copy(const CopyArgs &args) override;
  /// Whether the other run does the same.
  bool fits() const { return same && next == run.size(); }

private:
  RecordedRun &run;
  size_t next = 0;
  bool same = true;
};

/// The recorded runs of a program. Thread-safe.
class RecordedRuns {
public:
  RecordedRuns() = default;
  RecordedRuns(const RecordedRuns &) = delete;

  struct Entry {
    std::shared_ptr<const BoundPlan> plan;
    std::vector<uint32_t> granted; ///< inputs whose memory outputs took over
    std::unique_ptr<RecordedRun> run;
    /// Scalars and error word on the device, at an address that stays, and
    /// what was written there last.
    BufferRef words;
    std::vector<uint64_t> placed;
    bool isRefused = false; ///< it is not to be recorded
    bool isTaken = false;
    uint64_t lastUse = 0;
  };
  /// Lets one thread alone use an entry.
  class Lease {
  public:
    Lease() = default;
    Lease(RecordedRuns &owner, Entry &entry) : owner(&owner), entry(&entry) {}
    Lease(Lease &&other) noexcept
        : owner(other.owner), entry(std::exchange(other.entry, nullptr)) {}
    Lease &operator=(Lease other) noexcept {
      std::swap(owner, other.owner);
      std::swap(entry, other.entry);
      return *this;
    }
    ~Lease() {
      if (entry)
        owner->release(*entry);
    }
    explicit operator bool() const { return entry != nullptr; }
    Entry *operator->() const { return entry; }

  private:
    RecordedRuns *owner = nullptr;
    Entry *entry = nullptr;
  };

  /// The entry of a plan that ran before with the same grants; none at the
  /// first time, and while another thread has it.
  Lease take(const std::shared_ptr<const BoundPlan> &plan,
             std::span<const uint32_t> granted);

private:
  /// The least recently used go when there are more.
  static constexpr size_t mostEntries = 8;
  void release(Entry &entry);

  ForkMutex mutex;
  std::vector<std::unique_ptr<Entry>> entries;
  uint64_t uses = 0;
};

} // namespace sinter::runtime
