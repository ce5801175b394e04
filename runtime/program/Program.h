/// Program: a loaded, verified model file, ready to run on one device.
#pragma once

#include "runtime/device/Device.h"
#include "sinter/runtime/Graph.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// An input or output as the file declares it.
struct Port {
  std::string name;
  DType dtype = DType::f32;
  std::vector<uint32_t> dims; ///< indices into Program::exprs()
  graph::InputKind kind = graph::InputKind::data;
  uint32_t node = 0; ///< post-order number
};

/// One considered merge of the fusion stage.
struct Decision {
  bool accepted = false;
  std::string rule;
  int64_t bytes = 0; ///< memory traffic saved, or that would have been
  float estUs = 0;   ///< estimated microseconds saved
  std::vector<uint32_t> nodes; ///< post-order numbers of the ops concerned
  std::string detail;
};

/// A kernel launch of the program, as data for reports.
struct LaunchInfo {
  std::string kernel; ///< its name
  std::string kind;   ///< its skeleton
  std::vector<uint32_t> nodes;
};

/// Immutable and shareable between threads.
class Program {
public:
  virtual ~Program() = default;

  /// Verifies and loads. Trusts nothing: a wrong magic, version, size, digest,
  /// index or requirement is an error of kind `io` (or `unsupported` when only
  /// the target or its features do not fit) that says what is wrong. Of a file
  /// with several entry points it is the first one's program.
  static Result<std::shared_ptr<const Program>>
  load(std::span<const std::byte> file, Device &device);
  static Result<std::shared_ptr<const Program>>
  loadFile(const std::string &path, Device &device);

  virtual Device &device() const = 0;
  virtual std::span<const Port> inputs() const = 0;
  virtual std::span<const Port> outputs() const = 0;
  virtual std::span<const Expr> exprs() const = 0;
  virtual uint32_t numSymbols() const = 0;
  virtual std::span<const Decision> decisions() const = 0;
  virtual std::vector<LaunchInfo> launches() const = 0;
  /// `file:line` of a node from the debug section, or empty.
  virtual std::string_view siteOf(uint32_t node) const = 0;
  /// The portable graph as `sinter`-dialect text.
  virtual std::string_view graphText() const = 0;
  /// Of a file for several targets: which of its programs this is, and why it
  /// is not each of the others; empty for a file of one program.
  virtual std::string_view choice() const = 0;
  /// Bytes the program keeps mapped: for the LRU of the program cache.
  virtual size_t residentBytes() const = 0;
};

/// A value bound to an input.
struct Binding {
  /// Memory of `data` and `parameter` inputs; unused for scalars.
  BufferRef buffer;
  /// Bits of a `scalar` input.
  uint64_t scalarBits = 0;
  /// Concrete dims, checked against the port and its guards.
  std::vector<int64_t> dims;
  /// The caller gives the buffer up: its memory may become an output's.
  bool donate = false;
};

/// What one run did, by the executor's own counters.
struct RunCounters {
  uint64_t launches = 0;
  uint64_t bytesRead = 0;
  uint64_t bytesWritten = 0;
  uint64_t arenaBytes = 0;
  uint64_t donated = 0; ///< outputs that took over an input's memory
  /// Phases not run, because what they prepare was kept from an earlier run.
  uint64_t phasesSkipped = 0;
  uint64_t recordings = 0; ///< 1: it made graphs of its work
  uint64_t replays = 0;    ///< 1: it launched graphs that were there
  /// Time that the host waited for the device, to see an error in time.
  uint64_t waitNanoseconds = 0;
};

/// One output of a run.
struct Output {
  BufferRef buffer;
  std::vector<int64_t> dims;
};

/// Where an output goes.
struct Place {
  /// Memory of the program's device that no input and no other output has a
  /// part in; empty: the run takes some of the device's.
  BufferRef buffer = {};
  /// Dims that the output has to have; none: any.
  std::optional<std::span<const int64_t>> dims = std::nullopt;
};

/// Memory that a run has to reserve for one value.
struct MemoryNeed {
  uint64_t bytes = 0;
  uint32_t node = 0; ///< post-order number
};

/// More about a failed run, for those who know the nodes' lines.
struct RunFailure {
  static constexpr uint32_t noNode = ~0u;
  /// The op whose index was out of range, or, while steps are timed, whose
  /// kernel failed on the device.
  uint32_t node = noNode;
  /// When memory ran out: the largest outputs and temporaries of the program,
  /// in order, a few.
  std::vector<MemoryNeed> largest = {};
};

/// Binds, reserves all memory and queues the work; what reads an output waits
/// for it, and so does Device::synchronize. Where an index may be out of range,
/// it waits until all indices were looked at. On an error nothing that the
/// caller can see changed: no donated buffer was written. `failure`, if given,
/// is filled in. What fails on the device later, as a fault of a kernel, is an
/// error of the next call that waits.
///
/// `places` is empty, or one per output. After an error their contents are
/// undefined.
Result<std::vector<Output>> run(const Program &program,
                                std::span<const Binding> inputs,
                                RunCounters *counters = nullptr,
                                RunFailure *failure = nullptr,
                                std::span<const Place> places = {});

/// Peak bytes (inputs, outputs, temporaries) for these dims, without running.
Result<size_t> peakBytes(const Program &program,
                         std::span<const Binding> inputs);

/// What a run needs, if no input is donated: with memory to spare it may take
/// more (BoundPlan::make).
struct PeakMemory {
  uint64_t inputBytes = 0;
  uint64_t outputBytes = 0;
  uint64_t arenaBytes = 0; ///< of all temporaries
  uint64_t bytes() const { return inputBytes + outputBytes + arenaBytes; }

  /// A value that has memory while most of the arena is in use.
  struct Use {
    uint64_t bytes = 0;
    /// `input`, `output` or `temporary`, and which one.
    std::string_view role;
    uint32_t index = 0;
    uint32_t node = RunFailure::noNode; ///< post-order number
  };
  std::vector<Use> live; ///< the largest first
  uint32_t step = 0;     ///< the launch or copy in question
  /// Of each input and output.
  std::vector<uint64_t> inputSizes, outputSizes;
  std::vector<std::vector<int64_t>> outputDims;
};

/// The peak and what makes it, for these dims, without running. Bindings need
/// no buffers.
Result<PeakMemory> peakMemory(const Program &program,
                              std::span<const Binding> inputs);

} // namespace sinter::runtime
